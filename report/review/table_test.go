package review

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
)

// TestDoor checks that an audit and a manifest that do not match are refused with an example image.
func TestDoor(t *testing.T) {
	read := func(text string) *datasets.Dataset {
		d, err := datasets.ReadManifest(strings.NewReader("path,label\n"+text), "m.csv", datasets.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	entry := func(path, given string) suspects.Suspect {
		return suspects.Suspect{Path: path, Given: given, Suggested: "b"}
	}
	for _, c := range []struct {
		manifest string
		list     []suspects.Suspect
		want     string
	}{
		{"x.png,a\ny.png,b\n", []suspects.Suspect{entry("x.png", "a"), entry("z.png", "a")},
			`a.csv: image "z.png": is not in m.csv`},
		{"x.png,a\ny.png,b\n", []suspects.Suspect{entry("y.png", "a")},
			`image "y.png": had the label "a" when it was audited, which is not its label in m.csv`},
		{"x.png,a\ny.png,\n", []suspects.Suspect{entry("y.png", "a")}, `image "y.png": had the label "a"`},
		{"x.png,a\ny.png,b\n", []suspects.Suspect{entry("x.png", "a"), entry("x.png", "a")},
			"appears twice in the audit"},
	} {
		if _, err := newTable(read(c.manifest), each(c.list), "a.csv", location.At("m.csv")); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, expected %q", err, c.want)
		}
	}
	// A suggested label may be missing from the manifest, and so may neighbours.
	e := entry("x.png", "a")
	e.Suggested, e.SupportGiven = "new", []suspects.Near{{Path: "gone.png"}, {Path: "y.png"}}
	table, err := newTable(read("x.png,a\ny.png,b\n"), each([]suspects.Suspect{e}), "a.csv", location.At("m.csv"))
	if err != nil || !table.isClass["new"] {
		t.Fatal(err)
	}
	if r := rowOf(table, 0); len(r.ForGiven) != 1 || r.ForGiven[0].Path != "y.png" || len(r.ForSuggested) > 0 {
		t.Errorf("got %+v", r)
	}
}

// TestTableOfSplits checks that an image in several splits is one image of the review, that its decision applies to all
// its rows, and that it is a leak unless the splits are query and gallery.
func TestTableOfSplits(t *testing.T) {
	const list = "path,label,split\nx.png,a,train\ny.png,b,train\nx.png,a,test\ny.png,b,train\nz.png,b,query\n" +
		"z.png,b,gallery\nx.png,a,test\n"
	file := filepath.Join(t.TempDir(), "m.csv")
	if err := os.WriteFile(file, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := datasets.ReadFile(file, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	of := func(path, given string) suspects.Suspect {
		return suspects.Suspect{Path: path, Given: given, Suggested: "b"}
	}
	table, err := newTable(d, each([]suspects.Suspect{of("x.png", "a"), of("y.png", "b"), of("x.png", "a")}), "a.csv",
		location.At(file))
	if err != nil {
		t.Fatal(err)
	}
	leaks := table.findings["leaks"]
	if len(table.images) != 3 || table.audited != 2 || len(leaks) != 1 ||
		table.images[leaks[0].ids[0]].Path != "x.png" ||
		fmt.Sprint(table.splits) != "[{train and test 1} {train 1} {query and gallery 1}]" {
		t.Errorf("%d images, %d audited, splits %v, leaks %v", len(table.images), table.audited, table.splits, leaks)
	}
	for path, c := range map[string]struct {
		do   datasets.Decision
		want string
	}{
		"x.png": {datasets.Decision{Drop: true}, "path,label,split\ny.png,b,train\ny.png,b,train\nz.png,b,query\n" +
			"z.png,b,gallery\n"},
		"y.png": {datasets.Decision{Label: "a"}, strings.ReplaceAll(list, "y.png,b", "y.png,a")},
		"z.png": {datasets.Decision{Label: "a"}, strings.ReplaceAll(list, "z.png,b", "z.png,a")},
	} {
		var out strings.Builder
		do := map[int]datasets.Decision{table.images[table.id[path]].sample: c.do}
		if _, err := datasets.Fix(&out, location.At(file), d, do); err != nil || out.String() != c.want {
			t.Errorf("%s: %v\n%s, expected\n%s", path, err, out.String(), c.want)
		}
	}
}

// TestSuspectsOfOthers checks that in other tools' lists, without flags, images with another suggestion are suspects.
func TestSuspectsOfOthers(t *testing.T) {
	w := newWorld(t, 100)
	for i := range w.list {
		w.list[i].Flagged = false
	}
	c, err := w.reopened(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, e := range w.list {
		if e.Given != e.Suggested {
			want++
		}
	}
	if got := c.table.kinds[suspect]; got != want || want == 0 {
		t.Errorf("%d suspects, expected %d", got, want)
	}
}

// reopened closes the server and opens its files again with a changed configuration.
func (w *world) reopened(change func(*Config)) (*Reviewer, error) {
	w.t.Helper()
	w.close()
	c, err := w.config()
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(&c)
	}
	r, err := New(c)
	if err != nil {
		c.Decisions.Close()
		w.open(nil)
		return nil, err
	}
	c.Decisions.Close()
	w.open(change)
	return r, nil
}

// TestCarriedOver checks that decisions stay valid for another audit of the same manifest and for the corrected
// manifest, and that decisions about other images are refused.
func TestCarriedOver(t *testing.T) {
	w := newWorld(t, 100)
	given := w.list[2].Given
	w.decide("t", 200, on(0, "drop", "", 0), on(1, "keep", "", 0), on(2, "relabel", other(given), 0))
	w.must("POST", "/api/export", "{}", nil)
	old := append([]suspects.Suspect(nil), w.list...)

	w.list = append([]suspects.Suspect(nil), old[1], old[2], old[0], old[5])
	r, err := w.reopened(nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := r.decided; fmt.Sprint(counts(d)) != "[1 1 1 1]" {
		t.Errorf("another audit: %v", counts(d))
	}

	// In the corrected manifest, the dropped image is missing and the relabelled image has its new label.
	mended := old[2]
	mended.Given = other(given)
	w.list = []suspects.Suspect{mended, old[1], old[5]}
	manifest := w.manifest
	w.manifest = w.review.Out
	if r, err = w.reopened(nil); err != nil {
		t.Fatal(err)
	}
	if d := r.decided; fmt.Sprint(counts(d)) != "[1 2 0 0]" {
		t.Errorf("the corrected manifest: %v, expected one undecided and two kept", counts(d))
	}
	if do, e := r.collectCorrections(); len(do) != 0 || e.Rows != 99 {
		t.Errorf("corrected again: %v, %+v", do, e)
	}

	// If a label has changed since, the decision that the old label was right is not used.
	w.manifest = manifest
	w.write("m.csv", strings.Replace(w.read("m.csv"), old[1].Path+","+old[1].Given,
		old[1].Path+","+other(old[1].Given), 1))
	changed := old[1]
	changed.Given = other(old[1].Given)
	w.list = []suspects.Suspect{changed, old[2]}
	if r, err = w.reopened(nil); err != nil {
		t.Fatal(err)
	}
	if d := r.decided; fmt.Sprint(counts(d)) != "[1 0 0 1]" {
		t.Errorf("a changed label: %v", counts(d))
	}
	a := w.decide("t", 200, on(0, "keep", "", 1)) // the version of the decision stays 1
	if a.Applied[0].Version != 2 {
		t.Errorf("got %+v", a)
	}

	// An audit of other images cannot be opened with the same decisions file.
	w.write("other.csv", "path,label\nelse.png,class a\nmore.png,class b\n")
	w.list = []suspects.Suspect{{Path: "else.png", Given: "class a", Suggested: "class b"}}
	w.manifest = w.dir + "/other.csv"
	w.close()
	c, err := w.config()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(c); err == nil || !strings.Contains(err.Error(),
		"use another decisions file") {
		t.Errorf("other images: %v", err)
	}
	c.Decisions.Close()
	w.manifest, w.list = manifest, []suspects.Suspect{changed}
	w.open(nil)
}

func (w *world) read(name string) string {
	w.t.Helper()
	data, err := readFile(w.dir + "/" + name)
	if err != nil {
		w.t.Fatal(err)
	}
	return data
}

// TestReopened checks that a restarted server returns the same session and rows.
func TestReopened(t *testing.T) {
	w := newWorld(t, 100)
	w.decide("one", 200, on(0, "drop", "", 0), on(1, "keep", "", 0))
	w.decide("two", 200, on(2, "relabel", other(w.list[2].Given), 0))
	w.must("POST", "/api/undo", `{"tab":"one"}`, nil)
	_, before := w.ask("GET", "/api/session", "", nil)
	_, rows := w.ask("GET", "/api/rows?limit=200", "", nil)
	if _, err := w.reopened(nil); err != nil {
		t.Fatal(err)
	}
	if _, after := w.ask("GET", "/api/session", "", nil); after != before {
		t.Errorf("got %s, expected %s", after, before)
	}
	if _, after := w.ask("GET", "/api/rows?limit=200", "", nil); after != rows {
		t.Errorf("rows differ")
	}
	w.must("POST", "/api/redo", `{"tab":"one"}`, nil) // a tab that stayed open can continue
	w.must("POST", "/api/undo", `{"tab":"two"}`, nil)
}

// TestOrder checks that for any order of an audit's rows the images are sorted by rank, or by score without ranks, and
// keep their own neighbours.
func TestOrder(t *testing.T) {
	w := newWorld(t, 200)
	d, err := datasets.ReadFile(w.manifest, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := func(a *Audit) (out string) {
		for id, e := range a.table.images {
			out += fmt.Sprintln(id, a.table.id[e.Path], e.Path, e.Given, e.Suggested, e.Score, e.SupportGiven, e.Rank)
		}
		return out + a.table.sum
	}
	ranked, err := joined(d, w.list)
	if err != nil {
		t.Fatal(err)
	}
	want := text(ranked)
	if first := ranked.listFirstPaths(3); len(first) != 3 || first[0] != w.list[0].Path || first[2] != w.list[2].Path {
		t.Errorf("the first are %q", first)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, ranks := range []bool{true, false} {
		list := append([]suspects.Suspect(nil), w.list...)
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for i := range list {
			if !ranks {
				list[i].Rank = 0
			}
		}
		a, err := joined(d, list)
		if err != nil {
			t.Fatal(err)
		}
		got := text(a)
		if got != want {
			t.Errorf("ranks %v: got %.2000s, expected %.2000s", ranks, got, want)
		}
	}
}

// rowOf returns the row of an undecided image.
func rowOf(t *table, id int) row {
	d := &decided{table: t, votes: make([][]vote, len(t.images)), outcome: make([]outcome, len(t.images))}
	return d.newRow(id, "")
}

// counts returns the numbers of the audit's images that are undecided, kept, dropped and relabelled.
func counts(d *decided) []int {
	c := d.countProgress().Counts
	return []int{c[undecided], c[keep], c[drop], c[relabel]}
}
