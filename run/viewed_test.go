package run

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/train"
)

// rowsSeen is an encoder that records the rows it gets.
type rowsSeen struct{ rows [][]int }

func (e *rowsSeen) Forward(rows []int) (features.Set, error) {
	e.rows = append(e.rows, slices.Clone(rows))
	return features.Set{}, nil
}
func (e *rowsSeen) Backward(blas32.General) error { return nil }
func (e *rowsSeen) Params() []*features.Param     { return nil }

// withState is a rowsSeen with state that no solver updates.
type withState struct {
	rowsSeen
	list []*features.Param
}

func (e *withState) State() []*features.Param { return e.list }

// Each row gets one of its own views, all views equally often. The same seed draws the same views at the same step.
func TestViewed(t *testing.T) {
	const n, views, batch, steps = 50, 4, 20, 500
	draw := func(seed uint64, from int) [][]int {
		at, seen := 0, &rowsSeen{}
		e := &viewed{Encoder: seen, Rows: n, Views: views,
			Source: func() *rand.Rand { return train.Rand(seed, "stored view", at) }}
		for step := from; step <= steps; step++ {
			at = step
			rows := make([]int, batch)
			for i := range rows {
				rows[i] = (step*7 + i*i) % n
			}
			rows[1] = rows[0]
			if _, err := e.Forward(rows); err != nil {
				t.Fatal(err)
			}
			for i, got := range seen.rows[len(seen.rows)-1] {
				if got%n != rows[i] || got/n >= views {
					t.Fatalf("row %d became %d", rows[i], got)
				}
			}
		}
		return seen.rows
	}
	all := draw(1, 1)
	var counts [views]float64
	apart := 0
	for _, rows := range all {
		for _, r := range rows {
			counts[r/n]++
		}
		if rows[0] != rows[1] {
			apart++
		}
	}
	for v, c := range counts {
		if share := c / (batch * steps); math.Abs(share-0.25) > 0.02 { // 4.6 deviations
			t.Errorf("view %d was drawn in %.3f of the visits, expected 0.25", v, share)
		}
	}
	if share := float64(apart) / steps; math.Abs(share-0.75) > 0.1 {
		t.Errorf("a repeated row has two different views in %.3f of the batches, expected 0.75", share)
	}
	if !slices.EqualFunc(all[199:], draw(1, 200), slices.Equal[[]int]) {
		t.Error("a run resumed at step 200 draws other views")
	}
	if slices.EqualFunc(all, draw(2, 1), slices.Equal[[]int]) {
		t.Error("another seed draws the same views")
	}
}

func TestViewedHasItsEncodersState(t *testing.T) {
	p := features.NewParam("mean", 1, 2)
	if got := (&viewed{Encoder: &withState{list: []*features.Param{p}}}).State(); len(got) != 1 || got[0] != p {
		t.Errorf("found %v", got)
	}
	if got := (&viewed{Encoder: &rowsSeen{}}).State(); got != nil {
		t.Errorf("found %v", got)
	}
}

// With Apart, a repeated row of a batch gets different stored views; no view repeats before all views are used.
func TestViewedApart(t *testing.T) {
	to := &rowsSeen{}
	for seed := range uint64(20) {
		e := &viewed{Encoder: to, Rows: 5, Views: 3, Apart: true,
			Source: func() *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }}
		if _, err := e.Forward([]int{4, 2, 4, 2, 4, 4}); err != nil {
			t.Fatal(err)
		}
		var of4 []int
		shown := to.rows[len(to.rows)-1]
		for i, row := range []int{4, 2, 4, 2, 4, 4} {
			if shown[i]%5 != row {
				t.Errorf("row %d became %d, which is no view of it", row, shown[i])
			}
			if row == 4 {
				of4 = append(of4, shown[i]/5)
			}
		}
		if first := slices.Sorted(slices.Values(of4[:3])); !slices.Equal(first, []int{0, 1, 2}) ||
			shown[1] == shown[3] {
			t.Errorf("seed %d: views %v, and %v", seed, of4, shown)
		}
	}
}
