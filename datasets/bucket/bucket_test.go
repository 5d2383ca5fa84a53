package bucket

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/oauth2"

	"winnow/datasets/location"
	"winnow/internal/regular"
	"winnow/internal/testing/s3test"
)

// quick returns settings for servers that answer at once or not at all.
func quick(env map[string]string) settings {
	return settings{patience: 5 * time.Second, attempts: 3, pause: time.Microsecond,
		getenv: func(name string) string { return env[name] },
		google: func(context.Context, func(string) string) (oauth2.TokenSource, error) { return nil, nil }}
}

// treeOf opens an address with its own client.
func treeOf(t *testing.T, address string, with settings) *Tree {
	t.Helper()
	at, err := location.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newClient(t.Context(), at, with)
	if err != nil {
		t.Fatal(err)
	}
	return &Tree{t.Context(), c, at.Key()}
}

// noise returns bytes that do not repeat.
func noise(n int) []byte {
	data := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(data) // never fails
	return data
}

// TestTree: the objects below an s3:// or gs:// address form a file tree that passes the standard library's fstest.
func TestTree(t *testing.T) {
	s := s3test.Serve(t, map[string][]byte{"photos/a/1.jpg": []byte("one"), "photos/a/2.jpg": []byte("two"),
		"photos/b.csv": noise(3 * blockSize), "photos/empty": nil, "photos/a/": nil, "other": []byte("x")})
	for _, address := range []string{"s3://birds/photos", "s3://birds/photos/?path_style=true", "gs://birds/photos"} {
		env := s.Env()
		env["STORAGE_EMULATOR_HOST"] = s.URL
		tree := treeOf(t, address, quick(env))
		if err := fstest.TestFS(tree, "a/1.jpg", "a/2.jpg", "b.csv", "empty"); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		var names []string
		for name, err := range tree.Names("") {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		if found := strings.Join(names, " "); found != "a/1.jpg a/2.jpg b.csv empty" {
			t.Errorf("%s: names %s", address, found)
		}
		for _, name := range []string{"none.jpg", "a/none", "b.csv/1.jpg"} {
			if _, err := fs.ReadFile(tree, name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s: %v", address, name, err)
			}
			if _, err := fs.Stat(tree, name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s: %v", address, name, err)
			}
		}
	}
}

// TestRequests: reading an image takes one request, whether or not it was listed before; reading part of a file
// fetches its blocks, several at once if they are consecutive.
func TestRequests(t *testing.T) {
	data := noise(40*blockSize + 17)
	s := s3test.Serve(t, map[string][]byte{"1.jpg": []byte("one"), "big.tar": data})
	tree := treeOf(t, "s3://birds", quick(s.Env()))
	if _, err := fs.ReadFile(tree, "1.jpg"); err != nil {
		t.Fatal(err)
	}
	if asked := s.Asked(); !slices.Equal(asked, []string{"GET 1.jpg"}) {
		t.Errorf("one image: %q", asked)
	}
	if _, err := tree.ReadDir("."); err != nil {
		t.Fatal(err)
	}
	s.Set(nil)
	f, err := tree.Open("big.tar")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := f.(io.ReaderAt)
	read := func(from, n int) {
		t.Helper()
		p := make([]byte, n)
		if _, err := at.ReadAt(p, int64(from)); err != nil || !bytes.Equal(p, data[from:from+n]) {
			t.Errorf("%d bytes from %d: %v", n, from, err)
		}
	}
	read(5, 10)
	read(20, blockSize-20)
	if asked := s.Asked(); !slices.Equal(asked, []string{fmt.Sprintf("GET big.tar bytes=0-%d", blockSize-1)}) {
		t.Errorf("within a block: %q", asked)
	}
	s.Set(nil)
	for from := 0; from+1000 <= len(data); from += 1000 {
		read(from, 1000)
	}
	if asked := s.Asked(); len(asked) > 6 { // 2+4+8+16+10 blocks
		t.Errorf("in order: %d requests, expected at most 6: %q", len(asked), asked)
	}
	if n, err := at.ReadAt(make([]byte, 20), int64(len(data)-10)); n != 10 || err != io.EOF {
		t.Errorf("over the end: %d, %v", n, err)
	}
	var wrong atomic.Int32
	var readers sync.WaitGroup
	fresh := treeOf(t, "s3://birds", quick(s.Env()))
	for k := range 8 {
		readers.Go(func() {
			f, err := fresh.Open("big.tar")
			if err != nil {
				wrong.Add(1)
				return
			}
			defer f.Close()
			rng := rand.New(rand.NewPCG(uint64(k), 1))
			p := make([]byte, 2*blockSize)
			for range 50 {
				from := rng.IntN(len(data) - len(p))
				if _, err := f.(io.ReaderAt).ReadAt(p, int64(from)); err != nil ||
					!bytes.Equal(p, data[from:from+len(p)]) {
					wrong.Add(1)
				}
			}
		})
	}
	readers.Wait()
	if wrong.Load() > 0 {
		t.Errorf("%d wrong reads among several readers", wrong.Load())
	}
}

// TestBroken: Read and ReadAt resume a broken answer where it broke. An answer that breaks every time is an outage,
// as are refusals and silence. Each error is one line that names the object.
func TestBroken(t *testing.T) {
	data := noise(5*blockSize + 3)
	s := s3test.Serve(t, map[string][]byte{"big": data})
	short := func(times int) func(w http.ResponseWriter, r *http.Request) bool {
		var n atomic.Int32
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet || int(n.Add(1)) > times {
				return false
			}
			from, end := 0, len(data)-1
			if r.Header.Get("Range") != "" {
				if k, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &end); k < 1 {
					t.Error(err)
				}
				w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, end, len(data)))
			}
			w.Header().Set("ETag", r.Header.Get("If-Match"))
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			w.Header().Set("Content-Length", fmt.Sprint(end+1-from))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(data[from : from+(end+1-from)/2]) // and then breaks off
			return true
		}
	}
	status := func(code int, body string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	open := func() (fs.File, *Tree) {
		s.Set(nil)
		tree := treeOf(t, "s3://birds", quick(s.Env()))
		if _, err := tree.Stat("big"); err != nil {
			t.Fatal(err)
		}
		f, err := tree.Open("big")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f, tree
	}
	reads := map[string]func(f fs.File) ([]byte, error){
		"Read": func(f fs.File) ([]byte, error) { return io.ReadAll(f) },
		"ReadAt": func(f fs.File) ([]byte, error) {
			p := make([]byte, len(data))
			_, err := f.(io.ReaderAt).ReadAt(p, 0)
			return p, err
		},
	}
	for how, read := range reads {
		f, _ := open()
		s.Set(short(2))
		if found, err := read(f); err != nil || !bytes.Equal(found, data) {
			t.Errorf("%s of answers that break twice: %d bytes, %v", how, len(found), err)
		}
		f, _ = open()
		var n atomic.Int32
		s.Set(func(w http.ResponseWriter, _ *http.Request) bool {
			if n.Add(1) > 2 {
				return false
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		})
		if found, err := read(f); err != nil || !bytes.Equal(found, data) {
			t.Errorf("%s from a server that is busy twice: %d bytes, %v", how, len(found), err)
		}
		for what, c := range map[string]struct {
			spoil func(w http.ResponseWriter, r *http.Request) bool
			want  string
			file  bool // the error concerns only this file
		}{
			"broken": {short(1 << 20), "s3://birds/big: at byte", false},
			"busy":   {status(503, ""), "answered 503", false},
			"denied": {status(403, "<Error><Code>AccessDenied</Code></Error>"),
				"s3://birds/big: access denied (AccessDenied) with those of AWS_ACCESS_KEY_ID: expected " +
					"credentials that may read", false},
			"moved": {status(301, "<Error><Code>PermanentRedirect</Code><Region>eu-west-1</Region></Error>"),
				"s3://birds/big: the bucket is in eu-west-1, but the request went to us-east-1: set AWS_REGION", false},
			"signed": {status(400,
				"<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>"),
				"the bucket is in eu-west-1", false},
			"gone": {status(404, "<Error><Code>NoSuchKey</Code></Error>"), "s3://birds/big: file does not exist",
				true},
			"bucket": {status(404, "<Error><Code>NoSuchBucket</Code></Error>"),
				"s3://birds/big: found no such bucket at", false},
			"changed": {status(412, "<Error><Code>PreconditionFailed</Code></Error>"),
				"s3://birds/big: it changed while being read", true},
		} {
			f, _ := open()
			s.Set(c.spoil)
			_, err := read(f)
			outage, isOutage := errors.AsType[*regular.Outage](err)
			if err == nil || isOutage == c.file || !strings.Contains(err.Error(), c.want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, %s: %v (outage %v), expected …%s…", how, what, err, outage, c.want)
			}
		}
		// silence before the answer and within it
		for _, begun := range []bool{false, true} {
			impatient := quick(s.Env())
			impatient.patience, impatient.attempts = 20*time.Millisecond, 2
			s.Set(nil)
			tree := treeOf(t, "s3://birds", quick(s.Env()))
			if _, err := tree.Stat("big"); err != nil {
				t.Fatal(err)
			}
			silent := treeOf(t, "s3://birds", impatient)
			silent.c.rememberObject(tree.c.getKnownObject("big"))
			f, err := silent.Open("big")
			if err != nil {
				t.Fatal(err)
			}
			s.Set(func(w http.ResponseWriter, r *http.Request) bool {
				if begun {
					w.Header().Set("ETag", r.Header.Get("If-Match"))
					w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
					w.Header().Set("Content-Length", fmt.Sprint(len(data)))
					w.WriteHeader(http.StatusPartialContent)
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
				return true
			})
			_, err = read(f)
			f.Close()
			if _, ok := errors.AsType[*regular.Outage](err); !ok ||
				!strings.Contains(err.Error(), "was silent for 20ms") {
				t.Errorf("%s of a silent server, begun %v: %v", how, begun, err)
			}
		}
	}
}

// TestEnded: waiting for a server ends with the context, with the context's error.
func TestEnded(t *testing.T) {
	s := s3test.Serve(t, map[string][]byte{"big": noise(100)})
	tree := treeOf(t, "s3://birds", quick(s.Env()))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	tree.ctx = ctx
	s.Set(func(_ http.ResponseWriter, r *http.Request) bool {
		stop()
		<-r.Context().Done()
		return true
	})
	if _, err := tree.Open("big"); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: %v", err)
	}
	if _, err := tree.ReadDir("."); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadDir: %v", err)
	}
}

// TestGoogle: requests to Google's storage carry a Google token.
func TestGoogle(t *testing.T) {
	s := s3test.Serve(t, map[string][]byte{"1.jpg": []byte("one")})
	with := quick(nil)
	with.google = func(context.Context, func(string) string) (oauth2.TokenSource, error) {
		return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "ticket"}), nil
	}
	tree := treeOf(t, "gs://birds?endpoint="+s.URL, with)
	var seen atomic.Value
	s.Set(func(_ http.ResponseWriter, r *http.Request) bool {
		seen.Store(r.Header.Get("Authorization"))
		return false
	})
	if data, err := fs.ReadFile(tree, "1.jpg"); err != nil || string(data) != "one" || seen.Load() != "Bearer ticket" {
		t.Errorf("%q, %v, with %q", data, err, seen.Load())
	}
	tree = treeOf(t, "gs://birds?anonymous=true&endpoint="+s.URL, with)
	if _, err := fs.ReadFile(tree, "1.jpg"); err != nil || seen.Load() != "" {
		t.Errorf("%v, with %q", err, seen.Load())
	}
}

// TestGoogleCredentials: tokens come from the named file, from gcloud's file, or from the machine.
func TestGoogleCredentials(t *testing.T) {
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := "of a machine"
		if r.Method == http.MethodPost {
			token = "of " + r.FormValue("grant_type") + r.FormValue("refresh_token")
		} else if r.Header.Get("Metadata-Flavor") != "Google" || r.URL.Path != machinePath {
			w.WriteHeader(http.StatusForbidden)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token": %q, "expires_in": 3600, "token_type": "Bearer"}`, token)
	}))
	defer issuer.Close()
	key, err := rsa.GenerateKey(crand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	for what, c := range map[string]struct{ file, want string }{
		"an account": {
			fmt.Sprintf(`{"type": "service_account", "client_email": "a@b", "private_key": %q, "token_uri": %q}`,
				private, issuer.URL), "of urn:ietf:params:oauth:grant-type:jwt-bearer"},
		"a person": {fmt.Sprintf(`{"type": "authorized_user", "refresh_token": "!", "token_uri": %q}`, issuer.URL),
			"of refresh_token!"},
		"a machine":  {"", "of a machine"},
		"no machine": {"", ""},
		"others": {`{"type": "external_account"}`,
			`found type "external_account", expected service_account or authorized_user`},
	} {
		env := map[string]string{"HOME": t.TempDir(), "GCE_METADATA_HOST": strings.TrimPrefix(issuer.URL, "http://")}
		if what == "no machine" {
			env["GCE_METADATA_HOST"] += "/nowhere"
		}
		if c.file != "" {
			env["GOOGLE_APPLICATION_CREDENTIALS"] = filepath.Join(t.TempDir(), "key.json")
			if err := os.WriteFile(env["GOOGLE_APPLICATION_CREDENTIALS"], []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found := ""
		tokens, err := googleTokens(t.Context(), func(name string) string { return env[name] })
		if err == nil && tokens != nil {
			var token *oauth2.Token
			if token, err = tokens.Token(); err == nil {
				found = token.AccessToken
			}
		}
		if err != nil {
			found = err.Error()
		}
		if !strings.HasSuffix(found, c.want) || c.want == "" && found != "" {
			t.Errorf("%s: found %q, expected %q", what, found, c.want)
		}
	}
}

func TestEndpoint(t *testing.T) {
	for _, endpoint := range []string{"ftp://host", "https://", "https://id:key@host", "https://host/path", "::"} {
		if host, _, err := endpointOf(endpoint); err == nil || strings.Contains(err.Error(), "key@") {
			t.Errorf("%s: %q, %v", endpoint, host, err)
		}
	}
	if host, secure, err := endpointOf("host:9000"); host != "host:9000" || !secure || err != nil {
		t.Errorf("a bare host: %q, %v, %v", host, secure, err)
	}
}

func TestKept(t *testing.T) {
	k := newKept[int, string](2)
	k.putKept(1, "a")
	k.putKept(2, "b")
	k.getKept(1)
	k.putKept(3, "c")
	if _, ok := k.getKept(2); ok {
		t.Error("what was used longest ago is there")
	}
	k.putKept(3, "d")
	if a, _ := k.getKept(1); a != "a" {
		t.Error("what was used last is gone")
	}
	if d, _ := k.getKept(3); d != "d" || k.order.Len() != 2 {
		t.Errorf("%q, %d values", d, k.order.Len())
	}
}
