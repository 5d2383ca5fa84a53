package review

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/learn"
	"winnow/features"
	"winnow/report/review/decisions"
)

// wrongOf reports whether the label of image i of a made manifest is wrong, which the list does not tell.
func wrongOf(i int) bool { return i/4%5 == 0 }

// seer is a finder with vectors: images with wrong labels are alike.
type seer struct{ *fakeFinder }

func (seer) Rows(paths []string) (x blas32.General, absent int, err error) {
	x = features.NewMatrix(len(paths), 8)
	for n, path := range paths {
		var class, i int
		if _, err := fmt.Sscanf(path, "images/%d/Photo %d.png", &class, &i); err != nil {
			return x, 0, err
		}
		row := features.Row(x, n)
		row[i%4]++
		if wrongOf(i) {
			row[4]++
		}
		row[5] = float32(i%7) / 10
		row[6] = float32(i%11) / 10
	}
	return x, 0, nil
}

// learns is a world that learns.
func learns(t *testing.T, n int, o Learning) *world {
	t.Helper()
	w := newWorld(t, n)
	w.again(o)
	return w
}

func (w *world) again(o Learning) {
	w.t.Helper()
	if _, err := w.reopened(func(c *Config) { c.Finder, c.Learn = seer{w.finder}, o }); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) next(reviewer string, offset, limit int) (p nextPage) {
	w.t.Helper()
	w.must("POST", "/api/next", fmt.Sprintf(`{"reviewer":%q,"offset":%d,"limit":%d}`, reviewer, offset, limit), &p)
	return p
}

func idsOf(rows []row) (ids []int32) {
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

// answers decides rows by the truth and returns how many labels were wrong.
func (w *world) answers(reviewer string, rows []row) (wrong int) {
	w.t.Helper()
	for _, r := range rows {
		var class, i int
		if _, err := fmt.Sscanf(r.Path, "images/%d/Photo %d.png", &class, &i); err != nil {
			w.t.Fatal(err)
		}
		d := on(int(r.ID), "keep", "", int(r.Version))
		if wrongOf(i) {
			d = on(int(r.ID), "relabel", other(r.Given), int(r.Version))
			wrong++
		}
		w.as(reviewer, http.StatusOK, d)
	}
	return wrong
}

// TestNext: a first review begins with random images, then shows what it has learned to suspect, counts, and every
// question is stored with how it was chosen before it is shown.
func TestNext(t *testing.T) {
	const n = 600
	w := learns(t, n, Learning{Goal: learn.Find, Check: 30, Until: learn.Rule{Share: 0.02}, Rule: "2%"})
	total := 0
	for i := range w.list {
		var class, at int
		fmt.Sscanf(w.list[i].Path, "images/%d/Photo %d.png", &class, &at)
		if wrongOf(at) {
			total++
		}
	}
	stored := func() map[string]learn.Asked {
		list := map[string]learn.Asked{}
		err := w.review.Decisions.Questions(func(q decisions.Question) error {
			var s learn.Asked
			err := json.Unmarshal([]byte(q.Text), &s)
			list[q.Path] = s
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	found, decided, checked := 0, 0, 0
	var last nextPage
	for decided < 240 {
		page := w.next("Ann", 0, 20)
		if diff := cmp.Diff(idsOf(page.Rows), idsOf(w.next("Ann", 0, 20).Rows)); diff != "" {
			t.Fatalf("asked again, other images are on the screen: %s", diff)
		}
		asked := stored()
		for _, r := range page.Rows {
			s, ok := asked[r.Path]
			if !ok || r.Why == nil || s.How != r.Why.How ||
				s.How == learn.Random && (s.Draw == nil || s.Draw.Of <= 0) {
				t.Fatalf("image %d is shown as %+v, stored is %+v, %v", r.ID, r.Why, s, ok)
			}
			if decided < 30 && r.Why.How != learn.Random {
				t.Fatalf("image %d is no random one of the check", r.ID)
			}
		}
		if decided < 30 {
			checked += len(page.Rows)
			if c := page.Learned.Check; c == nil || c.Done != decided || c.Of != 30 {
				t.Errorf("after %d: %+v", decided, c)
			}
		}
		half := len(page.Rows) / 2
		found += w.answers("Ann", page.Rows[:half])
		if left := idsOf(w.next("Ann", 0, len(page.Rows)-half).Rows); !slices.Equal(left, idsOf(page.Rows[half:])) {
			t.Fatalf("what is on the screen has changed: %v, expected %v", left, idsOf(page.Rows[half:]))
		}
		found += w.answers("Ann", page.Rows[half:])
		decided += len(page.Rows)
		last = page
	}
	if checked != 30 {
		t.Errorf("the check has %d images, expected 30", checked)
	}
	if found < total*9/10 {
		t.Errorf("%d of %d wrong labels found by %d decisions", found, total, decided)
	}
	l := last.Learned
	if c := l.Count; !c.Known || c.Draws < 30 || c.Wrong.Low > float64(total) || c.Wrong.High < float64(total) {
		t.Errorf("%+v, expected an interval that holds %d", c, total)
	}
	if len(l.Trend) < 2 || l.Rule != "2%" {
		t.Errorf("%+v", l)
	}
	if l.Up+l.Down != 0 { // compared with what was shown last, by the same state
		t.Errorf("%d up, %d down", l.Up, l.Down)
	}
}

// TestLearnedAfterKill: what was acknowledged survives the end of the process at any moment, and gives the same state
// and the same next questions, as do the same decisions made elsewhere.
func TestLearnedAfterKill(t *testing.T) {
	o := Learning{Goal: learn.Find, Check: 10}
	play := func(w *world) (after learned) {
		for i := range 8 {
			w.answers("Ann", w.next("Ann", 0, 8).Rows)
			if i%3 != 0 {
				continue
			}
			w.must("POST", "/api/undo", `{"tab":"tab of Ann","reviewer":"Ann"}`, nil)
		}
		page := w.next("Ann", 0, 8)
		w.answers("Ann", page.Rows[:min(3, len(page.Rows))])
		return *w.next("Ann", 0, 1).Learned
	}
	w := learns(t, 200, o)
	before := play(w)
	killed := newWorld(t, 200)
	killed.server.Close()
	if err := killed.review.Decisions.Close(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-wal"} { // the file as it lies on the disk, without closing it
		copyOf(t, filepath.Join(w.dir, "m.decisions.db"+end), filepath.Join(killed.dir, "m.decisions.db"+end))
	}
	killed.open(func(c *Config) { c.Finder, c.Learn = seer{killed.finder}, o })
	after := *killed.next("Ann", 0, 1).Learned
	for _, l := range []*learned{&before, &after} { // of this process
		l.Trend, l.Up, l.Down, l.Pace = nil, 0, 0, 0
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("killed and started again: %s", diff)
	}
	if diff := cmp.Diff(idsOf(w.next("Ann", 0, 30).Rows), idsOf(killed.next("Ann", 0, 30).Rows)); diff != "" {
		t.Errorf("killed and started again, other images come next: %s", diff)
	}
	if diff := cmp.Diff(w.review.learnState().Wrong, killed.review.learnState().Wrong); diff != "" {
		t.Errorf("killed and started again: %s", diff)
	}
	same := learns(t, 200, o)
	play(same)
	same.next("Ann", 0, 30)
	if diff := cmp.Diff(w.review.learnState().Wrong, same.review.learnState().Wrong); diff != "" {
		t.Errorf("the same decisions elsewhere: %s", diff)
	}
}

func copyOf(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
}

// TestTogether: a second reviewer is asked the random images too, but nothing else that the first one was asked; who
// has not decided sees nothing of others, and the page tells how far people agree.
func TestTogether(t *testing.T) {
	w := learns(t, 300, Learning{Goal: learn.Find, Check: 12})
	ann := w.next("Ann", 0, 20).Rows
	w.answers("Ann", ann)
	suspected := w.next("Ann", 0, 10).Rows
	w.answers("Ann", suspected[:5])
	ben := w.next("Ben", 0, 24).Rows
	if got := idsOf(ben)[:len(ann)]; !slices.Equal(got, idsOf(ann)) {
		t.Errorf("Ben is asked %v first, expected the random images %v", got, idsOf(ann))
	}
	for _, r := range ben {
		if slices.Contains(idsOf(suspected), r.ID) && r.Why.How != learn.Random {
			t.Errorf("both are asked about %d", r.ID)
		}
		if len(r.Others) > 0 || r.Differ || r.Outcome != decisions.Undecided {
			t.Errorf("Ben sees what others said about %d: %+v", r.ID, r.seen)
		}
	}
	var history struct{ Entries []historyEntry }
	w.must("GET", "/api/history?reviewer=Ben", "", &history)
	for _, e := range history.Entries {
		if !e.Hidden || e.Action != "" || e.Label != "" {
			t.Errorf("Ben sees in the history %+v", e)
		}
	}
	w.answers("Ben", ben[:len(ann)-1])
	w.as("Ben", http.StatusOK, on(int(ben[len(ann)-1].ID), "drop", "", 0))
	a := w.next("Ben", 0, 1).Learned.Agreed
	if a == nil || a.Reviewers != 2 || a.Images != len(ann) || a.Measure != "cohen" || a.Agreed >= 1 ||
		a.Low > a.Kappa || a.High < a.Kappa {
		t.Errorf("agreement %+v", a)
	}
	if e, err := w.review.exportManifest(); err != nil || e.Agreement == nil || *e.Agreement != *a {
		t.Errorf("exported: %+v, %v", e, err)
	}
}

// TestSkip: the check can be left; its draws that were answered count, the others do not come back.
func TestSkip(t *testing.T) {
	for _, answered := range []int{0, 3, 10} {
		w := learns(t, 300, Learning{Goal: learn.Find, Check: 40})
		rows := w.next("Ann", 0, 10).Rows
		w.answers("Ann", rows[:answered])
		var a applied
		w.must("POST", "/api/skip", `{}`, &a)
		if a.Learned == nil || a.Learned.Check != nil {
			t.Errorf("after %d answers the check goes on: %+v", answered, a.Learned)
		}
		page := w.next("Ann", 0, 10)
		for _, r := range page.Rows {
			if r.Why.How == learn.Random {
				t.Errorf("after %d answers image %d is shown as a random one", answered, r.ID)
			}
		}
		if len(page.Rows) != 10 || page.Learned.Count.Draws != answered {
			t.Errorf("after %d answers: %d rows, %+v", answered, len(page.Rows), page.Learned.Count)
		}
		w.again(Learning{Goal: learn.Find, Check: 40})
		if !slices.Equal(idsOf(w.next("Ann", 0, 10).Rows), idsOf(page.Rows)) {
			t.Errorf("after %d answers: started again, other images are shown", answered)
		}
	}
}

// TestToTheEnd: every image comes once, also those of which a reviewer is unsure.
func TestToTheEnd(t *testing.T) {
	for _, goal := range learn.Goals() {
		w := learns(t, 100, Learning{Goal: goal})
		seen := map[int32]bool{}
		for {
			rows := w.next("", 0, 24).Rows
			if len(rows) == 0 {
				break
			}
			for n, r := range rows {
				if seen[r.ID] {
					t.Fatalf("%s: image %d comes twice", goal, r.ID)
				}
				seen[r.ID] = true
				w.as("", http.StatusOK, on(int(r.ID), []string{"keep", "unsure"}[n%2], "", 0))
			}
		}
		if len(seen) != len(w.list) && goal != learn.Measure || len(seen) < len(w.list)*9/10 {
			t.Errorf("%s: %d of %d images were shown", goal, len(seen), len(w.list))
		}
	}
}

func TestNextRefused(t *testing.T) {
	w := newWorld(t, 40)
	for _, path := range []string{"/api/next", "/api/skip"} {
		body := map[string]string{"/api/next": `{"offset":0,"limit":5}`, "/api/skip": `{}`}[path]
		if status, text := w.ask("POST", path, body, nil); status != http.StatusNotFound {
			t.Errorf("%s of a list with one order: %d %s", path, status, text)
		}
	}
	w.again(Learning{Goal: learn.Find})
	for _, body := range []string{`{"offset":-1,"limit":5}`, `{"offset":0,"limit":0}`, `{"offset":0,"limit":1000}`,
		`{"offset":0,"limit":5,"reviewer":" x"}`} {
		if status, text := w.ask("POST", "/api/next", body, nil); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
}

// TestKappa compares with worked examples: of Cohen's kappa 0.4, and the one of Fleiss' with 14 raters, 0.210.
func TestKappa(t *testing.T) {
	var two verdicts
	two.answers = 2
	for _, c := range []struct {
		item  []int32
		times int
	}{{[]int32{0, 0}, 20}, {[]int32{0, 1}, 5}, {[]int32{1, 0}, 10}, {[]int32{1, 1}, 15}} {
		for range c.times {
			two.items = append(two.items, c.item)
		}
	}
	agreed, kappa, low, high := two.computeKappaInterval(true)
	if agreed != 0.7 || math.Abs(kappa-0.4) > 1e-12 || low < 0.1 || low > 0.2 || high < 0.6 || high > 0.7 {
		t.Errorf("Cohen: %v %v (%v to %v)", agreed, kappa, low, high)
	}
	many := verdicts{answers: 5}
	for _, counts := range [][]int{{0, 0, 0, 0, 14}, {0, 2, 6, 4, 2}, {0, 0, 3, 5, 6}, {0, 3, 9, 2, 0}, {2, 2, 8, 1, 1},
		{7, 7, 0, 0, 0}, {3, 2, 6, 3, 0}, {2, 5, 3, 2, 2}, {6, 5, 2, 1, 0}, {0, 2, 2, 3, 7}} {
		var item []int32
		for k, n := range counts {
			for range n {
				item = append(item, int32(k))
			}
		}
		many.items = append(many.items, item)
	}
	if _, kappa, low, high := many.computeKappaInterval(false); math.Abs(kappa-0.210) > 5e-4 || low > 0.15 ||
		high < 0.25 {
		t.Errorf("Fleiss: %v (%v to %v), expected 0.210", kappa, low, high)
	}
	alike := verdicts{answers: 2, items: [][]int32{{0, 0}, {1, 1}, {0, 0}, {1, 1}}}
	if _, kappa, low, high := alike.computeKappaInterval(true); kappa != 1 || high != 1 || low > 0 {
		t.Errorf("four images alike: %v (%v to %v)", kappa, low, high)
	}
}

// TestCheckWhereNeeded: a first review begins with random images unless the audit knows how many labels are wrong, or
// they are asked for.
func TestCheckWhereNeeded(t *testing.T) {
	w := newWorld(t, 40)
	for _, known := range []bool{false, true} {
		for i := range w.list {
			w.list[i].RateKnown = known
		}
		for _, asked := range []bool{false, true} {
			w.again(Learning{Goal: learn.Find, Check: 5, Asked: asked})
			r := w.review
			r.mutex.RLock()
			left, _ := r.learning.listFirstDraws()
			r.mutex.RUnlock()
			if want := !known || asked; (left == 5) != want {
				t.Errorf("known %v, asked %v: %d random images, expected them: %v", known, asked, left, want)
			}
		}
	}
}
