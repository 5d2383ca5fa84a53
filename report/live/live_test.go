package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
	"winnow/eval"
	"winnow/internal/lock"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// set makes a folder of pictures, and returns it.
func set(t *testing.T, dir string) string {
	t.Helper()
	root := filepath.Join(dir, "photos")
	if err := os.MkdirAll(filepath.Join(root, "cat"), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(root, "cat", "1.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	return root
}

// begin begins a run on a manifest, as a training does.
func begin(t *testing.T, dir, manifest, root string, started time.Time) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Data = config.Data{Manifest: manifest, Root: root, Features: filepath.Join(dir, "features")}
	facts := folder.Facts{Started: started, StepsPerEpoch: 2, Steps: 8, ImagesSHA256: "same",
		Places: folder.PlacesOf(dir, c.Data, ""), Untrained: &folder.Untrained{Frozen: .5, Whitened: .6}}
	if err := folder.Begin(dir, c, "sum", facts); err != nil {
		t.Fatal(err)
	}
}

// finish writes a result with a P@1 of the validation split.
func finish(t *testing.T, dir string, p1 float64) {
	t.Helper()
	r := folder.Result{Run: dir, Head: filepath.Join(dir, "head.winnow"), BestStep: 4, Verdict: "it is good",
		Seconds: 3, Validation: &folder.Comparison{Trained: eval.Retrieval{N: 9, PrecisionAt1: p1}}}
	if err := folder.Finish(dir, r); err != nil {
		t.Fatal(err)
	}
}

func add(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// get asks a server, and reads the answer into to unless it is nil.
func get(t *testing.T, s *Server, path string, to any) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if to != nil {
		if err := json.Unmarshal(w.Body.Bytes(), to); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d %v: %s", path, w.Code, err, w.Body)
		}
	}
	return w
}

func TestRunWhileItTrains(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	root, run := set(t, dir), filepath.Join(dir, "run")
	s := New(Config{Now: func() time.Time { return now }})
	defer s.End()
	s.runs[keyOf(run)] = &watched{dir: run, key: keyOf(run), c: &s.c}
	at := "/api/run?run=" + keyOf(run)
	see := func() (v view) { get(t, s, at, &v); return v }
	if v := see(); v.State != Preparing || v.Steps != 0 {
		t.Errorf("before it begins: %+v", v)
	}
	begin(t, run, filepath.Join(dir, "list.csv"), root, now)
	if v := see(); v.State != Failed {
		t.Errorf("without a process: %s", v.State)
	}
	held, err := lock.Folder(run)
	if err != nil {
		t.Fatal(err)
	}
	metrics := filepath.Join(run, train.MetricsFile)
	add(t, metrics, `{"step":0,"epoch":0,"validation":0.4,"best":true}`+"\n")
	if v := see(); v.State != Running || v.Left != nil || *v.Validation != .4 || *v.Frozen != .5 || v.Loss != nil {
		t.Errorf("at its start: %+v", v)
	}
	for step := 1; step <= 4; step++ {
		add(
			t,
			metrics,
			fmt.Sprintf(`{"step":%d,"epoch":%d,"loss":%d,"loss_per_pair":0.25,"rows":10,"kept":8,"kept_share":0.8}`,
				step, (step+1)/2, 10*step)+"\n",
		)
	}
	add(t, metrics, `{"step":4,"epoch":2,"validation":0.7,"best":true}`+"\n")
	now = now.Add(10 * time.Second)
	v := see()
	if v.Left == nil || *v.Left != 10 || v.Step != 4 || v.Epoch != 2 || v.Epochs != 4 || *v.Best != .7 ||
		v.BestEpoch != 2 || *v.Kept != .8 || *v.Loss != .25 || !v.PerPair ||
		!strings.Contains(v.LossNote, "bank fills") {
		t.Errorf("%+v", v)
	}
	var titles []string
	for _, d := range v.First {
		titles = append(titles, d.Title)
		if !strings.HasPrefix(d.SVG, "<svg") || strings.Contains(d.SVG, "style") {
			t.Errorf("%s: a page that allows no styles does not show %.80s", d.Title, d.SVG)
		}
	}
	if diff := cmp.Diff([]string{"Validation: P@1", "Training loss per pair (smoothed)",
		"Share of the labels kept (smoothed)"}, titles); diff != "" {
		t.Errorf("curves (-want +got):\n%s", diff)
	}
	if w := get(t, s, "/report?run="+keyOf(run), nil); w.Code == 200 {
		t.Error("a training that runs has a report")
	}
	add(t, filepath.Join(run, train.CheckpointFile), "x")
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if v := see(); v.State != Stopped {
		t.Errorf("interrupted: %s", v.State)
	}
	finish(t, run, .7)
	if v := see(); v.State != Finished || v.Verdict != "it is good" || v.Took != 3 || v.Left != nil {
		t.Errorf("%+v", v)
	}
	if w := get(t, s, "/api/run?run=../other", nil); w.Code != 404 {
		t.Errorf("an unknown key: %d", w.Code)
	}
}

// A report is made once, shown in a sandbox, and made again if the training was.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	begin(t, run, dir, "", time.Unix(1, 0))
	finish(t, run, .5)
	var made atomic.Int32
	fail := true
	s := New(Config{Report: func(_ context.Context, dir string) ([]byte, error) {
		if fail {
			return nil, errors.New("the images have moved")
		}
		made.Add(1)
		return []byte("<p>" + dir), nil
	}})
	defer s.End()
	s.runs[keyOf(run)] = &watched{dir: run, key: keyOf(run), c: &s.c}
	path := "/report?run=" + keyOf(run)
	if w := get(t, s, path, nil); w.Code != 500 || !strings.Contains(w.Body.String(), "have moved") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	fail = false
	for range 2 {
		w := get(t, s, path, nil)
		if w.Body.String() != "<p>"+run || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	}
	begin(t, run, dir, "", time.Unix(2, 0))
	get(t, s, path, nil)
	if made.Load() != 2 {
		t.Errorf("made %d times, expected 2", made.Load())
	}
	if w := get(t, s, "/report", nil); w.Code != 404 {
		t.Errorf("of no run: %d", w.Code)
	}
}

func TestSearch(t *testing.T) {
	dir := t.TempDir()
	root := set(t, dir)
	list, other := filepath.Join(dir, "mended.csv"), filepath.Join(dir, "other.csv")
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	begin(t, at("run"), root, "", time.Unix(10, 0))
	begin(t, at("runs/mended"), list, root, time.Unix(30, 0))
	begin(t, at("a/b/c"), root, "", time.Unix(20, 0))
	begin(t, at("a/b/c2/deep"), root, "", time.Unix(40, 0)) // deeper than is looked
	begin(t, at(".hidden"), root, "", time.Unix(50, 0))
	begin(t, at("foreign"), other, dir+"x", time.Unix(60, 0))
	search := Search{Folders: []string{dir, dir}, Manifest: location.At(root), Root: location.At(root)}
	runs, f := search.findFolders(context.Background())
	if diff := cmp.Diff([]string{at("runs/mended"), at("a/b/c"), at("run")}, runs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.Others != 1 || f.Partly {
		t.Errorf("%+v", f)
	}
	now := time.Unix(100, 0)
	s := New(Config{Search: search, Now: func() time.Time { return now }})
	defer s.End()
	var answer struct{ Runs []brief }
	if get(t, s, "/api/runs", &answer); len(answer.Runs) != 3 {
		t.Errorf("%+v", answer)
	}
	begin(t, at("new"), root, "", time.Unix(70, 0))
	if get(t, s, "/api/runs", &answer); len(answer.Runs) != 3 {
		t.Errorf("at once: %d runs, expected the 3 of the last search", len(answer.Runs))
	}
	if get(t, s, "/api/runs?look=1", &answer); len(answer.Runs) != 4 {
		t.Errorf("looked again: %d runs, expected 4", len(answer.Runs))
	}
}
