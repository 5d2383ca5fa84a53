package review

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/audit/suspects"
	"winnow/datasets/location"
	"winnow/run/embedding"
)

// TestStudioWithoutAudit checks that all images can be listed and decided without an audit, and that an image without a
// label can be relabelled but not kept.
func TestStudioWithoutAudit(t *testing.T) {
	w := newWorld(t, 40)
	w.close()
	w.write("m.csv", strings.Replace(readWhole(t, w.manifest), pathOf(5)+","+labelOf(5), pathOf(5)+",", 1))
	w.list = nil
	w.open(func(c *Config) { c.Audit, c.AuditFile, c.Missing.Audit = nil, "", "winnow audit m.csv" })
	var s session
	w.must("GET", "/api/session", "", &s)
	if s.Total != 0 || s.Images != 40 || s.Home != Data || s.Missing.Audit == "" || s.Reading.Labelled != 39 ||
		s.Title != "m.csv" || fmt.Sprint(s.Splits) != "[{train 36} {test 4}]" {
		t.Errorf("got %+v", s)
	}
	var page struct {
		Total int
		Rows  []row
	}
	w.must("GET", "/api/rows?scope=all&sort=manifest&limit=10", "", &page)
	if page.Total != 40 || page.Rows[5].Given != "" || page.Rows[5].Audited || page.Rows[5].Score != nil {
		t.Errorf("got %+v", page)
	}
	if status, text := w.ask("POST", "/api/decide", one(`"id":5,"action":"keep","version":0`), nil); status != 400 ||
		!strings.Contains(text, "no label to keep") {
		t.Errorf("%d %s", status, text)
	}
	w.decide("t", 200, on(5, "relabel", "class c", 0), on(6, "drop", "", 0))
	w.must("GET", "/api/session", "", &s)
	if s.Whole["relabel"] != 1 || s.Whole["drop"] != 1 || s.Whole["undecided"] != 38 ||
		fmt.Sprint(s.Reviewers) != "[{ 2}]" {
		t.Errorf("got %+v", s)
	}
	w.must("POST", "/api/export", "{}", nil)
	mended := readWhole(t, filepath.Join(w.dir, "fixed.csv"))
	if !strings.Contains(mended, pathOf(5)+",class c,") || strings.Contains(mended, pathOf(6)) {
		t.Errorf("%.400s", mended)
	}
}

func readWhole(t *testing.T, name string) string {
	t.Helper()
	text, err := readFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestFindings checks the groups of each kind of finding: duplicates with different labels are first, with the label
// that the audit finds more likely.
func TestFindings(t *testing.T) {
	w := newWorld(t, 100)
	w.close()
	place := map[string]int{}
	for i := range w.list {
		e := &w.list[i]
		e.CopyGroup, e.Problems, e.Outlier, place[e.Path] = 0, nil, false, i
	}
	at := func(i int) *suspects.Suspect { return &w.list[place[pathOf(i)]] }
	far, farther := -3.0, -5.0
	at(4).CopyGroup, at(8).CopyGroup = 1, 1                    // both class a
	at(1).CopyGroup, at(2).CopyGroup = 2, 2                    // class b and class c
	at(1).CopyVerdict, at(2).CopyVerdict = "right", "wrong"    //
	at(3).Outlier, at(3).Fit, at(7).Outlier = true, &far, true //
	at(7).Fit = &farther
	for i := 10; i < 40; i++ {
		at(i).Problems = []suspects.Problem{{Kind: "dark", Why: "as night"}}
	}
	at(10).Problems = append(at(10).Problems, suspects.Problem{Kind: "blurred", Why: "as fog"})
	// Move image 8 to the test split.
	moved := strings.Replace(readWhole(t, w.manifest), pathOf(8)+",class a,train", pathOf(8)+",class a,test", 1)
	w.write("m.csv", moved)
	w.open(nil)
	type answer struct {
		Total  int
		Groups []foundGroup
	}
	ask := func(kind string) (a answer, said []string) {
		w.must("GET", "/api/findings?kind="+kind, "", &a)
		for _, g := range a.Groups {
			names := []string{g.Why, g.Likely, fmt.Sprint(g.Images)}
			for _, r := range g.Rows[:min(2, len(g.Rows))] {
				names = append(names, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(r.Path), "Photo 00"), ".png"))
			}
			said = append(said, strings.Join(names, " "))
		}
		return a, said
	}
	sorted := func(words string) string {
		list := strings.Fields(words)
		slices.Sort(list[len(list)-2:])
		return strings.Join(list, " ")
	}
	if _, said := ask("copies"); len(said) != 2 || sorted(said[0]) != "contradict class b 2 01 02" ||
		sorted(said[1]) != "agree 2 04 08" {
		t.Errorf("copies: %q", said)
	}
	if _, said := ask("leaks"); len(said) != 1 || sorted(said[0]) != "agree 2 04 08" {
		t.Errorf("leaks: %q", said)
	}
	if _, said := ask("outliers"); len(said) != 1 || strings.Join(strings.Fields(said[0]), " ") != "2 07 03" {
		t.Errorf("outliers: %q", said)
	}
	a, _ := ask("problems")
	if a.Total != 3 || a.Groups[0].Why != "blurred" || a.Groups[1].Images != groupMost ||
		a.Groups[2].Images != 30-groupMost {
		t.Errorf("problems: %+v", a)
	}
	w.must("GET", "/api/findings?kind=problems&offset=2&limit=5", "", &a)
	if len(a.Groups) != 1 {
		t.Errorf("%d groups from the third", len(a.Groups))
	}
	for query, want := range map[string]string{"kind=x": "copies, leaks", "": "copies, leaks",
		"kind=copies&limit=101": "limit"} {
		status, text := w.ask("GET", "/api/findings?"+query, "", nil)
		if status != 400 || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}

// TestPlane checks the map by principal components and by t-SNE, and that a lasso selects the images inside.
func TestPlane(t *testing.T) {
	const n = 100
	w := newWorld(t, n)
	if status, text := w.ask("GET", "/api/plane", "", nil); status != 404 || !strings.Contains(text, "no vectors") {
		t.Errorf("without vectors: %d %s", status, text)
	}
	w.close()
	w.open(func(c *Config) { c.Finder = seer{w.finder} })
	w.review.plane.steps = 20
	var s planeState
	settle := func(method string) {
		t.Helper()
		w.review.plane.worker.Wait()
		w.must("GET", "/api/plane", "", &s)
		if s.Method != method || s.Works != "" || s.Points != n || s.Failed != "" {
			t.Fatalf("got %+v, expected %s", s, method)
		}
	}
	if status, _ := w.ask("GET", "/api/places", "", nil); status != 404 {
		t.Errorf("positions before they are computed: %d", status)
	}
	w.must("GET", "/api/plane", "", &s)
	settle(byComponents)
	if !(s.Share[0] >= s.Share[1] && s.Share[1] > 0) || len(s.Light) != 4 {
		t.Errorf("got %+v", s)
	}
	_, text := w.ask("GET", "/api/places", "", nil)
	data := []byte(text)
	if len(data) != 4+15*n || binary.LittleEndian.Uint32(data) != n {
		t.Fatalf("%d bytes", len(data))
	}
	inside := 0
	for id := range n {
		x := math.Float32frombits(binary.LittleEndian.Uint32(data[4+4*id:]))
		y := math.Float32frombits(binary.LittleEndian.Uint32(data[4+4*n+4*id:]))
		class := binary.LittleEndian.Uint32(data[4+8*n+4*id:])
		if x < 0 || x > 1 || y < 0 || y > 1 || w.review.table.images[id].Given != w.review.table.classes[class] {
			t.Errorf("image %d of class %d is at %v, %v", id, class, x, y)
		}
		if x < 0.5 && x+y < 1.25 {
			inside++
		}
	}
	// The region x < 1/2 and x + y < 5/4, as a polygon with one concave corner.
	var a struct{ Total int }
	w.must("GET", "/api/rows?scope=all&limit=0&lasso=-1,-1,0.5,-1,0.5,0.75,-1,2.25", "", &a)
	if a.Total != inside || inside == 0 || inside == n {
		t.Errorf("%d in the lasso, expected %d", a.Total, inside)
	}
	for text, want := range map[string]string{"1,2,3": "corners", "1,2,3,4,5,x": "expected numbers", "1,2": "corners",
		"NaN,1,2,3,4,5": "expected numbers", strings.Repeat("1,2,", 200) + "1,2": "corners"} {
		status, said := w.ask("GET", "/api/rows?lasso="+text, "", nil)
		if status != 400 || !strings.Contains(said, want) {
			t.Errorf("%.20s: %d %s", text, status, said)
		}
	}
	if status, _ := w.ask("POST", "/api/arrange", `{"method":"x"}`, nil); status != 400 {
		t.Errorf("an unknown method: %d", status)
	}
	w.must("POST", "/api/arrange", `{"method":"tsne"}`, nil)
	settle(byLikeness)
}

// TestGuessed checks that a list found automatically that is about other images is ignored with a notice, and that such
// a list given by the user is refused.
func TestGuessed(t *testing.T) {
	w := newWorld(t, 20)
	w.list[3].Path = "images/elsewhere.png"
	list := filepath.Join(w.dir, "suspects.csv")
	if err := suspects.WriteFile(list, w.list); err != nil {
		t.Fatal(err)
	}
	f := Files{Audit: list, Manifest: location.At(w.manifest), Decisions: filepath.Join(w.dir, "d.db"),
		Missing: Missing{Audit: "winnow audit m.csv"}}
	if _, _, err := Open(f, embedding.Host{}); err == nil || !strings.Contains(err.Error(), "elsewhere.png") {
		t.Fatalf("a named list of other images: %v", err)
	}
	f.Guessed = true
	r, end, err := Open(f, embedding.Host{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	}()
	if s := r.newSession(); s.Total != 0 || s.Images != 20 || s.Audit != "" || s.Missing.Audit == "" ||
		!strings.Contains(s.Notice, "suspects.csv is not used: ") {
		t.Errorf("got %+v", s)
	}
}
