package review

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit/suspects"
	"winnow/report/review/decisions"
)

// as sends decisions of a reviewer, and fails the test if the status differs.
func (w *world) as(reviewer string, status int, list ...map[string]any) (a struct {
	Applied, Conflicts []state
	Counts             map[string]int
	Reviewers          []progressOf
	Error              string
}) {
	w.t.Helper()
	body, err := json.Marshal(map[string]any{"decisions": list, "tab": "tab of " + reviewer, "reviewer": reviewer})
	if err != nil {
		w.t.Fatal(err)
	}
	if got, text := w.ask("POST", "/api/decide", string(body), &a); got != status {
		w.t.Fatalf("%s: %d %s, expected %d", body, got, text, status)
	}
	return a
}

func withNote(d map[string]any, note string) map[string]any { d["note"] = note; return d }

// found returns the ids of the images that a query selects.
func (w *world) found(query string) (ids []int) {
	w.t.Helper()
	var a struct{ Rows []row }
	w.must("GET", "/api/rows?limit=200&"+query, "", &a)
	for _, r := range a.Rows {
		ids = append(ids, r.ID)
	}
	return ids
}

// TestOutcome checks the outcome for combinations of votes: the majority of the reviewers who were sure decides.
func TestOutcome(t *testing.T) {
	for text, want := range map[string]string{
		"": "undecided", "k": "keep", "u": "unsure", "uu": "unsure", "-": "undecided", "-u": "unsure", "ku": "keep",
		"uk": "keep", "uuk": "keep", "kd": "disagreed", "kdu": "disagreed",
		"kkd": "keep", "dkk": "keep", "kdrr": "disagreed", "rr": "relabel 7", "rs": "disagreed", "rsr": "relabel 7",
		"krs": "disagreed", "kkrs": "disagreed", "kkkrs": "keep", "ddk-": "drop",
	} {
		var votes []vote
		for _, c := range text {
			said := map[rune]outcome{'k': {keep, ""}, 'd': {drop, ""}, 'r': {relabel, "7"}, 's': {relabel, "8"},
				'u': {unsure, ""}, '-': {undecided, ""}}[c]
			votes = append(votes, vote{Image: decisions.Image{Action: said.Action, Label: said.Label}})
		}
		for range len(votes) + 1 { // check every rotation of the votes
			o := decideByVotes(votes)
			if got := strings.TrimSpace(string(o.Action) + " " + o.Label); got != want {
				t.Errorf("%s: got %s, expected %s", text, got, want)
			}
			if len(votes) > 0 {
				votes = append(votes[1:], votes[0])
			}
		}
	}
}

// TestUnsureAndNotes checks that unsure keeps the given label, and that a note stays until it is changed.
func TestUnsureAndNotes(t *testing.T) {
	w := newWorld(t, 100)
	a := w.as("", 200, withNote(on(0, "unsure", "", 0), "two birds"), on(1, "unsure", "", 0),
		withNote(on(2, "undecided", "", 0), "ask Ben"), on(3, "drop", "", 0))
	if a.Applied[0].Note != "two birds" || a.Applied[0].Decision.Action != "unsure" ||
		a.Applied[2].Decision != nil || a.Applied[2].Note != "ask Ben" || a.Counts["unsure"] != 2 ||
		a.Counts["undecided"] != 87 {
		t.Errorf("got %+v", a)
	}
	if got := w.found("state=unsure"); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("unsure: %v", got)
	}
	if got := w.found("state=noted"); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("noted: %v", got)
	}
	if got := w.found("state=decided"); !slices.Equal(got, []int{0, 1, 3}) {
		t.Errorf("decided: %v", got)
	}
	var s session
	w.must("GET", "/api/session", "", &s)
	if s.Precision.Judged != 1 || s.Precision.Wrong != 1 {
		t.Errorf("unsure decisions affect the precision: %+v", s.Precision)
	}
	a = w.as("", 200, on(0, "keep", "", 1))
	if a.Applied[0].Note != "two birds" {
		t.Errorf("the note is lost: %+v", a.Applied[0])
	}
	var u applied
	w.must("POST", "/api/undo", `{"tab":"tab of "}`, &u)
	if s := u.Undone[0]; s.Decision.Action != "unsure" || s.Note != "two birds" {
		t.Errorf("undone: %+v", s)
	}
	w.as("", 200, withNote(on(0, "unsure", "", 3), ""))
	if got := w.found("state=noted"); !slices.Equal(got, []int{2}) {
		t.Errorf("after deleting a note: %v", got)
	}
	var e Exported
	w.must("POST", "/api/export", "{}", &e)
	if e != (Exported{Path: w.review.Out, Rows: 99, Dropped: 1, Unsure: 2, Undecided: 87}) {
		t.Errorf("got %+v", e)
	}
	var gone string
	for line := range strings.Lines(w.read("m.csv")) {
		if !strings.HasPrefix(line, w.list[3].Path+",") {
			gone += line
		}
	}
	if diff := cmp.Diff(gone, w.read("fixed.csv")); diff != "" {
		t.Errorf("the label of an unsure image changed: %s", diff)
	}
}

// TestReviewers checks that each reviewer has a separate list of undecided images and is shown the decisions of others
// only after deciding, and that the corrected manifest follows the majority.
func TestReviewers(t *testing.T) {
	w := newWorld(t, 100)
	label := func(id int) string { return other(w.list[id].Given) }
	w.as("Ann", 200, on(0, "drop", "", 0), on(1, "keep", "", 0), on(2, "relabel", label(2), 0),
		on(3, "unsure", "", 0), on(4, "keep", "", 0))
	w.as("Ben", 200, on(0, "drop", "", 0), withNote(on(1, "drop", "", 0), "blurred"), on(2, "relabel", label(2), 0),
		withNote(on(3, "drop", "", 0), "=1+1"))
	a := w.as("Cyd", 200, on(1, "drop", "", 0), on(2, "keep", "", 0))
	if diff := cmp.Diff([]progressOf{{"Ann", 5}, {"Ben", 4}, {"Cyd", 2}}, a.Reviewers); diff != "" {
		t.Error(diff)
	}
	w.as("Ben", 200, on(4, "drop", "", 0))
	var rows struct{ Rows []row }
	w.must("GET", "/api/rows?limit=5&reviewer=Ann", "", &rows)
	r := rows.Rows[1]
	if r.Decision.Action != "keep" || r.Version != 1 || r.Outcome != "drop" || !r.Differ || len(r.Others) != 2 ||
		r.Others[0].Reviewer != "Ben" || r.Others[0].Action != "drop" || r.Others[0].Note != "blurred" ||
		r.Others[1].Reviewer != "Cyd" {
		t.Errorf("got %+v", r)
	}
	if r := rows.Rows[0]; r.Differ || len(r.Others) != 1 {
		t.Errorf("got %+v", r)
	}
	if r := rows.Rows[2]; r.Outcome != "relabel" || r.seen.Label != label(2) || !r.Differ {
		t.Errorf("got %+v", r)
	}
	w.must("GET", "/api/rows?limit=5&reviewer=Dan", "", &rows)
	if r := rows.Rows[4]; r.Decision != nil || r.Version != 0 || len(r.Others) != 0 || r.Differ ||
		r.Outcome != "undecided" {
		t.Errorf("a reviewer without a decision is shown other decisions: %+v", r)
	}
	for query, want := range map[string][]int{
		"state=decided&reviewer=Cyd": {1, 2}, "state=decided&reviewer=Dan": nil,
		"state=decided&reviewer=Dan&by=*": {0, 1, 2, 3, 4}, "state=keep&reviewer=Dan&by=%3DAnn": {1, 4},
		"state=differ": {1, 2, 4}, "state=disagreed&by=*": {4},
		"state=drop&by=*": {0, 1, 3}, "state=noted": {1, 3}, "state=drop&by=%3DDan": nil,
	} {
		if got := w.found(query); !slices.Equal(got, want) {
			t.Errorf("%s: %v, expected %v", query, got, want)
		}
	}
	if got := len(w.found("state=undecided&reviewer=Ben")); got != 85 {
		t.Errorf("Ben has %d to decide", got)
	}
	var e Exported
	w.must("POST", "/api/export", "{}", &e)
	if e != (Exported{Path: w.review.Out, Rows: 97, Dropped: 3, Relabelled: 1, Disagreed: 1, Undecided: 85}) {
		t.Errorf("got %+v", e)
	}
	_, text := w.ask("GET", "/api/decided.csv", "", nil)
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) != 13 {
		t.Fatalf("%d lines, %v: %s", len(lines), err, text)
	}
	for _, line := range lines {
		if line[0] == w.list[1].Path && line[4] == "Ben" &&
			(line[1] != w.list[1].Given || line[2] != "drop" || line[5] != "drop" || line[7] != "blurred" ||
				line[8] == "") {
			t.Errorf("got %q", line)
		}
	}
	if !strings.Contains(text, ",drop,,'=1+1,") {
		t.Errorf("a note is a formula: %s", text)
	}
	for _, line := range lines[1:] {
		for i, cell := range line {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) || line[9] != "quoted" {
				t.Errorf("%s is %q, as a formula, in %q", lines[0][i], cell, line)
			}
		}
	}
	// A restarted server has the same state, and each reviewer can undo only their own decisions.
	before := w.found("state=differ")
	if _, err := w.reopened(nil); err != nil {
		t.Fatal(err)
	}
	if _, again := w.ask("GET", "/api/decided.csv", "", nil); again != text ||
		!slices.Equal(w.found("state=differ"), before) {
		t.Errorf("opened again: %s", again)
	}
	var u applied
	w.must("POST", "/api/undo", `{"tab":"tab of Cyd","reviewer":"Cyd"}`, &u)
	if len(u.Undone) != 2 || u.Undone[0].Decision != nil || len(u.Undone[0].Others) != 0 ||
		u.Undone[0].Outcome != "undecided" || u.Counts["disagreed"] != 2 {
		t.Errorf("undone: %+v", u)
	}
	var c struct{ Changed []state }
	w.must("GET", "/api/changes?since=3&reviewer=Ann", "", &c)
	if i := slices.IndexFunc(c.Changed, func(s state) bool { return s.ID == 4 }); i < 0 ||
		c.Changed[i].Version != 1 || c.Changed[i].Others[0].Reviewer != "Ben" ||
		c.Changed[i].Others[0].Action != "drop" {
		t.Errorf("Ann's changes are %+v", c)
	}
}

// TestDecisionsOnGoneImages checks that decisions on images that are not in the manifest are counted and listed.
func TestDecisionsOnGoneImages(t *testing.T) {
	w := newWorld(t, 100)
	first := w.list[0].Path
	w.decide("t", 200, on(0, "drop", "", 0), on(1, "keep", "", 0), on(2, "relabel", other(w.list[2].Given), 0),
		on(3, "keep", "", 0), on(4, "keep", "", 0))
	text, err := os.ReadFile(w.manifest)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, w.list[0].Path+",") && !strings.HasPrefix(line, w.list[2].Path+",") {
			left = append(left, line)
		}
	}
	if len(left) != 99 { // a header and 98 of 100 rows
		t.Fatalf("%d lines are left", len(left))
	}
	w.write("m.csv", strings.Join(left, ""))
	w.close()
	w.list = slices.DeleteFunc(slices.Clone(w.list), func(s suspects.Suspect) bool {
		return s.Path == w.list[0].Path || s.Path == w.list[2].Path
	})
	w.open(nil)
	var e Exported
	w.must("POST", "/api/export", "{}", &e)
	if e.Gone != 2 || e.Example == "" || e.Kept != 3 || e.Dropped+e.Relabelled != 0 {
		t.Errorf("got %+v", e)
	}
	if said := e.Text(); !strings.Contains(said,
		"2 decisions on images that are not in the manifest, such as "+e.Example) {
		t.Errorf("said %q", said)
	}
	var list strings.Builder
	if err := w.review.writeList(&list); err != nil {
		t.Fatal(err)
	}
	if text := list.String(); strings.Count(text, "\n") != 6 || !strings.Contains(text, first+",") {
		t.Errorf("listed %s", text)
	}
	if said := w.review.Summary(); !strings.Contains(said, "2 decisions are on images that are not in the manifest") {
		t.Errorf("said %q", said)
	}
}
