package review

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
	"winnow/report/review/decisions"
)

// TestSession checks the response to the page's first request, before and after decisions.
func TestSession(t *testing.T) {
	w := newWorld(t, 100)
	var s session
	w.must("GET", "/api/session", "", &s)
	outliers, copies, groups := 0, 0, 0
	for _, e := range w.list {
		if e.Outlier {
			outliers++
		}
		if len(e.Copies) > 0 {
			copies++
		}
		if e.CopyGroup > 0 {
			groups++
		}
	}
	if s.Title != "suspects.csv" || s.Total != 90 || len(s.Classes) != 4 || !s.Similar || s.NoUpload != "" ||
		s.HasTruth ||
		s.Version != 0 || s.Hint != "" || s.Out == "" {
		t.Errorf("got %+v", s)
	}
	if diff := cmp.Diff(map[string]int{"suspect": 33, "outlier": outliers, "copy": copies, "group": groups,
		"problem": groups}, s.Kinds); diff != "" {
		t.Error(diff)
	}
	if s.Classes[0] != (sessionClass{Name: "class a", Images: 25, Suspects: s.Classes[0].Suspects}) ||
		s.Classes[0].Suspects+s.Classes[1].Suspects+s.Classes[2].Suspects+s.Classes[3].Suspects != 33 {
		t.Errorf("classes %+v", s.Classes)
	}
	w.decide("t", 200, on(0, "drop", "", 0), on(1, "keep", "", 0), on(80, "keep", "", 0))
	w.must("GET", "/api/session", "", &s)
	decided := 0
	for _, c := range s.Classes {
		decided += int(c.Decided)
	}
	if diff := cmp.Diff(map[decisions.Action]int{"keep": 2, "drop": 1, "relabel": 0, "unsure": 0, "disagreed": 0,
		"undecided": 87}, s.Counts); diff != "" || decided != 2 || s.Version != 1 {
		t.Errorf("%s %d suspects decided, version %d", diff, decided, s.Version)
	}
	if s.Precision.Wrong != 1 || s.Precision.Judged != 2 {
		t.Errorf("precision %+v of two suspects and one other image", s.Precision)
	}
}

// TestRow checks that a row contains the image's data from the audit.
func TestRow(t *testing.T) {
	w := newWorld(t, 100)
	e := w.list[5]
	var a struct {
		Total, Offset int
		Rows          []row
	}
	w.must("GET", "/api/rows?offset=5&limit=1", "", &a)
	if a.Total != 90 || a.Offset != 5 || len(a.Rows) != 1 {
		t.Fatalf("got %+v", a)
	}
	r := a.Rows[0]
	if r.ID != 5 || r.Rank != 6 || r.Path != e.Path || r.Given != e.Given || r.Suggested != e.Suggested ||
		*r.Score != e.Score || *r.SuggestedScore != *e.SuggestedScore ||
		(r.Fit == nil) != (e.Fit == nil) || r.Decision != nil || r.Version != 0 ||
		slices.Contains(r.Kinds, "outlier") != e.Outlier || !slices.Contains(r.Kinds, "suspect") {
		t.Errorf("got %+v of %+v", r, e)
	}
	for i, n := range e.SupportGiven {
		d := w.review.Manifest
		got := r.ForGiven[i]
		image := slices.IndexFunc(d.Samples, func(s datasets.Sample) bool { return s.Path == n.Path })
		if got.Path != n.Path || got.Key != fmt.Sprint(image) || got.Label != d.Classes[d.Samples[image].Label] {
			t.Errorf("neighbour %+v of %+v", got, n)
		}
	}
	if len(r.ForGiven) != 2 || len(r.ForSuggested) != 1 || len(r.Copies) != len(e.Copies) {
		t.Errorf("got %d, %d and %d neighbours", len(r.ForGiven), len(r.ForSuggested), len(r.Copies))
	}
	members := 0
	for _, other := range w.list {
		if other.CopyGroup == e.CopyGroup && e.CopyGroup > 0 && other.Path != e.Path {
			members++
		}
	}
	if len(r.Group) != members || len(r.Problems) != len(e.Problems) ||
		len(e.Problems) > 0 && r.Problems[0] != "dark: as night" {
		t.Errorf("got the copies %v and problems %q of %+v", r.Group, r.Problems, e)
	}
	w.decide("t", 200, on(5, "relabel", other(r.Given), 0))
	w.must("GET", "/api/rows?offset=5&limit=1", "", &a)
	if d := a.Rows[0].Decision; d == nil || d.Action != "relabel" || d.Label != other(r.Given) || d.Version != 1 ||
		a.Rows[0].Version != 1 || d.At.IsZero() {
		t.Errorf("got %+v", d)
	}
}

// other returns a class other than given.
func other(given string) string {
	if given == "class a" {
		return "class b"
	}
	return "class a"
}

// TestDecideAnswers checks that a batch is applied or refused as a whole, and that a refusal returns current states.
func TestDecideAnswers(t *testing.T) {
	w := newWorld(t, 100)
	given := w.list[3].Given
	a := w.decide("one", 200, on(3, "relabel", other(given), 0), on(4, "drop", "", 0))
	if len(a.Applied) != 2 || a.Applied[0].ID != 3 || a.Applied[0].Version != 1 ||
		a.Applied[0].Decision.Label != other(given) || a.Counts["relabel"] != 1 || a.Version != 1 {
		t.Errorf("got %+v", a)
	}
	a = w.decide("two", 409, on(2, "keep", "", 0), on(3, "keep", "", 0))
	if len(a.Conflicts) != 1 || a.Conflicts[0].ID != 3 || a.Conflicts[0].Version != 1 ||
		a.Conflicts[0].Decision.Label != other(given) || a.Error == "" {
		t.Errorf("got %+v", a)
	}
	var s session
	w.must("GET", "/api/session", "", &s)
	if s.Counts["keep"] != 0 || s.Version != 1 {
		t.Errorf("a refused batch left %v, version %d", s.Counts, s.Version)
	}
	a = w.decide("two", 200, on(3, "undecided", "", 1))
	if a.Applied[0].Decision != nil || a.Applied[0].Version != 2 || a.Counts["relabel"] != 0 {
		t.Errorf("got %+v", a)
	}
}

// TestDecideRefuses checks that every invalid request is refused with a message and changes no decision.
func TestDecideRefuses(t *testing.T) {
	w := newWorld(t, 100)
	many := strings.Repeat(`{"id":1,"action":"keep","version":0},`, 2001)
	for body, want := range map[string]string{
		``:      "EOF",
		`{} {}`: "data after the object", `{"x":1}`: "unknown field",
		`{"tab":"t"}`: "found 0, expected 1 to 2000",
		`{"tab":"t","decisions":[` + many[:len(many)-1] + `]}`:                         "found 2001",
		one(`"action":"keep","version":0`):                                             "expected 0 to 99",
		one(`"id":100,"action":"keep","version":0`):                                    "id is missing",
		one(`"id":1,"action":"keep"`):                                                  "version is missing",
		one(`"id":1,"action":"burn","version":0`):                                      `action is "burn"`,
		one(`"id":1,"action":"relabel","label":"nix","version":0`):                     `there is no class "nix"`,
		one(`"id":1,"action":"relabel","label":"` + w.list[1].Given + `","version":0`): "use the action keep",
		one(`"id":1,"action":"keep","version":0},{"id":1,"action":"drop","version":0`): "repeated",
	} {
		var e struct{ Error string }
		if status, text := w.ask("POST", "/api/decide", body, &e); status != 400 || !strings.Contains(e.Error, want) {
			t.Errorf("%.100s: %d %s, expected %q", body, status, text, want)
		}
	}
	if status, _ := w.ask("POST", "/api/decide", `{"tab":"`+strings.Repeat("x", mostJSON)+`"}`,
		nil); status != 413 {
		t.Errorf("a body too large: %d", status)
	}
	if w.review.decided.getStoreVersion() != 0 || w.review.Decided() != 0 {
		t.Error("a refused request changed decisions")
	}
}

// TestChanges checks that a polling tab receives every change of other tabs once.
func TestChanges(t *testing.T) {
	w := newWorld(t, 100)
	w.decide("one", 200, on(0, "drop", "", 0))
	w.decide("two", 200, on(1, "keep", "", 0), on(2, "keep", "", 0))
	w.must("POST", "/api/undo", `{"tab":"one"}`, nil)
	var c struct {
		Version int64
		Changed []state
		More    bool
		Counts  map[string]int
	}
	for since, want := range map[int][]int{0: {1, 2, 0}, 1: {1, 2, 0}, 2: {0}, 3: {}, 99: {}} {
		w.must("GET", fmt.Sprint("/api/changes?since=", since), "", &c)
		ids := []int{}
		for _, s := range c.Changed {
			ids = append(ids, s.ID)
		}
		slices.Sort(ids)
		slices.Sort(want)
		if !cmp.Equal(ids, want) || c.More || c.Version != int64(max(since, 3)) || c.Counts["keep"] != 2 {
			t.Errorf("since %d: %+v, expected %v", since, c, want)
		}
	}
	for _, path := range []string{"/api/changes?since=x", "/api/changes?since=-1", "/api/changes?since=1&since=2"} {
		if status, text := w.ask("GET", path, "", nil); status != 400 {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// TestTypical checks that typical images are the least suspect images of a class, without images decided as wrong.
func TestTypical(t *testing.T) {
	w := newWorld(t, 100)
	var ids []int
	for id, e := range w.list {
		if e.Given == "class c" {
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids)
	var a struct {
		Class    string
		Pictures []pic
	}
	expect := func(want ...int) {
		t.Helper()
		w.must("GET", "/api/typical?class=class+c&n=2", "", &a)
		if a.Class != "class c" || len(a.Pictures) != 2 || a.Pictures[0].Path != w.list[want[0]].Path ||
			a.Pictures[1].Path != w.list[want[1]].Path || a.Pictures[0].Label != "class c" {
			t.Errorf("got %+v, expected those of %v", a, want)
		}
	}
	expect(ids[0], ids[1])
	w.decide("t", 200, on(ids[0], "relabel", "class a", 0), on(ids[1], "keep", "", 0), on(ids[2], "drop", "", 0))
	expect(ids[1], ids[3])
	for _, path := range []string{"/api/typical", "/api/typical?class=nix", "/api/typical?class=class+c&n=65",
		"/api/typical?class=class+c&n=-1"} {
		if status, text := w.ask("GET", path, "", nil); status != 400 {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// TestConfusions compares the confusions with counts over the list.
func TestConfusions(t *testing.T) {
	w := newWorld(t, 400)
	want := map[[2]string]int{}
	first := -1
	for id, e := range w.list {
		if e.Flagged && e.Given != e.Suggested {
			want[[2]string{e.Given, e.Suggested}]++
			if first < 0 {
				first = id
			}
		}
	}
	e := w.list[first]
	w.decide("t", 200, on(first, "relabel", e.Suggested, 0))
	var a struct{ Pairs []confused }
	w.must("GET", "/api/confusions", "", &a)
	if len(a.Pairs) != len(want) {
		t.Errorf("%d pairs, expected %d", len(a.Pairs), len(want))
	}
	for i, p := range a.Pairs {
		if int(p.Suspects) != want[[2]string{p.Given, p.Suggested}] || i > 0 && p.Suspects > a.Pairs[i-1].Suspects {
			t.Errorf("pair %d: %+v", i, p)
		}
		if mine := p.Given == e.Given && p.Suggested == e.Suggested; mine != (p.Decided == 1) ||
			mine != (p.Accepted == 1) {
			t.Errorf("%+v is decided", p)
		}
	}
	w.must("GET", "/api/confusions?limit=1", "", &a)
	if len(a.Pairs) != 1 {
		t.Errorf("%d pairs, expected 1", len(a.Pairs))
	}
}

// TestExport checks that the corrected manifest is the manifest with the decisions applied, including its test images,
// and that it can be read.
func TestExport(t *testing.T) {
	w := newWorld(t, 100)
	given := w.list[2].Given
	w.decide("t", 200, on(0, "drop", "", 0), on(1, "keep", "", 0), on(2, "relabel", other(given), 0))
	var e Exported
	w.must("POST", "/api/export", "{}", &e)
	if e != (Exported{Path: w.review.Out, Rows: 99, Kept: 1, Dropped: 1, Relabelled: 1, Undecided: 87}) {
		t.Errorf("got %+v", e)
	}
	data, err := os.ReadFile(w.review.Out)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(w.manifest)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, line := range strings.SplitAfter(string(before), "\n") {
		switch {
		case strings.HasPrefix(line, w.list[0].Path+","):
		case strings.HasPrefix(line, w.list[2].Path+","):
			want = append(want, strings.Replace(line, given, other(given), 1))
		default:
			want = append(want, line)
		}
	}
	if diff := cmp.Diff(strings.Join(want, ""), string(data)); diff != "" {
		t.Error(diff)
	}
	status, text := w.ask("GET", "/api/export.csv", "", nil)
	if status != 200 || text != string(data) {
		t.Errorf("downloaded: %d %.100q", status, text)
	}
	if _, err := csv.NewReader(strings.NewReader(text)).ReadAll(); err != nil {
		t.Error(err)
	}
	if _, err := datasets.ReadFile(w.review.Out, datasets.ReadOptions{}); err != nil {
		t.Error(err)
	}
}

// TestExportRefused checks that an export without --out is refused, and that an export after a change of the manifest
// returns an error and leaves no partial file.
func TestExportRefused(t *testing.T) {
	w := newWorld(t, 100)
	w.decide("t", 200, on(0, "drop", "", 0))
	w.write("m.csv", "path,label\nother.png,class a\n")
	for _, request := range [][2]string{{"POST", "/api/export"}, {"GET", "/api/export.csv"}} {
		if status, text := w.ask(request[0], request[1], "{}", nil); status != 500 ||
			!strings.Contains(text, "the file has changed") {
			t.Errorf("%v: %d %s", request, status, text)
		}
	}
	if _, err := os.Stat(w.review.Out); err == nil {
		t.Error("a file was left")
	}
	w.review.Out = ""
	if status, text := w.ask("POST", "/api/export", "{}", nil); status != 404 ||
		!strings.Contains(text, "without a file") {
		t.Errorf("%d %s", status, text)
	}
}

// TestPictures checks the responses for thumbnails and image files by key, and that other URLs are refused.
func TestPictures(t *testing.T) {
	w := newWorld(t, 100)
	req := func(path string, header ...string) *http.Response {
		t.Helper()
		r, err := http.NewRequest("GET", w.server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+testToken)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		a, err := w.server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Body.Close() })
		return a
	}
	a := req("/thumb/2?size=32")
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "image/jpeg" ||
		a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("ETag") == "" {
		t.Errorf("thumb: %d %v", a.StatusCode, a.Header)
	}
	if again := req("/thumb/2?size=32", "If-None-Match", a.Header.Get("ETag")); again.StatusCode != 304 {
		t.Errorf("the same: %d", again.StatusCode)
	}
	if a := req("/image/2"); a.StatusCode != 200 || a.Header.Get("Content-Type") != "image/png" ||
		!strings.Contains(a.Header.Get("Content-Security-Policy"), "sandbox") ||
		a.ContentLength != int64(len(pngOf(42, 20))) {
		t.Errorf("image: %d %v", a.StatusCode, a.Header)
	}
	w.write(pathOf(9), "<script>alert(1)</script>")
	outside := filepath.Join(t.TempDir(), "secret.png")
	if err := os.WriteFile(outside, pngOf(10, 10), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(w.dir, filepath.FromSlash(pathOf(10)))); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"9", "10", "50", "100", "-1", "+1", "01", "0x1", "1e1", "99999999999999999999", "",
		"a", "../m.csv", "..%2fm.csv", "%2e%2e/m.csv", "1/../../m.csv", "1%00", "//etc/passwd",
		"images/00/Photo%200000.png"} {
		for _, kind := range []string{"/thumb/", "/image/"} {
			if a := req(kind + key); a.StatusCode != 404 || a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s%s: %d %s", kind, key, a.StatusCode, a.Header.Get("Content-Type"))
			}
		}
	}
	for _, query := range []string{"size=0", "size=513", "size=x", "size=1&size=2"} {
		if a := req("/thumb/2?" + query); a.StatusCode != 400 {
			t.Errorf("%s: %d", query, a.StatusCode)
		}
	}
}

// TestSimilar checks the search by a key and by an uploaded image.
func TestSimilar(t *testing.T) {
	w := newWorld(t, 100)
	var a struct {
		Total int
		Rows  []alike
	}
	w.must("GET", "/api/similar?key=1&n=3", "", &a)
	if a.Total != 3 || len(a.Rows) != 3 || a.Rows[0].Key != "0" || a.Rows[1].Similarity != 0.98 || a.Rows[0].ID < 0 {
		t.Errorf("got %+v, expected no images that are not in the manifest", a)
	}
	// Results contain the reviewer's current decisions.
	w.decide("t", 200, on(int(a.Rows[1].ID), "drop", "", 0))
	w.must("GET", "/api/similar?key=1&n=3&reviewer=", "", &a)
	if r := a.Rows[1]; r.Decision == nil || r.Decision.Action != "drop" || r.Given != labelOf(2) || r.Version != 1 {
		t.Errorf("got %+v", r)
	}
	// A search by the centre of several images does not return these images.
	w.must("GET", "/api/similar?key=0,2,4&n=3", "", &a)
	if len(a.Rows) != 3 || a.Rows[0].Key != "1" || a.Rows[1].Key != "3" {
		t.Errorf("got %+v", a)
	}
	for path, want := range map[string]int{
		"/api/similar?key=3": 404, "/api/similar?key=100": 404, "/api/similar": 404, "/api/similar?key=1&n=0": 400,
		"/api/similar?key=1&n=201": 400, "/api/similar?key=../x": 404, "/api/similar?key=1,": 404,
		"/api/similar?key=1,3": 404,
		"/api/similar?key=" + strings.Repeat("1,", mostCentre) + "1": 400, "/api/similar?key=1&reviewer=%20x": 400,
	} {
		if status, text := w.ask("GET", path, "", nil); status != want {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	send := func(kind string, body []byte) int {
		t.Helper()
		r, err := http.NewRequest("POST", w.server.URL+"/api/search?n=2", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set("Content-Type", kind)
		answer, err := w.server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		a.Rows = nil
		_ = json.NewDecoder(answer.Body).Decode(&a)
		return answer.StatusCode
	}
	if status := send("image/png", pngOf(9, 9)); status != 200 || len(a.Rows) != 2 {
		t.Errorf("got %d, %+v", status, a)
	}
	if status := send("image/png", []byte("text")); status != 400 {
		t.Errorf("text: %d", status)
	}
	if status := send("application/json", pngOf(9, 9)); status != 415 {
		t.Errorf("as JSON: %d", status)
	}
	if status := send("image/png", make([]byte, mostUpload+1)); status != 413 {
		t.Errorf("too large: %d", status)
	}
	w.finder.noUploads = true
	if status := send("image/png", pngOf(9, 9)); status != 404 {
		t.Errorf("without a network: %d", status)
	}
	if why := w.review.newSession().NoUpload; !strings.Contains(why, "the network has moved; name it") {
		t.Errorf("without a network the page says %q", why)
	}
	w.review.Finder = nil
	if status, text := w.ask("GET", "/api/similar?key=1", "", nil); status != 404 ||
		!strings.Contains(text, "features") {
		t.Errorf("without vectors: %d %s", status, text)
	}
}

// TestTwoTabs sends many requests about the same images from two tabs at the same time. Of the requests with the same
// version exactly one must succeed, and the counts must match the responses.
func TestTwoTabs(t *testing.T) {
	w := newWorld(t, 60)
	var wait sync.WaitGroup
	var mutex sync.Mutex
	won := map[int]int{}
	for _, tab := range []string{"one", "two"} {
		wait.Go(func() {
			for id := range 50 {
				body := fmt.Sprintf(`{"tab":%q,"decisions":[{"id":%d,"action":"drop","version":0}]}`, tab, id)
				status, text := w.ask("POST", "/api/decide", body, nil)
				switch status {
				case 200:
					mutex.Lock()
					won[id]++
					mutex.Unlock()
				case 409:
				default:
					t.Errorf("%d %s", status, text)
				}
				w.ask("GET", "/api/rows?state=drop&text=photo", "", nil)
				w.ask("GET", "/api/session", "", nil)
			}
		})
	}
	wait.Wait()
	for id := range 50 {
		if won[id] != 1 {
			t.Errorf("image %d was decided %d times", id, won[id])
		}
	}
	var s session
	w.must("GET", "/api/session", "", &s)
	if s.Counts["drop"] != 50 || s.Version != 50 {
		t.Errorf("%v, version %d", s.Counts, s.Version)
	}
}

// TestOtherAudit checks that a page of another audit cannot decide, because its ids refer to other images.
func TestOtherAudit(t *testing.T) {
	w := newWorld(t, 60)
	var s session
	w.must("GET", "/api/session", "", &s)
	decide := func(sum string) (int, string) {
		return w.ask("POST", "/api/decide",
			`{"audit":"`+sum+`","tab":"t","decisions":[{"id":0,"action":"keep","version":0}]}`, nil)
	}
	w.close()
	w.list[0], w.list[1] = w.list[1], w.list[0]
	w.list[0].Rank, w.list[1].Rank = 1, 2
	w.open(nil)
	if status, text := decide(s.Sum); status != http.StatusPreconditionFailed ||
		!strings.Contains(text, "another audit") {
		t.Errorf("%d %s", status, text)
	}
	w.must("GET", "/api/session", "", &s)
	if status, text := decide(s.Sum); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
}
