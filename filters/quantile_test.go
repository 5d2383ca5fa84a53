package filters

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/features"
)

// saturated draws log odds like vMF-Sim's for narrow classes: nearly all P round to 0 or 1, for hard images as well as
// for wrong labels, and a batch's quantile may be 1e-30 or 0.4.
func saturated(r *rand.Rand, n int, wrong float64) []float64 {
	odds := make([]float64, n)
	for i := range odds {
		odds[i] = 25 + 25*r.NormFloat64()
		if r.Float64() < wrong {
			odds[i] = -60 + 40*r.NormFloat64()
		}
	}
	return odds
}

func TestQuantileDropsTheShareAnnounced(t *testing.T) {
	dropped := func(c Cutoff, n int, told func([]float64) []float64) float64 {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		kept, rows := 0, 0
		for range 20000 / n {
			kept, rows = kept+len(c.Keep(told(saturated(r, n, 0.2)))), rows+n
		}
		return 1 - float64(kept)/float64(rows)
	}
	odds := func(o []float64) []float64 { return o }
	for _, rate := range []float64{0.05, 0.15, 0.2, 0.21, 0.35, 0.5, 0.8} {
		for _, n := range []int{16, 64, 200} {
			for _, size := range []int{1, 5, 30} {
				within := 0.015 + 0.1/float64(n)
				if size == 1 {
					within = 0.005 + 0.5/float64(n) // whole rows
				}
				if share := dropped(&Quantile{Rate: rate, Size: size}, n, odds); math.Abs(share-rate) > within {
					t.Errorf("rate %.2f, batches of %d, window %d: dropped %.3f", rate, n, size, share)
				}
			}
		}
	}
	if share := dropped(&TopR{Rate: 0.21, Size: 30}, 64, oddsToProbs); share < 0.25 {
		t.Errorf("the published form drops %.3f at rate 0.21, expected 0.25 or more, so this test cannot fail", share)
	}
}

// A history computed by hand drops half of the rows: h = n/2 + ½ is between two ranks if n is even.
func TestQuantileByHand(t *testing.T) {
	c := &Quantile{Rate: 0.5, Size: 2}
	follow(t, c, []cutoffStep{
		{"all unjudged", []float64{Unjudged, Unjudged}, []int{0, 1}, math.Inf(-1), nil},
		{"between the second and the third", []float64{-300, 9, -1, 7}, []int{1, 3}, 3, []float64{3}},
		{"the unjudged have no part in it", []float64{Unjudged, -4, Unjudged, 6, Unjudged}, []int{0, 2, 3, 4}, 2,
			[]float64{3, 1}},
		{"one alone does not pass: it stays, and the window shrinks", []float64{Unjudged, 0}, []int{0, 1}, 0,
			[]float64{0}},
		{"all unjudged: the bar stays", []float64{Unjudged}, []int{0}, 0, []float64{0}},
		{"nothing passes: ranks, and the window shrinks", []float64{-8, -4, -9, -5}, []int{1, 3}, -6.5,
			[]float64{-6.5}},
		{"an odd batch: its middle, which goes", []float64{-6.5, 1, -7}, []int{1}, -6.5, []float64{-6.5, -6.5}},
	})
}

// For every rate, at least one row of a batch is kept, the order is respected and the scores are not modified.
func TestQuantileKeepsTheBest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		c := &Quantile{Rate: r.Float64() * 0.999, Size: 1 + r.IntN(4)}
		for range 4 {
			scores := saturated(r, 1+r.IntN(12), 0.5)
			for i := range scores {
				if r.Float64() < 0.2 {
					scores[i] = Unjudged
				}
			}
			before := slices.Clone(scores)
			kept := c.Keep(scores)
			if !slices.Equal(before, scores) || !slices.IsSorted(kept) || len(kept) == 0 {
				t.Fatalf("scores %v, after Keep %v, kept %v", before, scores, kept)
			}
			for i, s := range scores {
				if !slices.Contains(kept, i) &&
					(s == Unjudged || slices.ContainsFunc(kept, func(k int) bool { return scores[k] < s })) {
					t.Fatalf("scores %v: kept %v, but not row %d", scores, kept, i)
				}
			}
		}
	}
	if kept := (&Quantile{Size: 3}).Keep([]float64{-1e9, 3}); len(kept) != 2 {
		t.Errorf("rate 0: kept %v, expected both rows", kept)
	}
}

func TestQuantileTakesTheMedian(t *testing.T) {
	c := &Quantile{Rate: 0.5, Size: 4}
	for i, q := range []float64{-1e5, 3, 1, 4, 2, 50} {
		c.Keep([]float64{q - 1, q + 1})
		near(t, fmt.Sprint(i), c.Threshold(), []float64{-1e5, (3 - 1e5) / 2, 1, 2, 2.5, 3}[i], 1e-12, 0)
	}
}

// If a third of the images in narrow classes are hard, Quantile drops the given rate, but the published form more.
func TestFilterDropsTheShareOfSaturatedScores(t *testing.T) {
	dropped := func(threshold string, dim int) float64 {
		s := newStream(11, dim, 40, 4)
		hard := s
		hard.shift = 0.3
		f := mustNew(t, s.world, func(c *Config) { c.Threshold, c.Rate, c.AvgSimSteps = threshold, 0.2, 20 })
		bank := features.NewBank(1000, dim, 40)
		kept, rows := 0, 0
		for i := range 200 {
			z, _ := s.batch(64, 0.2)
			h, _ := hard.batch(20, 0.2)
			for i := range h.Len() {
				copy(z.Row(i), h.Row(i))
				z.Labels[i] = h.Labels[i]
			}
			z.IDs = nil
			which, _ := f.Keep(z, bank)
			if i > 30 {
				kept, rows = kept+len(which), rows+z.Len()
			}
			bank.Push(z.Rows(which))
		}
		return 1 - float64(kept)/float64(rows)
	}
	for _, dim := range []int{32, 128} {
		if share := dropped(ThresholdMedian, dim); math.Abs(share-0.2) > 0.015 {
			t.Errorf("dimension %d: rate 0.2, dropped %.3f", dim, share)
		}
		if share := dropped(ThresholdPaper, dim); share < 0.24 {
			t.Errorf("dimension %d: the published form drops %.3f, so this test cannot fail", dim, share)
		}
	}
}

// A complete filter drops the given rate of a stream of batches in which new classes appear now and then.
func TestFilterDropsWhatItIsTold(t *testing.T) {
	for _, scorer := range []string{"vmf", "avgsim", "proxysim", "memory_positive"} {
		s := newStream(11, 32, 40, 4)
		f := mustNew(t, s.world, func(c *Config) { c.Scorer, c.Rate, c.AvgSimSteps = scorer, 0.2, 20 })
		var bank *features.Bank
		if f.entry.NeedsBank {
			bank = features.NewBank(1000, 32, 40)
		}
		dropped, judged, first := 0, 0, 0
		for i := range 300 {
			z, _ := s.batch(64, 0.2)
			if i < 100 { // half of the classes appear later
				z = z.Rows(rowsBelow(z, 20+i/5))
			}
			kept, scores := f.Keep(z, bank)
			for row, unjudged := range f.Unjudged() {
				switch {
				case unjudged && (scores[row] != 1 || !slices.Contains(kept, row)):
					t.Fatalf("%s: row %d cannot be scored: score %v, kept %v", scorer, row,
						scores[row], kept)
				case unjudged:
					first++
				case i > 0:
					judged++
					if !slices.Contains(kept, row) {
						dropped++
					}
				}
			}
			if bank != nil {
				for i := range kept {
					z.IDs[i] = -1 // separate images
				}
				bank.Push(z.Rows(kept))
			}
		}
		if share := float64(dropped) / float64(judged); math.Abs(share-0.2) > 0.02 || first < 64 {
			t.Errorf("%s: rate 0.2, dropped %.3f of %d, %d rows of new classes", scorer, share, judged, first)
		}
	}
}

func rowsBelow(z features.Set, class int) []int {
	var rows []int
	for i, k := range z.Labels {
		if k < class {
			rows = append(rows, i)
		}
	}
	return rows
}

// A class whose members are all the same image has no spread of its own: κ would be at its limit and reject every other
// image.
func TestCopiesOfOneImageAreOneMember(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	w, _ := newWorld(r, 16, 3, 1, 0, 0.9, 0)
	bank := features.NewBank(60, 16, 3)
	z, _ := w.draw(r, 30, 0)
	bank.Push(z)
	for range 30 {
		bank.Push(z.Rows([]int{0})) // row 0 of class 0; evicts the other members of class 0
	}
	others := z.Rows(rowsWith(z, 1, 2))
	bank.Push(others)
	one := features.NewBank(60, 16, 3)
	one.Push(z.Rows([]int{0}))
	one.Push(others)
	for range 5 {
		one.Push(z.Rows([]int{0}))
	}
	next, _ := w.draw(r, 12, 0)
	next = next.Rows(rowsWith(next, 0))
	got := (&VMF{}).LogOdds(nil, next, one, false)
	single := features.NewBank(60, 16, 3)
	single.Push(z.Rows([]int{0}))
	single.Push(others)
	nearAll(t, "log odds", got, (&VMF{}).LogOdds(nil, next, single, false), 1e-4, 1e-3)
	for _, k := range (&VMF{}).listKappas(nil, one) {
		if k.Class == 0 || k.Kappa > 1000 {
			t.Errorf("%+v", k)
		}
	}
	if one.Count(0) != 6 || one.Images(0) != 1 {
		t.Errorf("%d members of %d images", one.Count(0), one.Images(0))
	}
}
