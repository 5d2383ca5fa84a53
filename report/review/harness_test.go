package review

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/report/review/decisions"
)

// world is a test server for a small data set and its files.
type world struct {
	t        testing.TB
	dir      string
	manifest string
	list     []suspects.Suspect
	server   *httptest.Server
	review   *Reviewer
	guard    *Guard
	finder   *fakeFinder
	steps    int // iterations of t-SNE; 0: the default
}

const testToken = "0123456789abcdef-test"

// labelOf returns the label of image i of a manifest returned by made.
func labelOf(i int) string { return "class " + string(rune('a'+i%4)) }

func pathOf(i int) string { return fmt.Sprintf("images/%02d/Photo %04d.png", i%4, i) }

// made returns a manifest of n images of four classes, the last tenth of them in the test split, and an audit of the
// other images in random order.
func made(n int, rng *rand.Rand) (manifest string, list []suspects.Suspect) {
	var text strings.Builder
	text.WriteString("path,label,split,photographer\n")
	for i := range n {
		split := "train"
		if i >= n*9/10 {
			split = "test"
		}
		fmt.Fprintf(&text, "%s,%s,%s,\"me, %d\"\n", pathOf(i), labelOf(i), split, i)
	}
	for rank, i := range rng.Perm(n * 9 / 10) {
		better := rng.Float64()
		e := suspects.Suspect{
			Rank: rank + 1, Path: pathOf(i), Given: labelOf(i), Suggested: labelOf(rng.IntN(4)),
			Score: float64(rank) / float64(n), SuggestedScore: &better,
			Flagged: rank < n/3, Outlier: rng.IntN(10) == 0,
			SupportGiven:     []suspects.Near{{Path: pathOf((i + 4) % n)}, {Path: pathOf((i + 8) % n)}},
			SupportSuggested: []suspects.Near{{Path: pathOf((i + 1) % n)}},
		}
		if rng.IntN(10) == 0 {
			e.Copies = []suspects.Copy{{Path: pathOf((i + 2) % n), Label: labelOf(i + 2)}}
		}
		if i%7 == 0 {
			e.CopyGroup, e.Problems = 1+i/14, []suspects.Problem{{Kind: "dark", Why: "as night"}}
		}
		if rng.IntN(2) == 0 {
			fit := rng.NormFloat64()
			e.Fit = &fit
		}
		list = append(list, e)
	}
	return text.String(), list
}

// newWorld returns a server for n images. Only the files of the first few images exist.
func newWorld(t testing.TB, n int) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), finder: &fakeFinder{}}
	w.manifest = filepath.Join(w.dir, "m.csv")
	text, list := made(n, rand.New(rand.NewPCG(1, 2)))
	w.list = list
	w.write("m.csv", text)
	for i := range min(n, 8) {
		w.write(pathOf(i), string(pngOf(40+i, 20)))
	}
	w.open(nil)
	t.Cleanup(w.close)
	return w
}

func (w *world) write(name, data string) {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(data), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func pngOf(width, height int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		img.Set(x, height/2, color.NRGBA{200, 30, 30, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// joined returns an audit with a list in memory.
func joined(d *datasets.Dataset, list []suspects.Suspect) (*Audit, error) {
	t, err := newTable(d, each(list), "suspects.csv", location.At("m.csv"))
	return &Audit{t}, err
}

// each returns a function that yields a list. The list reports flags only if at least one label is flagged.
func each(list []suspects.Suspect) func(func(suspects.Suspect) error) (bool, error) {
	return func(yield func(suspects.Suspect) error) (calls bool, err error) {
		for _, e := range list {
			calls = calls || e.Flagged
			if err := yield(e); err != nil {
				return calls, err
			}
		}
		return calls, nil
	}
}

// config returns the configuration of the server.
func (w *world) config() (Config, error) {
	d, err := datasets.ReadFile(w.manifest, datasets.ReadOptions{})
	if err != nil {
		return Config{}, err
	}
	audit, err := joined(d, w.list)
	if err != nil {
		return Config{}, err
	}
	store, err := decisions.Open(filepath.Join(w.dir, "m.decisions.db"))
	if err != nil {
		return Config{}, err
	}
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return Config{}, err
	}
	return Config{
		AuditFile: "suspects.csv", ManifestFile: location.At(w.manifest), Audit: audit, Manifest: d, Decisions: store,
		Finder: w.finder,
		Files:  root.FS(),
		Out:    filepath.Join(w.dir, "fixed.csv"),
	}, nil
}

func (w *world) open(change func(*Config)) {
	w.t.Helper()
	c, err := w.config()
	if err != nil {
		w.t.Fatal(err)
	}
	if change != nil {
		change(&c)
	}
	if w.review, err = New(c); err != nil {
		w.t.Fatal(err)
	}
	if w.steps > 0 {
		w.review.plane.steps = w.steps
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.guard = NewGuard(testToken, l.Addr().(*net.TCPAddr), nil)
	w.server = httptest.NewUnstartedServer(w.guard.Protect(w.review.Handler()))
	w.server.Listener.Close()
	w.server.Listener = l
	w.server.Start()
}

func (w *world) close() {
	w.server.Close()
	if err := w.review.Decisions.Close(); err != nil {
		w.t.Error(err)
	}
}

// ask sends a request with the token and decodes the JSON response into the variable that the last argument points to.
func (w *world) ask(method, path, body string, to any) (status int, text string) {
	w.t.Helper()
	req, err := http.NewRequest(method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := w.server.Client().Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if to != nil {
		if err := json.Unmarshal(data, to); err != nil {
			w.t.Fatalf("%s %s: %d %q: %v", method, path, answer.StatusCode, data, err)
		}
	}
	return answer.StatusCode, string(data)
}

// must is like ask, but fails the test unless the status is 200.
func (w *world) must(method, path, body string, to any) {
	w.t.Helper()
	if status, text := w.ask(method, path, body, to); status != http.StatusOK {
		w.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
}

// decide sends decisions as the page does, and fails the test if the status differs.
func (w *world) decide(tab string, status int, list ...map[string]any) (a struct {
	Applied, Conflicts []state
	Counts             map[string]int
	Precision          precision
	Hint               string
	Version            int64
	Error              string
}) {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{"decisions": list, "tab": tab})
	if err != nil {
		w.t.Fatal(err)
	}
	if got, text := w.ask("POST", "/api/decide", string(body), &a); got != status {
		w.t.Fatalf("decide %s: %d %s, expected %d", body, got, text, status)
	}
	return a
}

func on(id int, action, label string, version int) map[string]any {
	return map[string]any{"id": id, "action": action, "label": label, "version": version}
}

func readFile(name string) (string, error) {
	data, err := os.ReadFile(name)
	return string(data), err
}

// one returns a request to decide about one image.
func one(decision string) string { return `{"tab":"t","decisions":[{` + decision + `}]}` }
