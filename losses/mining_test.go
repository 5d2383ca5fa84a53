package losses

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

// miningBatch returns n random unit rows of three classes, two of them of one image.
func miningBatch(t *testing.T, rng *rand.Rand, n int) features.Set {
	t.Helper()
	z := features.NewSet(n, 5)
	for i := range n {
		for j := range z.Row(i) {
			z.Row(i)[j] = float32(rng.NormFloat64())
		}
		z.Labels[i] = i % 3
	}
	copy(z.Row(3), z.Row(0))
	z.IDs[3] = z.IDs[0]
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	return z
}

// TestMiningIsTheLoss: the listed triplets have the value of the triplet loss with the same draws, and satisfy
// the definitions.
func TestMiningIsTheLoss(t *testing.T) {
	for seed := range uint64(5) {
		z := miningBatch(t, rand.New(rand.NewPCG(seed, 1)), 24)
		source := func() *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) }
		m := NewMining(z)
		for _, choose := range select1to1 {
			loss, err := New("triplet", map[string]any{"select": choose, "distance": "l2", "margin": 0.2,
				"reduction": "sum"},
				Env{Dim: 5, Classes: 3, Step: source})
			if err != nil {
				t.Fatal(err)
			}
			sum, pairs := 0.0, 0
			for tr := range m.Triplets(choose, 0.2, source()) {
				a, p, n := tr[0], tr[1], tr[2]
				if !m.Positive(a, p) || z.IDs[a] == z.IDs[p] || z.Labels[a] != z.Labels[p] {
					t.Fatalf("%s: %v: rows %d and %d are no positive pair", choose, tr, a, p)
				}
				pairs++
				checkChoice(t, m, choose, a, p, n)
				if n >= 0 {
					sum += max(0, m.Distance(a, p)-m.Distance(a, n)+0.2)
				}
			}
			if want := 24*7 - 2; pairs != want { // rows 0 and 3 are one image
				t.Errorf("%s: %d positive pairs, expected %d", choose, pairs, want)
			}
			if want := loss.Eval(nil, z, nil); math.Abs(sum-want) > 1e-9*want || want == 0 {
				t.Errorf("%s: the triplets cost %v, the loss is %v", choose, sum, want)
			}
		}
	}
}

// checkChoice compares a choice with the definition in a plain loop.
func checkChoice(t *testing.T, m *Mining, choose string, a, p, n int) {
	t.Helper()
	ap, nearest, some := m.Distance(a, p), -1, false
	in := func(k int) bool {
		an := m.Distance(a, k)
		return m.Negative(a, k) && (choose == "fixed_semihard" && an > ap || choose == "random_semihard" &&
			an < ap+0.2 || choose == "semihard" && an >= ap && an < ap+0.2)
	}
	for k := range m.Len() {
		if in(k) && (!some || m.Distance(a, k) < m.Distance(a, nearest)) {
			nearest, some = k, true
		}
	}
	if some != (n >= 0) || n >= 0 && !in(n) || choose == "fixed_semihard" && n != nearest {
		t.Errorf("%s: found negative %d of (%d, %d), expected one of the window, the nearest is %d", choose, n,
			a, p, nearest)
	}
}

// TestMiningStops: iteration stops when the caller stops, and an empty batch has no triplets.
func TestMiningStops(t *testing.T) {
	m := NewMining(miningBatch(t, rand.New(rand.NewPCG(1, 1)), 12))
	for _, choose := range select1to1 {
		seen := 0
		for range m.Triplets(choose, 0.2, rand.New(rand.NewPCG(1, 1))) {
			if seen++; seen == 5 {
				break
			}
		}
		if seen != 5 {
			t.Errorf("%s: %d triplets, expected to stop at 5", choose, seen)
		}
	}
	for range NewMining(features.NewSet(0, 4)).Triplets("fixed_semihard", 0, nil) {
		t.Error("a triplet of no rows")
	}
}
