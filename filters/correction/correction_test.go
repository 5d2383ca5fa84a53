package correction

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
	"winnow/filters"
)

const dim = 12

// scene is a training set around class directions, a bank of clean members, and the true class of each row.
type scene struct {
	set     features.Set
	truth   []int
	bank    *features.Bank
	classes int
}

func newScene(seed uint64, classes, each int, wrong float64) scene {
	rng := rand.New(rand.NewPCG(seed, 3))
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	draw := func(row []float32, k int) {
		for j := range row {
			row[j] = centres.Data[k*dim+j] + 0.3*float32(rng.NormFloat64())
		}
	}
	s := scene{set: features.NewSet(classes*each, dim), bank: features.NewBank(classes*8, dim, classes),
		classes: classes}
	members := features.NewSet(classes*8, dim)
	for i := range members.Len() {
		members.Labels[i] = i % classes
		draw(members.Row(i), i%classes)
	}
	for i := range s.set.Len() {
		k := i % classes
		s.truth, s.set.Labels[i] = append(s.truth, k), k
		if rng.Float64() < wrong {
			s.set.Labels[i] = (k + 1 + rng.IntN(classes-1)) % classes
		}
		draw(s.set.Row(i), k)
	}
	for _, x := range []features.Set{members, s.set} {
		if err := features.Normalize(x.X); err != nil {
			panic(err)
		}
	}
	s.bank.Push(members)
	return s
}

func (s scene) corrector(t testing.TB, c Config) *Corrector {
	t.Helper()
	r, err := New(c, s.set.Labels, s.classes)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// visit shows rows with their current labels, and keeps those whose label is true.
func (s scene) visit(r *Corrector, step int, rows ...int) {
	z := s.set.Rows(rows)
	var kept []int
	for i, row := range rows {
		z.Labels[i] = r.Label(row)
		if z.Labels[i] == s.truth[row] {
			kept = append(kept, i)
		}
	}
	r.Observe(step, rows, z, kept, s.bank)
}

func (s scene) wrongRow(t testing.TB) int {
	t.Helper()
	for i, y := range s.set.Labels {
		if y != s.truth[i] {
			return i
		}
	}
	t.Fatal("no wrong label")
	return 0
}

func TestWrongLabelsAreMended(t *testing.T) {
	for seed := range uint64(4) {
		s := newScene(seed, 6, 20, 0.4)
		r := s.corrector(t, Config{Visits: 3, Confidence: 0.9})
		all := make([]int, s.set.Len())
		for i := range all {
			all[i] = i
		}
		for step := 1; step <= 3; step++ {
			for row := range all {
				if r.Label(row) != s.set.Labels[row] {
					t.Fatalf("seed %d: row %d is corrected before its third visit", seed, row)
				}
			}
			s.visit(r, step, all...)
		}
		for row, y := range s.truth {
			if r.Label(row) != y {
				t.Errorf("seed %d: row %d of class %d has label %d, given %d", seed, row, y, r.Label(row),
					s.set.Labels[row])
			}
		}
		for _, c := range r.Corrections() {
			if c.Step != 3 || c.From != r.Given(c.Row) || c.To != s.truth[c.Row] ||
				!(c.Confidence >= 0.9 && c.Confidence <= 1) {
				t.Errorf("seed %d: %+v", seed, c)
			}
		}
	}
}

func TestVotesMustBeInARow(t *testing.T) {
	s := newScene(1, 5, 10, 0.3)
	row := s.wrongRow(t)
	keep := func(r *Corrector, step int) {
		r.Observe(step, []int{row}, s.set.Rows([]int{row}), []int{0}, s.bank)
	}
	r := s.corrector(t, Config{Visits: 2, Confidence: 0.5})
	s.visit(r, 1, row)
	keep(r, 2)
	s.visit(r, 3, row)
	if len(r.Corrections()) > 0 {
		t.Fatal("a visit that kept the row did not start the count again")
	}
	s.visit(r, 3, row, row) // the same step: no visit
	s.visit(r, 4, row, row) // twice in a batch: one visit
	if len(r.Corrections()) != 1 {
		t.Fatalf("corrections %+v, expected one", r.Corrections())
	}
	twice := s.corrector(t, Config{Visits: 2, Confidence: 0.5})
	s.visit(twice, 1, row, row)
	if len(twice.Corrections()) > 0 {
		t.Error("a row that stands twice in a batch has voted twice")
	}
	late := s.corrector(t, Config{Visits: 2, Confidence: 0.5, After: 5})
	for step := 1; step <= 6; step++ {
		s.visit(late, step, row)
		if got := len(late.Corrections()); got != map[bool]int{true: 1}[step > 5] {
			t.Errorf("step %d: %d corrections, none is due up to step 5", step, got)
		}
	}
}

func TestAnotherClassBeginsAnew(t *testing.T) {
	s := newScene(2, 5, 10, 0.3)
	row := s.wrongRow(t)
	r := s.corrector(t, Config{Visits: 2, Confidence: 0.5})
	s.visit(r, 1, row)
	for _, c := range []struct{ class, votes int }{{(s.truth[row] + 1) % 5, 1}, {s.truth[row], 1}, {s.truth[row], 0}} {
		if c.class == r.Label(row) {
			c.class = (c.class + 1) % 5
		}
		r.countVote(9, row, c.class, 1)
		if r.votes[row] != c.votes {
			t.Fatalf("%d votes after one for class %d, expected %d", r.votes[row], c.class, c.votes)
		}
	}
	if len(r.Corrections()) != 1 {
		t.Errorf("corrections %+v, expected one after the second vote in a row", r.Corrections())
	}
}

func TestUnsureVisitsDoNotVote(t *testing.T) {
	s := newScene(3, 5, 10, 0.3)
	row := s.wrongRow(t)
	r := s.corrector(t, Config{Visits: 1, Confidence: 0.6})
	r.countVote(1, row, s.truth[row], 0.5999)
	r.countVote(1, row, r.Label(row), 1) // its own class
	r.countVote(1, row, -1, 0)
	if len(r.Corrections()) > 0 {
		t.Errorf("%+v", r.Corrections())
	}
	r.countVote(1, row, s.truth[row], 0.6)
	if len(r.Corrections()) != 1 {
		t.Error("no correction at the confidence asked for")
	}
}

func TestClassesKeepTheirLast(t *testing.T) {
	r, err := New(Config{Visits: 1, Confidence: 0.5}, []int{0, 0, 0, 1, 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	for row := range 3 {
		r.countVote(1, row, 1, 1)
	}
	r.countVote(1, 3, 0, 1)
	if r.Label(0) != 1 || r.Label(1) != 0 || r.Label(2) != 0 || r.Label(3) != 0 {
		t.Errorf("labels %v", r.LabelsAfter(1))
	}
}

func TestEmptyBankSaysNothing(t *testing.T) {
	s := newScene(1, 4, 5, 0.5)
	s.bank = features.NewBank(4, dim, 4)
	r := s.corrector(t, Config{Visits: 1, Confidence: 0.1})
	s.visit(r, 1, 0, 1, 2, 3, 4, 5)
	if len(r.Corrections()) > 0 {
		t.Errorf("%+v", r.Corrections())
	}
}

// Stopped anywhere and restored, a corrector continues as if it had not been stopped.
func TestStateGoesOn(t *testing.T) {
	s := newScene(5, 6, 10, 0.5)
	play := func(stop int) State {
		r := s.corrector(t, Config{Visits: 2, Confidence: 0.9, After: 2})
		rng := rand.New(rand.NewPCG(1, 1))
		for step := 1; step <= 12; step++ {
			s.visit(r, step, rng.Perm(s.set.Len())[:20]...)
			if step == stop {
				next := s.corrector(t, r.config)
				if err := next.SetState(r.State()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(r.LabelsAfter(step-1), next.LabelsAfter(step-1)); diff != "" {
					t.Fatal(diff)
				}
				r = next
			}
		}
		return r.State()
	}
	whole := play(0)
	if len(whole.Rows) == 0 {
		t.Fatal("nothing was corrected")
	}
	for stop := 1; stop < 12; stop++ {
		if diff := cmp.Diff(whole, play(stop)); diff != "" {
			t.Errorf("stopped after step %d: %s", stop, diff)
		}
	}
}

func TestStateRefused(t *testing.T) {
	s := newScene(5, 4, 5, 0.5)
	for want, spoil := range map[string]func(*State){
		"votes of 19 and 20 rows": func(s *State) { s.Vote = s.Vote[1:] },
		"row 3 has -1 votes":      func(s *State) { s.Votes[3] = -1 },
		"votes for class 4":       func(s *State) { s.Vote[0] = 4 },
		"expected equal numbers":  func(s *State) { s.Rows = []int{1} },
		"correction 0, of row 20 to class 0 after": func(s *State) {
			s.Rows, s.To, s.Steps, s.Confidence = []int{20}, []int{0}, []int{1}, []float64{1}
		},
		"of row 1 to class 4 after step 1": func(s *State) {
			s.Rows, s.To, s.Steps, s.Confidence = []int{1}, []int{4}, []int{1}, []float64{1}
		},
		"after step 0, is impossible": func(s *State) {
			s.Rows, s.To, s.Steps, s.Confidence = []int{1}, []int{1}, []int{0}, []float64{1}
		},
	} {
		r := s.corrector(t, Config{Visits: 1, Confidence: 1})
		state := r.State()
		spoil(&state)
		if err := r.SetState(state); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	for want, c := range map[string]Config{"after: found -1": {After: -1, Visits: 1, Confidence: 1},
		"visits: found 0": {Confidence: 1}, "confidence: found 0": {Visits: 1},
		"confidence: found NaN": {Visits: 1, Confidence: math.NaN()}} {
		if _, err := New(c, nil, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
	if _, err := New(Config{Visits: 1, Confidence: 1}, []int{3}, 2); err == nil {
		t.Error("a label beyond the classes was let through")
	}
}

// Best must return the class that the scorer itself finds likeliest when asked about each class.
func TestBestIsTheScorersBest(t *testing.T) {
	for seed := range uint64(3) {
		s := newScene(seed, 6, 10, 0)
		s.bank = features.NewBank(20, dim, 7) // some classes have few members, one none
		s.bank.Push(s.set.Rows([]int{0, 1, 2, 6, 7, 12, 13, 18, 19, 24, 30, 4}))
		v := &filters.VMF{Kappa: filters.KappaBanerjee}
		classes, p := v.Best(s.set, s.bank)
		for i := range s.set.Len() {
			best, at := -1.0, -1
			for k := range 7 {
				one := s.set.Rows([]int{i})
				if one.Labels[0] = k; s.bank.Count(k) == 0 {
					continue
				}
				if score := v.Score(nil, one, s.bank, false)[0]; score > best {
					best, at = score, k
				}
			}
			if at != classes[i] || math.Abs(best-p[i]) > 1e-12 {
				t.Errorf("seed %d, row %d: class %d with %v, the scorer's best is %d with %v", seed, i, classes[i],
					p[i], at, best)
			}
		}
	}
}
