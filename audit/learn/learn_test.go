package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
)

// world is images of a few classes, some with wrong labels, and an audit whose probabilities tell by a given strength
// which.
type world struct {
	Evidence
	wrong []bool
	truth []int
	count int
}

// newWorld draws n images in classes of 5 clusters each. habit says that all wrong labels are of one cluster, which the
// audit does not see.
func newWorld(t testing.TB, seed uint64, n int, rate, strength float64, habit bool) *world {
	t.Helper()
	const classes, dim = 4, 12
	rng := rand.New(rand.NewPCG(seed, 7))
	centres := make([][]float32, classes*5)
	for c := range centres {
		for range dim {
			centres[c] = append(centres[c], float32(rng.NormFloat64()))
		}
	}
	w := &world{Evidence: Evidence{Vectors: features.NewMatrix(n, dim), Classes: classes}}
	for i := range n {
		c := rng.IntN(len(centres))
		k := c % classes
		for j := range dim {
			w.Vectors.Data[i*dim+j] = centres[c][j] + 0.35*float32(rng.NormFloat64())
		}
		p := rate
		if habit {
			if p = 0.02; c == 3 || c == 8 {
				p = 0.8
			}
		}
		given, wrong := k, rng.Float64() < p
		if wrong {
			given = (k + 1) % classes
			w.count++
		}
		odds := rng.NormFloat64() - 2
		if wrong {
			odds += strength
		}
		w.Given, w.truth, w.wrong = append(w.Given, given), append(w.truth, k), append(w.wrong, wrong)
		w.Right = append(w.Right, 1-invertLogit(odds))
		w.Suggested = append(w.Suggested, (given+classes-1)%classes)
	}
	order := features.AllRows(n)
	slices.SortStableFunc(order, func(a, b int) int {
		if w.Right[a] < w.Right[b] {
			return -1
		}
		return 1
	})
	w.Rank, w.Group, w.Odd = make([]int, n), make([]int, n), make([]bool, n)
	for r, i := range order {
		w.Rank[i] = r + 1
	}
	w.Better, w.Fit = slices.Repeat([]float64{math.NaN()}, n), slices.Repeat([]float64{math.NaN()}, n)
	return w
}

func (w *world) learner(t testing.TB) *Learner {
	t.Helper()
	l, err := New(context.Background(), w.Evidence)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// answer answers a question from the truth.
func (w *world) answer(q Question, seq int64, reviewer string) Decision {
	d := Decision{Question: q, Seq: seq, Reviewer: reviewer, Verdict: Right, Label: None}
	if w.wrong[q.Image] {
		d.Verdict, d.Label = Wrong, w.truth[q.Image]
	}
	return d
}

// play answers n questions.
func (w *world) play(l *Learner, goal Goal, n, batch int, seed uint64) (decisions []Decision, s *State) {
	s = l.Learn(nil)
	for len(decisions) < n {
		for _, q := range s.Next(min(batch, n-len(decisions)), goal, Showing{Seed: seed}) {
			decisions = append(decisions, w.answer(q, int64(len(decisions)+1), "ann"))
		}
		s = l.Learn(decisions)
	}
	return decisions, s
}

// byList is how many errors the first n of the list hold.
func (w *world) byList(n int) (found int) {
	for i, wrong := range w.wrong {
		if wrong && w.Rank[i] <= n {
			found++
		}
	}
	return found
}

// TestHabitsAreLearned: of mistakes that the audit cannot see, decisions find nearly twice as many as the list.
func TestHabitsAreLearned(t *testing.T) {
	w := newWorld(t, 1, 1200, 0, 0.7, true)
	_, s := w.play(w.learner(t), Find, 200, 20, 0)
	if list := w.byList(200); s.Count().Found < list*3/2 {
		t.Errorf("found %d of %d errors, expected many more than the %d of the list", s.Count().Found, w.count, list)
	}
	if s.Trust < 0.9 {
		t.Errorf("trust in learning is %.2f, expected nearly 1", s.Trust)
	}
}

// TestNeverWorseThanTheList: where the audit knows all there is to know, the order stays about that of the list.
func TestNeverWorseThanTheList(t *testing.T) {
	for _, rate := range []float64{0.05, 0.2, 0.5} {
		w := newWorld(t, 2, 500, rate, 6, false)
		l := w.learner(t)
		decisions, _ := w.play(l, Find, 450, 30, 0)
		found := 0
		for k, d := range decisions {
			if d.Verdict == Wrong {
				found++
			}
			if n := k + 1; n%50 == 0 && float64(found) < 0.98*float64(w.byList(n))-1 {
				t.Errorf("rate %.2f: after %d decisions %d errors are found, down the list %d", rate, n, found,
					w.byList(n))
			}
		}
	}
}

// TestSameDecisionsSameState: the state depends on the decisions alone, not on how they came.
func TestSameDecisionsSameState(t *testing.T) {
	w := newWorld(t, 3, 400, 0.2, 2, false)
	one := w.learner(t)
	decisions, s := w.play(one, Find, 120, 15, 0)
	again := w.learner(t).Learn(decisions)
	view := func(s *State) any {
		return []any{s.Wrong, s.Settled, s.Suggested, s.Trust, s.Count(), s.Next(30, Find, Showing{}), s.Outlook(50)}
	}
	if diff := cmp.Diff(view(s), view(again)); diff != "" {
		t.Errorf("learned at once the state differs (-in steps +at once):\n%s", diff)
	}
	undone := one.Learn(decisions[:60])
	if diff := cmp.Diff(view(w.learner(t).Learn(decisions[:60])), view(undone)); diff != "" {
		t.Errorf("after taking decisions back the state differs (-never made +taken back):\n%s", diff)
	}
}

// TestCountHolds: intervals hold the truth, whether the audit helps or not, are never wider than counting as many draws
// alone, and narrower where the audit helps.
func TestCountHolds(t *testing.T) {
	const reviews = 40
	for _, c := range []struct{ rate, strength float64 }{{0.15, 0}, {0.15, 4}, {0.02, 2}} {
		t.Run(fmt.Sprintf("%v wrong, strength %v", c.rate, c.strength), func(t *testing.T) {
			w := newWorld(t, 4, 600, c.rate, c.strength, false)
			w.Vectors = features.NewMatrix(0, 0) // it would take longer
			l := w.learner(t)
			held, always, predicted, width, counting := 0, 0, 0, 0.0, 0.0
			for r := range reviews {
				_, s := w.play(l, Measure, 150, 75, uint64(r+1))
				c := s.Count()
				truth := float64(w.count)
				if c.Wrong.Low <= truth && truth <= c.Wrong.High {
					held++
				}
				if left := truth - float64(c.Found); c.Always.Low <= left && left <= c.Always.High {
					always++
				}
				if c.Predicted {
					predicted++
				}
				alone := Share(wrongOf(s.draws), len(s.draws))
				if wide, most := c.Wrong.High-c.Wrong.Low, 600*(alone.High-alone.Low); wide > most+1e-6 {
					t.Errorf("review %d: the interval is %.1f wide, that of counting alone %.1f", r, wide, most)
				}
				width += (c.Wrong.High - c.Wrong.Low) / reviews
				counting += 600 * (alone.High - alone.Low) / reviews
			}
			// With coverage .95, fewer than 33 of 40 have a probability of .001.
			if held < 33 || always < 33 {
				t.Errorf("of %d intervals %d hold the truth, %d at all times", reviews, held, always)
			}
			if c.strength == 4 && (width > 0.8*counting || predicted < reviews*3/4) {
				t.Errorf("with a good audit %d of %d intervals are by prediction, and %.0f wide, expected much less "+
					"than %.0f", predicted, reviews, width, counting)
			}
		})
	}
}

// TestSuspectsDoNotCount: the estimate by draws is not moved by how many suspects were wrong, and imports count as
// decided only.
func TestSuspectsDoNotCount(t *testing.T) {
	w := newWorld(t, 5, 600, 0.2, 1, false)
	l := w.learner(t)
	var decisions []Decision
	for i := range w.Given { // an import of every wrong label of half of the images
		if i < 300 && w.wrong[i] {
			q := Question{Image: i, How: Import}
			decisions = append(decisions, w.answer(q, int64(len(decisions)+1), "studio"))
		}
	}
	c := l.Learn(decisions).Count()
	if c.Known || c.Draws != 0 || c.Wrong.Low != float64(c.Found) || c.Wrong.High != 600 {
		t.Errorf("after an import: %+v, expected nothing known beyond the %d found", c, c.Found)
	}
}

// TestTwoReviewers: a tie is open, a third answer settles it, and an answer may change.
func TestTwoReviewers(t *testing.T) {
	say := func(image int, who string, v Verdict, seq int64) Decision {
		return Decision{Question: Question{Image: image}, Seq: seq, Reviewer: who, Verdict: v, Label: None}
	}
	list := []Decision{say(0, "ann", Wrong, 1), say(0, "bob", Right, 2), say(1, "ann", Right, 3),
		say(1, "bob", Unsure, 4), say(2, "ann", Wrong, 5), say(2, "ann", Right, 6), say(99, "ann", Wrong, 7)}
	by, order := sumOutcomes(list, 3)
	if diff := cmp.Diff([]int{0, 1, 2}, order); diff != "" {
		t.Error(diff)
	}
	for image, want := range []Verdict{Unsure, Right, Right} {
		if got := by[image].verdict; got != want {
			t.Errorf("image %d: %d, expected %d", image, got, want)
		}
	}
	if o := by[0]; !o.settledBy(1) || o.settledBy(2) {
		t.Errorf("a tie settles image 0: %+v", o)
	}
	by, _ = sumOutcomes(append(list, say(0, "cy", Wrong, 8)), 3)
	if o := by[0]; o.verdict != Wrong || !o.settledBy(8) || o.settledBy(7) {
		t.Errorf("after a third answer: %+v", o)
	}
}

// TestWithoutAllVectors: images without a vector are judged beside those with one, and all are found.
func TestWithoutAllVectors(t *testing.T) {
	w := newWorld(t, 1, 900, 0, 0.7, true)
	w.Vectors = features.Part(w.Vectors, 0, 600)
	_, s := w.play(w.learner(t), Find, 200, 20, 0)
	first := 0
	for i, v := range s.Settled {
		if v == Wrong && i < 600 {
			first++
		}
	}
	if list := w.byList(200); first < list || s.Count().Found == first {
		t.Errorf("found %d of %d errors, %d of them among the images with vectors, by the list %d", s.Count().Found,
			w.count, first, list)
	}
	_, s = w.play(w.learner(t), Find, 900, 100, 0)
	if c := s.Count(); c.Found != w.count {
		t.Errorf("found %d of %d errors in all", c.Found, w.count)
	}
}

// TestCopiesAreOneQuestion: of copies with one label one is shown, with the others listed.
func TestCopiesAreOneQuestion(t *testing.T) {
	w := newWorld(t, 6, 200, 0.2, 2, false)
	for i := range 20 {
		w.Group[i], w.Given[i], w.Right[i] = 1, 0, 0.01
	}
	s := w.learner(t).Learn(nil)
	shown := 0
	for _, q := range s.Next(30, Find, Showing{}) {
		if w.Group[q.Image] == 1 {
			if shown++; len(q.Copies) != 19 {
				t.Errorf("image %d has %d copies, expected 19", q.Image, len(q.Copies))
			}
		}
	}
	if shown != 1 {
		t.Errorf("%d of 20 copies are asked about, expected 1", shown)
	}
}

// TestDrawsAreUnbiased: the mean of T_t over draws of one state is the number of wrong labels.
func TestDrawsAreUnbiased(t *testing.T) {
	w := newWorld(t, 8, 300, 0.2, 2, false)
	l := w.learner(t)
	decisions, s := w.play(l, Find, 60, 20, 0)
	sum, square, n := 0.0, 0.0, 0
	for seed := range uint64(40) {
		more := slices.Clone(decisions)
		for _, q := range s.Next(50, Measure, Showing{Seed: seed + 1}) {
			if q.Draw.Low > -q.Draw.Mean/q.Draw.Chance+1e-9 || q.Draw.High < (1-q.Draw.Mean)/q.Draw.Chance-1e-9 {
				t.Fatalf("a draw is outside its bounds: %+v", *q.Draw)
			}
			more = append(more, w.answer(q, int64(len(more)+1), "ann"))
		}
		for _, d := range l.Learn(more).draws {
			if d.Seq == s.Seq {
				sum, square, n = sum+d.total, square+d.total*d.total, n+1
			}
		}
	}
	mean := sum / float64(n)
	se := math.Sqrt((square/float64(n) - mean*mean) / float64(n))
	if math.Abs(mean-float64(w.count)) > 4*se {
		t.Errorf("the mean of %d draws is %.1f ± %.1f, expected %d", n, mean, se, w.count)
	}
}

// TestRuleKeepsItsPromise: reviews that end when at most 4 % should be left leave that much or less, in 95 of 100.
func TestRuleKeepsItsPromise(t *testing.T) {
	w := newWorld(t, 10, 400, 0.15, 2, false)
	w.Vectors = features.NewMatrix(0, 0)
	l := w.learner(t)
	broken, saved := 0, 0
	const reviews = 12
	for r := range reviews {
		var decisions []Decision
		s := l.Learn(nil)
		for !s.Met(Rule{Share: 0.04}, 0) {
			goal := Find
			if len(decisions) < 120 {
				goal = Measure
			}
			for _, q := range s.Next(40, goal, Showing{Seed: uint64(r) + 1}) {
				decisions = append(decisions, w.answer(q, int64(len(decisions)+1), "ann"))
			}
			s = l.Learn(decisions)
		}
		saved += 400 - len(decisions)
		if w.count-s.Count().Found > 16 {
			broken++
		}
	}
	if broken > 3 || saved < 20*reviews { // more than 3 of 12 at .05 each have a probability of .002
		t.Errorf("%d of %d reviews broke the promise; %d decisions were saved", broken, reviews, saved)
	}
}

func TestParseRule(t *testing.T) {
	for text, want := range map[string]Rule{"1%": {Share: 0.01}, " 0.5 % ": {Share: 0.005},
		"50 per hour": {PerHour: 50}, "2.5/h": {PerHour: 2.5}} {
		if got, err := ParseRule(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "%", "1", "0%", "100%", "-1%", "NaN%", "inf per hour", "1% per hour"} {
		if got, err := ParseRule(text); err == nil {
			t.Errorf("%q: %+v, expected an error", text, got)
		}
	}
}

// TestOutlook: the intervals of how many of the next images are wrong hold what is then found.
func TestOutlook(t *testing.T) {
	held, asked := 0, 0
	for seed := range uint64(3) {
		w := newWorld(t, 20+seed, 500, 0.2, 1.5, seed%2 == 0)
		l := w.learner(t)
		var decisions []Decision
		s := l.Learn(nil)
		for len(decisions) < 350 {
			next, found := s.Outlook(50), 0.0
			for _, q := range s.Next(50, Find, Showing{}) {
				d := w.answer(q, int64(len(decisions)+1), "ann")
				if d.Verdict == Wrong {
					found++
				}
				decisions = append(decisions, d)
			}
			if s.Seq > 0 { // before any answer it is the audit's opinion
				if asked++; next.Low <= found && found <= next.High {
					held++
				}
			}
			s = l.Learn(decisions)
		}
	}
	t.Logf("%d of %d", held, asked)
	if float64(held) < 0.85*float64(asked) {
		t.Errorf("%d of %d intervals hold what was found", held, asked)
	}
}

// TestQuestionsAreStored: a question comes back from JSON as it was.
func TestQuestionsAreStored(t *testing.T) {
	w := newWorld(t, 12, 60, 0.2, 2, false)
	want := w.learner(t).Learn(nil).Next(5, Measure, Showing{})
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got []Question
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := json.Unmarshal([]byte(`[{"how": "chance"}]`), &got); err == nil {
		t.Error("an unknown reason is no error")
	}
}

// BenchmarkLearn is one round of learning from 20 more decisions.
func BenchmarkLearn(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b, 1, n, 0.1, 2, false)
			w.Vectors = features.Part(w.Vectors, 0, min(n, 300_000))
			l := w.learner(b)
			decisions, _ := w.play(l, Find, 1000, 500, 0)
			for b.Loop() {
				l.Learn(decisions[:980])
				l.Learn(decisions)
			}
		})
	}
}
