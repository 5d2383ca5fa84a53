package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters"
	"winnow/losses"
	"winnow/train/samples"
)

// witnessed returns a bed whose run records its last half.
func witnessed(t testing.TB, dir string, change func(*Config)) *bed {
	return newBed(t, dir, func(c *Config) {
		c.DiagnoseEvery = 0
		c.Samples = newRecord(t, c)
		if change != nil {
			change(c)
		}
	})
}

func newRecord(t testing.TB, c *Config) *samples.Record {
	t.Helper()
	set := c.Encoder.(*linear).set
	r, err := samples.New(samples.Config{IDs: set.IDs, Labels: set.Labels, From: c.Steps/2 + 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var names = samples.Names{Path: func(row int) string { return fmt.Sprint("image ", row) }, Class: func(k int) string {
	return fmt.Sprint("class ", k)
}}

// told returns a trainer's record as users see it.
func told(tr *Trainer) []samples.Sample { return slices.Collect(tr.Samples.All(names)) }

var sameNumbers = cmpopts.EquateNaNs()

// slowRecord is the record of a run by loops: the bank is a list of pushes, scores are those of a filter with a
// bank from which the image's own vectors were removed before, and losses are those of each kept row alone
// among the others.
type slowRecord struct {
	visits, right, forgotten, seen, kept, scored []int
	believed                                     []bool
	p                                            []float64
}

type pushed struct {
	row []float32
	id  int
	y   int
}

// slowly runs a bed step by step and keeps the slow record next to the run's own. spoil keeps own vectors in
// the bank.
func slowly(t *testing.T, b *bed, tr *Trainer, spoil bool) slowRecord {
	n := b.encoder.set.Len()
	s := slowRecord{believed: make([]bool, n)}
	for _, list := range []*[]int{&s.visits, &s.right, &s.forgotten, &s.seen, &s.kept, &s.scored} {
		*list = make([]int, n)
	}
	s.p = make([]float64, n)
	var memory []pushed
	for !tr.isFinished() {
		if tr.validationDue() {
			if err := tr.validateState(context.Background()); err != nil {
				t.Fatal(err)
			}
			continue
		}
		before := slices.Clone(memory)
		fact, err := tr.trainStep()
		if err != nil {
			t.Fatal(err)
		}
		z := b.encoder.z
		late := fact.Number > tr.Steps/2
		for i, id := range fact.IDs {
			row := id - 1000
			if late {
				s.seen[row]++
			}
			odds, best := slowOdds(fact.Judge, z, i, id, before, spoil)
			if best < 0 {
				continue
			}
			s.visits[row]++
			believes := best == z.Labels[i]
			if believes {
				s.right[row]++
			} else if s.believed[row] {
				s.forgotten[row]++
			}
			s.believed[row] = believes
			if late {
				s.scored[row]++
				s.p[row] += 1 / (1 + math.Exp(-odds))
			}
		}
		for _, at := range fact.Kept {
			if late {
				s.kept[fact.IDs[at]-1000]++
			}
			memory = append(memory, pushed{slices.Clone(z.Row(at)), fact.IDs[at], z.Labels[at]})
		}
		memory = memory[max(0, len(memory)-b.cfg.Bank.Cap()):]
	}
	return s
}

// slowOdds judges row i by a bank without the vectors of its own image; best is -1 if nothing is known.
func slowOdds(judge string, z features.Set, i, id int, memory []pushed, spoil bool) (odds float64, best int) {
	bank := features.NewBank(max(len(memory), 1), testDim, 12)
	for _, m := range memory {
		if m.id != id || m.y != z.Labels[i] || spoil {
			one := features.NewSet(1, testDim)
			copy(one.Row(0), m.row)
			one.Labels[0], one.IDs[0] = m.y, m.id
			bank.Push(one)
		}
	}
	classes := 0
	for k := range 12 {
		classes += min(bank.Count(k), 1)
	}
	if bank.Count(z.Labels[i]) == 0 || classes < 2 {
		return 0, -1
	}
	c := filters.Default()
	c.Scorer = judge
	f := must(filters.New(c, filters.Env{Dim: testDim, Classes: 12}))
	best, top := -1, math.Inf(-1)
	for k := range 12 {
		if bank.Count(k) == 0 {
			continue
		}
		row := z.Rows([]int{i})
		row.Labels = []int{k}
		o := f.Scorer().(filters.Ranker).LogOdds(nil, row, bank, false)[0]
		if k == z.Labels[i] {
			odds = o
		}
		if o > top {
			best, top = k, o
		}
	}
	return odds, best
}

// differs compares the counts and scores of a record with those of loops. Scores restart when vMF-Sim takes
// over, which is before the last half.
func (s slowRecord) differs(list []samples.Sample) error {
	for row, got := range list {
		want := [5]int{s.visits[row], s.right[row], s.forgotten[row], s.seen[row], s.kept[row]}
		if has := [5]int{got.Visits, got.Right, got.Forgotten, got.Seen, got.Kept}; has != want {
			return fmt.Errorf("row %d: found %v, expected %v", row, has, want)
		}
		if p := s.p[row] / float64(s.scored[row]); !closeOrNaN(got.Score, p) {
			return fmt.Errorf("row %d: score %v, expected %v", row, got.Score, p)
		}
	}
	return nil
}

func closeOrNaN(got, want float64) bool {
	return math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-4*(1+math.Abs(want))
}

// Every class keeps three members, so that none uses the pool, whose spread would include the image left out.
func fewClasses(c *Config) {
	set := c.Encoder.(*linear).set
	for i := range set.Labels {
		set.Labels[i] %= 4
	}
	c.Sampler = must(NewSampler(Groups{Classes: 4, Images: 6}, set.Labels, 1))
	c.Bank = features.NewBank(110, testDim, 12)
}

func TestRecordAgreesWithLoops(t *testing.T) {
	for _, scorer := range []string{"vmf", "avgsim"} {
		for _, spoil := range []bool{false, true} {
			b := witnessed(t, "", func(c *Config) {
				fewClasses(c)
				c.Samples = newRecord(t, c)
				fc := filters.Default()
				fc.Scorer, fc.Rate, fc.Window, fc.AvgSimSteps = scorer, 0.3, 5, 7
				c.Filter = must(filters.New(fc, filters.Env{Dim: testDim, Classes: 12}))
			})
			tr := b.trainer(t)
			err := slowly(t, b, tr, spoil).differs(told(tr))
			if !spoil && err != nil {
				t.Errorf("%s: %v", scorer, err)
			}
			if spoil && err == nil {
				t.Errorf("%s: images that speak for themselves were not seen", scorer)
			}
		}
	}
}

// A record does not change the run: the same rows are kept with the same scores, and the weights agree.
func TestRecordChangesNothing(t *testing.T) {
	run := func(b *bed) *bed {
		if _, err := b.trainer(t).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return b
	}
	plain, seen := run(newBed(t, "", nil)), run(witnessed(t, "", nil))
	for i, f := range plain.facts {
		g := seen.facts[i]
		if !slices.Equal(f.Kept, g.Kept) || !slices.Equal(f.Scores, g.Scores) || math.Abs(f.Loss-g.Loss) > 1e-12 {
			t.Fatalf("step %d: kept %v and %v, loss %v and %v", f.Number, f.Kept, g.Kept, f.Loss, g.Loss)
		}
	}
	if diff := cmp.Diff(plain.encoder.w.Data, seen.encoder.w.Data); diff != "" {
		t.Error(diff)
	}
}

// A run that is stopped anywhere and resumed ends with the record of an uninterrupted one, bit for bit.
func TestRecordResumes(t *testing.T) {
	watch := func(c *Config) { // a run without a filter, but with one that watches
		fc := filters.Default()
		fc.AvgSimSteps = 20
		c.Filter, c.Watch = nil, must(filters.New(fc, filters.Env{Dim: testDim, Classes: 12}))
	}
	for name, change := range map[string]func(*Config){"filter": nil, "watch": watch} {
		whole := witnessed(t, t.TempDir(), change)
		tr := whole.trainer(t)
		if _, err := tr.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, stop := range []int{3, 22, 40} {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(context.Background())
			cut := witnessed(t, dir, change)
			cut.cfg.Observe = Together(cut.cfg.Observe, On(func(s Step) {
				if s.Number == stop {
					cancel()
				}
			}))
			if _, err := cut.trainer(t).Run(ctx); err == nil {
				t.Fatal("it was not stopped")
			}
			on := witnessed(t, dir, change)
			again := on.trainer(t)
			if found, err := again.Resume(); err != nil || !found {
				t.Fatalf("resume: %v, %v", found, err)
			}
			if _, err := again.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(told(tr), told(again), sameNumbers); diff != "" {
				t.Errorf("%s, stopped after step %d:\n%s", name, stop, diff)
			}
		}
		other := newBed(t, whole.cfg.Dir, nil)
		if _, err := other.trainer(t).Resume(); err == nil {
			t.Errorf("%s: a run without a record took over one with it", name)
		}
	}
}

// The loss of a sample is the mean of its terms at the visits in which the step learned from it.
func TestRecordOfLosses(t *testing.T) {
	var recorder *rowRecorder
	b := witnessed(t, "", func(c *Config) {
		recorder = &rowRecorder{RowWise: c.Terms[0].Loss.(losses.RowWise), sum: map[int]float64{}, n: map[int]int{},
			from: c.Steps / 2}
		c.Terms = c.Terms[:1]
		c.Terms[0].Loss, c.Terms[0].Weight = recorder, 0.5
		c.Groups = c.Groups[:1]
	})
	tr := b.trainer(t)
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	none := 0
	for row, s := range told(tr) {
		id := 1000 + row
		want := 0.5 * recorder.sum[id] / float64(recorder.n[id])
		if !closeOrNaN(s.Loss, want) {
			t.Fatalf("row %d: loss %v, expected %v", row, s.Loss, want)
		}
		if math.IsNaN(s.Loss) {
			none++
		}
	}
	if none == 0 || none > 100 {
		t.Errorf("%d rows have no loss: the check is weak", none)
	}
}

// rowRecorder records the terms of a loss for every row by ID.
type rowRecorder struct {
	losses.RowWise
	sum   map[int]float64
	n     map[int]int
	steps int
	from  int
}

func (r *rowRecorder) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	v := r.RowWise.Eval(grad, z, ref)
	if r.steps++; r.steps > r.from {
		for i, term := range r.RowWise.Terms() {
			if !math.IsNaN(term) {
				r.sum[z.IDs[i]] += term
				r.n[z.IDs[i]]++
			}
		}
	}
	return v
}

func TestWatchNeedsABank(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no record": func(c *Config) { c.Samples = nil },
		"no bank":   func(c *Config) { c.Bank = nil; c.Filter = nil; c.Terms = c.Terms[:1] },
	} {
		b := witnessed(t, "", func(c *Config) {
			c.Watch = must(filters.New(filters.Default(), filters.Env{Dim: testDim, Classes: 12}))
			change(c)
		})
		if _, err := New(b.cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
