package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
)

// world holds images of a few classes, some of them with wrong labels, and an audit whose probabilities indicate the
// wrong labels with a given strength.
type world struct {
	Evidence
	wrong []bool
	truth []int
	count int
}

// newWorld draws n images in classes of 5 clusters each. With habit, all wrong labels are in one cluster, which the
// audit does not detect.
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

// answer returns the decision that agrees with the true label of image i.
func (w *world) answer(i int) Decision {
	d := Decision{Image: i, Reviewer: "ann", Verdict: Right, Label: None}
	if w.wrong[i] {
		d.Verdict, d.Label = Wrong, w.truth[i]
	}
	return d
}

// play answers for the first n images that a review shows.
func (w *world) play(l *Learner, n int) (decisions []Decision, s *State) {
	r := NewReview(l)
	for len(r.log) < n {
		order := r.Order()
		for _, i := range order[:min(Batch, n-len(r.log), len(order))] {
			r.Add(w.answer(i))
		}
	}
	return r.log, l.Learn(r.log)
}

// countFound returns the number of label errors among the settled images.
func countFound(s *State) (found int) {
	for _, v := range s.Settled {
		if v == Wrong {
			found++
		}
	}
	return found
}

// byList returns the number of label errors among the first n of the list.
func (w *world) byList(n int) (found int) {
	for i, wrong := range w.wrong {
		if wrong && w.Rank[i] <= n {
			found++
		}
	}
	return found
}

// TestHabitsAreLearned: if the audit misses systematic errors, a review that learns finds nearly twice as many of them
// as the list.
func TestHabitsAreLearned(t *testing.T) {
	w := newWorld(t, 1, 1200, 0, 0.7, true)
	_, s := w.play(w.learner(t), 200)
	if list := w.byList(200); countFound(s) < list*3/2 {
		t.Errorf("found %d of %d errors, expected many more than %d as by the list", countFound(s), w.count, list)
	}
	if s.Trust < 0.9 {
		t.Errorf("trust %.2f, expected nearly 1", s.Trust)
	}
}

// TestPairsAreLearned: three confirmed mistakes of a pair of classes move up the others of this pair, without vectors.
func TestPairsAreLearned(t *testing.T) {
	w := newWorld(t, 4, 600, 0.1, 0, false)
	w.Vectors = features.NewMatrix(0, 0)
	var pair []int
	for i := range w.Given {
		w.Right[i], w.Suggested[i] = 0.8, (w.Given[i]+1+i%3)%4
		if w.Given[i] == 0 && w.Suggested[i] == 1 {
			pair = append(pair, i)
			w.wrong[i], w.truth[i] = true, 1
		}
	}
	other := func(i int) bool { return !w.wrong[i] && w.Given[i] != 0 && w.Suggested[i] != 1 }
	var made []Decision
	for i := range 60 {
		if other(i) {
			made = append(made, w.answer(i))
		}
	}
	s := w.learner(t).Learn(append(made, w.answer(pair[0]), w.answer(pair[1]), w.answer(pair[2])))
	for i := 60; i < 600; i++ {
		if p, q := s.Wrong[pair[5]], s.Wrong[i]; other(i) && p < q+0.2 {
			t.Fatalf("%.2f for a label of the pair, %.2f for a label of classes %d, %d", p, q, w.Given[i], w.Suggested[i])
		}
	}
}

// TestRareClass: where 40 images of a large class got the label of a class of six, the review finds them, and does not
// believe afterwards that the six are wrong, too.
func TestRareClass(t *testing.T) {
	w := newWorld(t, 5, 500, 0, 0, false)
	for i := range w.Given {
		w.truth[i], w.Given[i], w.Suggested[i], w.Right[i] = 1, 1, 1, 0.9
		if w.wrong[i] = i >= 6 && i < 46; i < 46 {
			w.Given[i], w.Right[i] = 0, 0.6
		}
		if w.Vectors.Data[i*12] += 5; i < 6 {
			w.truth[i] = 0
			w.Vectors.Data[i*12] -= 10
		}
	}
	decisions, s := w.play(w.learner(t), 60)
	if found := countFound(s); found < 36 {
		t.Errorf("%d of 40 errors found after %d decisions", found, len(decisions))
	}
	for i := range 6 {
		if s.Settled[i] == Unsure && s.Wrong[i] > 0.5 {
			t.Errorf("right label of a rare class: probability %.2f that it is wrong", s.Wrong[i])
		}
	}
}

// TestNeverWorseThanTheList: if there is nothing to learn beyond the audit's scores, a review finds errors about as
// fast as the list.
func TestNeverWorseThanTheList(t *testing.T) {
	for _, rate := range []float64{0.05, 0.2, 0.5} {
		w := newWorld(t, 2, 500, rate, 6, false)
		l := w.learner(t)
		decisions, _ := w.play(l, 450)
		found := 0
		for k, d := range decisions {
			if d.Verdict == Wrong {
				found++
			}
			if n := k + 1; n%50 == 0 && float64(found) < 0.98*float64(w.byList(n))-1 {
				t.Errorf("rate %.2f: after %d decisions %d errors found, by the list %d", rate, n, found,
					w.byList(n))
			}
		}
	}
}

// TestSameDecisionsSameState: the state depends only on the decisions, not on how they are divided among calls.
func TestSameDecisionsSameState(t *testing.T) {
	w := newWorld(t, 3, 400, 0.2, 2, false)
	one := w.learner(t)
	decisions, s := w.play(one, 120)
	again := w.learner(t).Learn(decisions)
	view := func(s *State) any {
		return []any{s.Wrong, s.Settled, s.Suggested, s.Trust}
	}
	if diff := cmp.Diff(view(s), view(again)); diff != "" {
		t.Errorf("state differs if learned in one call (-in steps +at once):\n%s", diff)
	}
	undone := one.Learn(decisions[:60])
	if diff := cmp.Diff(view(w.learner(t).Learn(decisions[:60])), view(undone)); diff != "" {
		t.Errorf("state differs after taking decisions back (-never made +taken back):\n%s", diff)
	}
}

// TestTwoReviewers: a tie leaves a label open, a third answer settles it, and a reviewer may change an answer.
func TestTwoReviewers(t *testing.T) {
	say := func(image int, who string, v Verdict) Decision {
		return Decision{Image: image, Reviewer: who, Verdict: v, Label: None}
	}
	list := []Decision{say(0, "ann", Wrong), say(0, "bob", Right), say(1, "ann", Right), say(1, "bob", Unsure),
		say(2, "ann", Wrong), say(2, "ann", Right), say(99, "ann", Wrong)}
	by, order := sumOutcomes(list, 3)
	if diff := cmp.Diff([]int{0, 1, 2}, order); diff != "" {
		t.Error(diff)
	}
	for image, want := range []Verdict{Unsure, Right, Right} {
		if got := by[image].verdict; got != want {
			t.Errorf("image %d: %d, expected %d", image, got, want)
		}
	}
	by, _ = sumOutcomes(append(list, say(0, "cy", Wrong)), 3)
	if o := by[0]; o.verdict != Wrong {
		t.Errorf("after a third answer: %+v", o)
	}
}

// TestWithoutAllVectors: images without a vector are ranked together with the others, and all label errors are found.
func TestWithoutAllVectors(t *testing.T) {
	w := newWorld(t, 1, 900, 0, 0.7, true)
	w.Vectors = features.Part(w.Vectors, 0, 600)
	_, s := w.play(w.learner(t), 200)
	first := 0
	for i, v := range s.Settled {
		if v == Wrong && i < 600 {
			first++
		}
	}
	if list := w.byList(200); first < list || countFound(s) == first {
		t.Errorf("found %d of %d errors, %d of them in images with vectors; by the list %d", countFound(s),
			w.count, first, list)
	}
	_, s = w.play(w.learner(t), 900)
	if found := countFound(s); found != w.count {
		t.Errorf("found %d of %d errors at the end", found, w.count)
	}
}

// TestCopiesAreShownOnce: a batch has a single image from a group of duplicates with one label.
func TestCopiesAreShownOnce(t *testing.T) {
	w := newWorld(t, 6, 200, 0.2, 2, false)
	for i := range 20 {
		w.Group[i], w.Given[i], w.Right[i] = 1, 0, 0.01
	}
	shown := 0
	for _, i := range NewReview(w.learner(t)).Order()[:Batch] {
		if w.Group[i] == 1 {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("%d of 20 duplicates shown, expected 1", shown)
	}
}

// BenchmarkLearn measures learning from 20 further decisions.
func BenchmarkLearn(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b, 1, n, 0.1, 2, false)
			w.Vectors = features.Part(w.Vectors, 0, min(n, 300_000))
			l := w.learner(b)
			decisions, _ := w.play(l, 1000)
			for b.Loop() {
				l.Learn(decisions[:980])
				l.Learn(decisions)
			}
		})
	}
}
