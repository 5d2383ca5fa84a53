package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/internal/testing/winnowtest"
	"winnow/run/folder"
)

// reviewed is winnow studio in another process.
type reviewed struct {
	t      testing.TB
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	url    string // without the token
	token  string
	rest   *bufio.Reader
}

// newReviewed starts winnow studio and waits for its address. serves is false if the program ended instead.
func newReviewed(t testing.TB, args ...string) (r *reviewed, serves bool) {
	t.Helper()
	return newServed(t, append([]string{"studio"}, args...)...)
}

// newServed is newReviewed of any command that serves the page.
func newServed(t testing.TB, args ...string) (r *reviewed, serves bool) {
	t.Helper()
	r = &reviewed{t: t, cmd: exec.Command(os.Args[0], args...), stderr: &bytes.Buffer{}}
	r.cmd.Env = append(os.Environ(), winnowtest.Variable+"=1")
	r.cmd.Stderr = r.stderr
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
	r.rest = bufio.NewReader(out)
	line, err := r.rest.ReadString('\n')
	if err != nil {
		_ = r.cmd.Wait()
		return r, false
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil || u.Scheme != "http" || u.Path != "/" || u.Query().Get("token") == "" {
		t.Fatalf("printed %q", line)
	}
	r.token = u.Query().Get("token")
	r.url = "http://" + u.Host
	return r, true
}

// ask makes a request with the token.
func (r *reviewed) ask(method, path, kind string, body []byte, to any) (int, error) {
	req, err := http.NewRequest(method, r.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Content-Type", kind)
	a, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	if err == nil && to != nil {
		err = json.Unmarshal(data, to)
	}
	return a.StatusCode, err
}

func (r *reviewed) must(method, path, kind string, body []byte, to any) {
	r.t.Helper()
	if status, err := r.ask(method, path, kind, body, to); err != nil || status != 200 {
		r.t.Fatalf("%s %s: %d, %v\n%s", method, path, status, err, r.stderr)
	}
}

// end waits for the process to end and returns its exit code.
func (r *reviewed) end() int {
	_, _ = io.Copy(io.Discard, r.rest)
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

// suspectAlbum writes a manifest of n images, none of them readable, and an audit of them.
func suspectAlbum(t testing.TB, n int) (manifest, audit string) {
	t.Helper()
	dir := t.TempDir()
	manifest, audit = filepath.Join(dir, "m.csv"), filepath.Join(dir, "suspects.csv")
	text := "path,label\n"
	var list []suspects.Suspect
	for i := range n {
		path := fmt.Sprintf("%04d.png", i)
		text += path + ",cat\n"
		list = append(list, suspects.Suspect{Rank: i + 1, Path: path, Given: "cat", Suggested: "dog", Score: float64(i),
			Flagged: true})
	}
	write(t, manifest, text+"last.png,dog\n")
	write(t, filepath.Join(dir, "0000.png"), "no picture")
	var out bytes.Buffer
	if err := suspects.Write(&out, suspects.CSV, list); err != nil {
		t.Fatal(err)
	}
	write(t, audit, out.String())
	return manifest, audit
}

// TestReviewKilled kills a server while clients send decisions. After a restart, the server has every decision that it
// confirmed, and no decision that was never sent.
func TestReviewKilled(t *testing.T) {
	const n, streams = 600, 4
	const rounds = reviewKills
	manifest, audit := suspectAlbum(t, n)
	acknowledged, sent := map[int]bool{}, map[int]bool{}
	next := 0
	for round := range rounds {
		r, serves := newReviewed(t, "--manifest", manifest, "--audit", audit)
		if !serves {
			t.Fatal(r.stderr)
		}
		checkDecided(t, r, acknowledged, sent)
		var mutex sync.Mutex
		var wait sync.WaitGroup
		enough := make(chan struct{})
		count := 0
		for stream := range streams {
			wait.Go(func() {
				for {
					mutex.Lock()
					id := next
					next++
					if id < n {
						sent[id] = true
					}
					mutex.Unlock()
					if id >= n {
						return
					}
					body := fmt.Sprintf(`{"tab":"tab %d","decisions":[{"id":%d,"action":"drop","version":0}]}`, stream,
						id)
					status, err := r.ask("POST", "/api/decide", "application/json", []byte(body), nil)
					if err != nil {
						return // the server was killed
					}
					mutex.Lock()
					if status == 200 {
						acknowledged[id] = true
						if count++; count == 20+7*(round%4) {
							close(enough)
						}
					}
					mutex.Unlock()
				}
			})
		}
		<-enough
		if err := r.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		wait.Wait()
		r.end()
	}
	r, serves := newReviewed(t, "--manifest", manifest, "--audit", audit)
	if !serves {
		t.Fatal(r.stderr)
	}
	checkDecided(t, r, acknowledged, sent)
	if len(acknowledged) < 20*rounds {
		t.Errorf("%d decisions were confirmed", len(acknowledged))
	}
}

// decisions drops image 0 and relabels image 1.
func decisions(label string) []byte {
	return fmt.Appendf(nil, `{"tab":"t","decisions":[{"id":0,"action":"drop","version":0},
		{"id":1,"action":"relabel","label":%q,"version":0}]}`, label)
}

// checkDecided compares a server's decisions with those confirmed and those sent.
func checkDecided(t *testing.T, r *reviewed, acknowledged, sent map[int]bool) {
	t.Helper()
	found := map[int]bool{}
	for offset, total := 0, 1; offset < total; offset += 200 {
		var a struct {
			Total int
			Rows  []struct{ ID int }
		}
		r.must("GET", fmt.Sprintf("/api/rows?state=drop&limit=200&offset=%d", offset), "", nil, &a)
		total = a.Total
		for _, row := range a.Rows {
			found[row.ID] = true
		}
	}
	for id := range acknowledged {
		if !found[id] {
			t.Errorf("image %d: its confirmed decision is lost", id)
		}
	}
	for id := range found {
		if !sent[id] {
			t.Errorf("image %d: its decision was never sent", id)
		}
	}
}

// TestStudio opens a set with the list beside it, decides about an image that the list does not have, and ends cleanly.
// A list of other images is left out with a line that says so.
func TestStudio(t *testing.T) {
	manifest, audit := suspectAlbum(t, 5)
	r, serves := newServed(t, "studio", manifest, "--out", filepath.Join(filepath.Dir(manifest), "fixed.csv"))
	if !serves {
		t.Fatal(r.stderr)
	}
	var session struct {
		Total, Images int
		Home          string
		Missing       struct{ Audit, Vectors string }
	}
	r.must("GET", "/api/session", "", nil, &session)
	if session.Total != 5 || session.Images != 6 || session.Home != "suspects" || session.Missing.Audit != "" ||
		!strings.Contains(session.Missing.Vectors, "winnow audit "+manifest) {
		t.Errorf("got %+v", session)
	}
	last := []byte(`{"tab":"t","decisions":[{"id":5,"action":"drop","version":0}]}`)
	r.must("POST", "/api/decide", "application/json", last, nil)
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := r.end(); code != 0 || !strings.Contains(r.stderr.String(), "1 of 6 images decided: 0 kept, 1 dropped") ||
		!strings.Contains(r.stderr.String(), "fixed.csv: 5 rows") {
		t.Errorf("exit code %d, %s", code, r.stderr)
	}
	text := readFile(t, audit)
	write(t, audit, strings.Replace(text, "0003.png", "elsewhere.png", 1))
	r, serves = newServed(t, "studio", manifest)
	if !serves {
		t.Fatal(r.stderr)
	}
	r.must("GET", "/api/session", "", nil, &session)
	if session.Total != 0 || session.Images != 6 || session.Missing.Audit == "" {
		t.Errorf("got %+v", session)
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.end()
	if said := r.stderr.String(); !strings.Contains(said, "suspects.csv is not used: ") ||
		!strings.Contains(said, "elsewhere.png") {
		t.Errorf("said %s", said)
	}
	fails(t, 1, "nix", "studio", filepath.Join(filepath.Dir(manifest), "nix"))
}

// TestStudioTrains trains on the decisions from the page, one training at a time. A training that cannot start shows
// the reason that the command prints.
func TestStudioTrains(t *testing.T) {
	t.Setenv("WINNOW_MODELS", filepath.Join(t.TempDir(), "models.json"))
	t.Setenv("WINNOW_MODEL_DIRS", "")
	w := newWorld(t, 3, 0.2)
	for _, dir := range []string{"c00", filepath.Join("runs", "fixed")} { // the name of the first run is taken
		if err := os.MkdirAll(filepath.Join(w.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(w.dir, "c00", "00.jpg"), "no image")
	type answer struct {
		Job struct {
			State, Out string
			Lines      []string
			Result     struct {
				Images  int
				Rows    []folder.Row
				Verdict string
				Next    []string
			}
		}
	}
	start, stop := []byte(`{"start":"train"}`), []byte(`{"start":""}`)
	ended := func(r *reviewed) (a answer) {
		for a.Job.State = "running"; a.Job.State == "running"; time.Sleep(10 * time.Millisecond) {
			r.must("GET", "/api/job", "", nil, &a)
		}
		return a
	}
	const change, kind = "/api/job/change", "application/json"
	r, serves := newReviewed(t, w.manifest, "--features", w.store)
	if !serves {
		t.Fatal(r.stderr)
	}
	r.must("POST", "/api/decide", kind, decisions("class07"), nil)
	r.must("POST", change, kind, start, nil)
	if status, err := r.ask("POST", change, kind, start, nil); err != nil || status != 409 {
		t.Errorf("a second training: %d, %v", status, err)
	}
	r.must("POST", change, kind, stop, nil)
	if a := ended(r); a.Job.State != "stopped" {
		t.Errorf("after the stop: %+v", a)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, "runs", "fixed-2")); err != nil { // if the stopped one had made it
		t.Fatal(err)
	}
	for _, dir := range []string{"fixed-2", "fixed-3"} {
		r.must("POST", change, kind, start, nil)
		a := ended(r)
		names := ""
		for _, row := range a.Job.Result.Rows {
			names += row.Name + " "
			if p := row.PrecisionAt1; p.Mean < 0.1 || p.Low >= p.Mean || p.High <= p.Mean {
				t.Errorf("%s: %+v", row.Name, p)
			}
		}
		out := filepath.Join(w.dir, "runs", dir)
		if a.Job.State != "done" || names != "frozen whitened trained " || a.Job.Result.Images != 320 ||
			a.Job.Out != out || len(a.Job.Result.Next) != 4 || a.Job.Result.Next[0] != "winnow eval "+out {
			t.Errorf("got %+v", a)
		}
		facts, err := folder.ReadFacts(out)
		if err != nil || facts.Decisions == nil || facts.Decisions.Relabelled != 1 {
			t.Errorf("the run's decisions: %+v, %v", facts.Decisions, err)
		}
	}
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.end()
	if r, serves = newReviewed(t, w.manifest); !serves {
		t.Fatal(r.stderr)
	}
	r.must("POST", change, kind, start, nil)
	a := ended(r)
	if a.Job.State != "failed" || !strings.Contains(fmt.Sprint(a.Job.Lines), "no backbone is installed") {
		t.Errorf("without features: %+v", a)
	}
}

// TestReviewStudio goes from an audit over decisions and search by image to a training on the corrected manifest.
func TestReviewStudio(t *testing.T) {
	s := newStudio(t)
	audit, mended := filepath.Join(s.dir, "suspects.csv"), filepath.Join(s.dir, "fixed.csv")
	mustCall(t, "audit", "--manifest", s.manifest, "--features", s.store, "--out", audit)
	outside := filepath.Join(t.TempDir(), "secret.png")
	write(t, outside, "\x89PNG\r\n\x1a\nsecret")
	d, err := datasets.ReadFile(s.manifest, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(s.images, filepath.FromSlash(d.Samples[1].Path))
	if err := os.Remove(linked); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, linked); err != nil {
		t.Fatal(err)
	}
	r, serves := newReviewed(t, "--manifest", s.manifest, "--audit", audit, "--root", s.images, "--features", s.store,
		"--model", s.model, "--out", mended)
	if !serves {
		t.Fatal(r.stderr)
	}
	var session struct {
		Total    int
		Similar  bool
		NoUpload string `json:"no_upload"`
		Classes  []struct{ Name string }
	}
	r.must("GET", "/api/session", "", nil, &session)
	if session.Total == 0 || !session.Similar || session.NoUpload != "" {
		t.Errorf("got %+v", session)
	}
	file, err := os.ReadFile(filepath.Join(s.images, filepath.FromSlash(d.Samples[0].Path)))
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Rows []struct {
			Path       string
			Similarity float64
		}
	}
	r.must("POST", "/api/search?n=3", "image/png", file, &found)
	if len(found.Rows) != 3 || found.Rows[0].Similarity < 0.9999 {
		t.Errorf("an image of the store finds %+v, expected itself first", found)
	}
	r.must("GET", "/api/similar?key=0&n=3", "", nil, &found)
	for _, p := range found.Rows {
		if p.Path == d.Samples[0].Path {
			t.Errorf("an image finds itself: %+v", found)
		}
	}
	if status, err := r.ask("POST", "/api/search", "image/png", []byte("\x89PNG\r\n\x1a\nnot one"), nil); err != nil ||
		status != 400 {
		t.Errorf("a broken image: %d, %v", status, err)
	}
	for path, want := range map[string]int{"/thumb/0": 200, "/image/0": 200, "/thumb/1": 404, "/image/1": 404} {
		if status, err := r.ask("GET", path, "", nil, nil); err != nil || status != want {
			t.Errorf("%s: %d, %v, expected %d", path, status, err, want)
		}
	}
	var rows struct {
		Rows []struct {
			Path, Given string
		}
	}
	r.must("GET", "/api/rows?limit=2", "", nil, &rows)
	label := session.Classes[0].Name
	if rows.Rows[1].Given == label {
		label = session.Classes[1].Name
	}
	r.must("POST", "/api/decide", "application/json", decisions(label), nil)
	r.must("POST", "/api/export", "application/json", []byte("{}"), nil)
	after, err := datasets.ReadFile(mended, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Samples) != len(d.Samples)-1 {
		t.Errorf("%d rows, expected one fewer than %d", len(after.Samples), len(d.Samples))
	}
	for _, sample := range after.Samples {
		if sample.Path == rows.Rows[0].Path || sample.Path == rows.Rows[1].Path &&
			after.Classes[sample.Label] != label {
			t.Errorf("%+v is in the corrected manifest", sample)
		}
	}
	status := mustJSON[struct { // while the server holds the decisions
		Images    int
		Whole     map[string]int
		Reviewers []struct{ Decided int }
	}](t, "decisions", "status", s.manifest, "--root", s.images, "--json")
	if status.Images != len(d.Samples) || status.Whole["drop"] != 1 || status.Whole["relabel"] != 1 ||
		len(status.Reviewers) != 1 || status.Reviewers[0].Decided != 2 {
		t.Errorf("status: %+v", status)
	}
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := r.end(); code != 0 {
		t.Errorf("exit code %d: %s", code, r.stderr)
	}
	// A flipped bit of the stored vectors is found when the finder reads them.
	x := filepath.Join(s.dir, "x")
	if err := os.CopyFS(x, os.DirFS(s.store)); err != nil {
		t.Fatal(err)
	}
	data := []byte(readFile(t, x, "features.npy"))
	data[len(data)*2/3] ^= 2
	write(t, filepath.Join(x, "features.npy"), string(data))
	if broken, serves := newReviewed(t, "--manifest", s.manifest, "--audit", audit, "--root", s.images, "--features", x,
		"--model", s.model); serves {
		var said struct{ Error string }
		status, err := broken.ask("GET", "/api/similar?key=0&n=3", "", nil, &said)
		if err != nil || status == 200 || !strings.Contains(said.Error, "features.npy") {
			t.Errorf("a flipped bit: %d, %v, %+v", status, err, said)
		}
	} else if !strings.Contains(broken.stderr.String(), "features.npy") {
		t.Errorf("a flipped bit: %s", broken.stderr)
	}
	mustCall(t, "train", "--manifest", mended, "--root", s.images, "--features", s.store, "--out",
		filepath.Join(s.dir, "again"), "--dim", "6", "--batch", "4x4", "--epochs", "1", "--screen", "none")
}

// TestReviewSimulate plays a review of a list with true labels: two clusters of one class have mostly wrong labels.
func TestReviewSimulate(t *testing.T) {
	text := "path,given_label,suggested_label,score,true_label\n"
	for i := range 200 {
		given := "dog"
		if i%7 == 0 || i < 10 {
			given = "cat"
		}
		text += fmt.Sprintf("%03d.png,%s,cat,%.3f,dog\n", i, given, 0.001*float64(i))
	}
	list := filepath.Join(t.TempDir(), "list.csv")
	write(t, list, text)
	played := mustJSON[struct {
		Wrong   int
		Reached []struct {
			Share    float64
			Learning int
			ByList   int `json:"by_list"`
		}
	}](t, "decisions", "simulate", list, "--json")
	if r := played.Reached; played.Wrong != 37 || len(r) != 3 || r[1].Share != 0.8 || r[1].ByList != 148 ||
		r[1].Learning > 100 {
		t.Errorf("played: %+v", played)
	}
	write(t, list, strings.Replace(text, ",true_label", ",truth", 1))
	fails(t, 1, "has no true label", "decisions", "simulate", list)
	fails(t, 2, "name one list", "decisions", "simulate")
}
