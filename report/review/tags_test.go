package review

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/report/review/decisions"
)

// tag gives and takes tags, and expects a status.
func (w *world) tag(status, id int, give, take string) (a applied, text string) {
	w.t.Helper()
	list := func(words string) string {
		if words == "" {
			return "[]"
		}
		return `["` + strings.ReplaceAll(words, ";", `","`) + `"]`
	}
	body := one(fmt.Sprintf(`"id":%d,"action":"","version":0,"give":%s,"take":%s`, id, list(give), list(take)))
	got, text := w.ask("POST", "/api/decide", body, &a)
	if got != status {
		w.t.Fatalf("tag %s: %d %s, expected %d", body, got, text, status)
	}
	return a, text
}

// TestTags: given to images that may be decided or not, they choose in the grid, are counted, undone, and exported.
func TestTags(t *testing.T) {
	w := newWorld(t, 40)
	w.decide("t", 200, on(3, "drop", "", 0))
	w.tag(200, 3, "blurred;ask Ann", "")
	a, _ := w.tag(200, 39, "blurred", "")
	if s := a.Applied[0]; s.Decision != nil || !slices.Equal(s.Tags, []string{"blurred"}) ||
		fmt.Sprint(a.Tags) != "[{ask Ann 1} {blurred 2}]" {
		t.Errorf("got %+v", a)
	}
	var page struct {
		Total int
		Rows  []row
	}
	find := func(query string) (ids []int32) {
		w.must("GET", "/api/rows?scope=all&state=all&sort=suspect"+query, "", &page)
		for _, r := range page.Rows {
			ids = append(ids, r.ID)
		}
		return ids
	}
	for query, want := range map[string]string{"&tag=blurred": "[3 39]", "&tag=ask+Ann": "[3]", "&tag=none": "[]",
		"&tag=blurred&split=test": "[39]"} {
		if got := fmt.Sprint(find(query)); got != want {
			t.Errorf("%s: %s, expected %s", query, got, want)
		}
	}
	if find("&tag=ask+Ann"); page.Rows[0].Decision.Action != "drop" {
		t.Errorf("the decision does not stand: %+v", page.Rows)
	}
	// Another reviewer sees them without having decided, and takes one.
	w.must("GET", "/api/rows?scope=all&tag=ask+Ann&state=all&reviewer=Bob", "", &page)
	if r := page.Rows[0]; r.Decision != nil || !slices.Equal(r.Tags, []string{"ask Ann", "blurred"}) {
		t.Errorf("Bob sees %+v", r)
	}
	w.must("POST", "/api/decide", `{"tab":"b","reviewer":"Bob","decisions":[{"id":3,"action":"","version":0,`+
		`"take":["ask Ann"]}]}`, nil)
	var s session
	if w.must("GET", "/api/session", "", &s); fmt.Sprint(s.Tags) != "[{blurred 2}]" || s.Whole["drop"] != 1 {
		t.Errorf("got %+v", s.Tags)
	}
	w.must("POST", "/api/undo", `{"tab":"b","reviewer":"Bob"}`, &a)
	if !slices.Equal(a.Undone[0].Tags, []string{"ask Ann", "blurred"}) ||
		fmt.Sprint(a.Tags) != "[{ask Ann 1} {blurred 2}]" {
		t.Errorf("undone: %+v", a)
	}
	var changes struct{ Changed []state }
	if w.must("GET", "/api/changes?since=1", "", &changes); len(changes.Changed) != 2 ||
		len(changes.Changed[0].Tags) == 0 {
		t.Errorf("other tabs hear %+v", changes)
	}
	var past struct{ Entries []historyEntry }
	if w.must("GET", "/api/history", "", &past); !slices.Equal(past.Entries[1].Give, []string{"blurred"}) {
		t.Errorf("history %+v", past.Entries)
	}
	for give, want := range map[string]string{"a;a": "named twice", " a": "begins or ends", "a\\u0000": "control",
		strings.Repeat("x", 41): "at most 40", strings.Repeat("x;", 20) + "y": "at most 20"} {
		if _, text := w.tag(http.StatusBadRequest, 5, give, ""); !strings.Contains(text, want) {
			t.Errorf("%q: %s, expected %q", give, text, want)
		}
	}
	if _, text := w.tag(http.StatusBadRequest, 5, "", ""); !strings.Contains(text, "action is") {
		t.Errorf("no tag: %s", text)
	}
	for i := range decisions.MostTags {
		w.tag(200, 7, fmt.Sprint("tag", i), "")
	}
	if _, text := w.tag(http.StatusBadRequest, 7, "more", ""); !strings.Contains(text, "remove some") {
		t.Errorf("too many: %s", text)
	}
	// Decisions and tags are there when the file is opened again.
	w.close()
	w.open(nil)
	if got := fmt.Sprint(find("&tag=blurred")); got != "[3 39]" {
		t.Errorf("opened again: %s", got)
	}
}

// TestTagsExported: the list of decisions and the corrected manifest have a column of tags only where there are some.
func TestTagsExported(t *testing.T) {
	w := newWorld(t, 40)
	cells := func(text string) [][]string {
		list, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	export := func(form string) [][]string {
		_, text := w.ask("GET", "/api/export.csv?form="+form, "", nil)
		return cells(text)
	}
	w.decide("t", 200, on(0, "drop", "", 0))
	_, before := w.ask("GET", "/api/decided.csv", "", nil)
	mended := export("manifest")
	if strings.Contains(before, tagColumn) || len(mended[0]) != 4 || len(export("csv")[0]) != 4 {
		t.Errorf("without tags: %q, %q", cells(before)[0], mended[0])
	}
	w.tag(200, 0, "x", "")
	w.tag(200, 2, "x;=cmd", "")
	_, text := w.ask("GET", "/api/decided.csv", "", nil)
	list := cells(text)
	said := map[string]string{}
	for _, row := range list[1:] {
		said[row[5]] += row[len(row)-1]
	}
	if list[0][len(list[0])-1] != tagColumn || len(list) != 3 || said["drop"] != "x" || said["undecided"] != "'=cmd;x" {
		t.Errorf("decided: %q", list)
	}
	path := w.review.table.getImagePath(w.review.table.all[2].image)
	for _, form := range []string{"manifest", "csv", "imagefolder"} {
		again := export(form)
		if head := again[0]; head[len(head)-1] != tagColumn || len(again) != len(mended) {
			t.Errorf("%s: %q, %d rows", form, head, len(again))
		}
		for i, row := range again[1:] {
			want := ""
			if row[0] == path {
				want = "=cmd;x"
			}
			if row[len(row)-1] != want || form == "manifest" && !slices.Equal(row[:4], mended[i+1]) {
				t.Errorf("%s: %q, expected the tags %q", form, row, want)
			}
		}
	}
	// Exported again from what was exported, the column has another name.
	w.must("POST", "/api/export", "{}", nil)
	w.close()
	w.write("m.csv", readWhole(t, filepath.Join(w.dir, "fixed.csv")))
	w.list = nil
	w.open(func(c *Config) { c.Audit, c.AuditFile = nil, "" })
	if head := export("manifest")[0]; !slices.Equal(head[4:], []string{tagColumn, "winnow_tags"}) {
		t.Errorf("exported again: %q", head)
	}
	if d, err := datasets.ReadFile(w.manifest, datasets.ReadOptions{}); err != nil || d.Columns[1] != tagColumn {
		t.Errorf("%v, %v", d.Columns, err)
	}
}
