package eval

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestKeepShare(t *testing.T) {
	kept := KeepShare([]float64{0.5, 0.1, 0.1, 0.9}, 0.5)
	for i, want := range []bool{true, false, false, true} {
		if kept[i] != want {
			t.Fatalf("kept %v", kept)
		}
	}
}

// Recall at a budget is that of the list's head, averaged over the orders of what is tied, and no less than one sample is looked at.
func TestRecallAtBudget(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	scores, wrong, kept := make([]float64, 240), make([]bool, 240), make([]bool, 240)
	total := 0
	for i := range scores {
		if wrong[i] = rng.IntN(4) == 0; wrong[i] {
			total++
		}
		scores[i] = float64(rng.IntN(9))
		if wrong[i] {
			scores[i] -= 2
		}
	}
	d, err := Detect(scores, wrong, kept)
	if err != nil {
		t.Fatal(err)
	}
	for n, got := range map[int]float64{2: d.Found1, 12: d.Found5, total: d.FoundAll} {
		mean := 0.0
		const orders = 4000
		for range orders {
			order := rng.Perm(len(scores))
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
			for _, i := range order[:n] {
				if wrong[i] {
					mean += 1 / float64(total) / orders
				}
			}
		}
		if math.Abs(got-mean) > 0.004 {
			t.Errorf("among the first %d: %.4f, over orders %.4f", n, got, mean)
		}
	}
	one, err := Detect([]float64{0.9, 0.1, 0.8}, []bool{false, true, false}, []bool{true, true, true})
	if err != nil || one.Found1 != 1 || one.FoundAll != 1 {
		t.Errorf("%+v, %v", one, err)
	}
}
