package losses

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestBandIsSortedAndComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(t, "n")
		// A coarse grain makes ties; raising values to a power makes crowded buckets.
		grain := rapid.SampledFrom([]float64{3, 50, 1e9}).Draw(t, "grain")
		crowd := rapid.IntRange(1, 12).Draw(t, "crowd")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		delta, cols := make([]float64, n), make([]int, n)
		for j := range delta {
			d := float64(int(rng.Float64()*grain)) / grain
			delta[j] = 4
			for range crowd {
				delta[j] *= d
			}
			cols[j] = rng.IntN(3)
		}
		var b band
		bottom := rapid.SampledFrom([]float64{-1, 0.5}).Draw(t, "bottom")
		top := rapid.SampledFrom([]float64{1, 7}).Draw(t, "top")
		b.loadBand(delta, cols, 1, bottom, top)
		var want []int32
		for j := range delta {
			if cols[j] != 1 && delta[j] >= bottom && delta[j] < top {
				want = append(want, int32(j))
			}
		}
		slices.SortStableFunc(want, func(i, j int32) int {
			switch {
			case delta[i] < delta[j]:
				return -1
			case delta[i] > delta[j]:
				return 1
			}
			return 0
		})
		if !slices.Equal(b.order, want) {
			t.Fatalf("order %v, expected %v", b.order, want)
		}
		for range 20 {
			low := 4.4*rng.Float64() - 0.2
			if n > 0 && rng.IntN(2) == 0 {
				low = delta[rng.IntN(n)] // a limit that equals a value
			}
			low = min(max(low, bottom), top)
			high := min(low+rng.Float64(), top)
			from, to := b.bandRange(low, high)
			count := 0
			for _, j := range want {
				if low <= delta[j] && delta[j] < high {
					count++
				}
			}
			if to-from != count || (count > 0 && !(delta[b.order[from]] >= low && delta[b.order[to-1]] < high)) {
				t.Fatalf("between %v and %v: %d to %d, expected %d", low, high, from, to, count)
			}
		}
	})
}

// Every candidate is drawn about equally often, and no other row is drawn. Rows 0 and 1 are the only positive pair;
// row 0 of dS shows which negative was drawn.
func TestSemihardDrawsUniformly(t *testing.T) {
	const n, rounds = 30, 6000
	l := mustNew(t, "triplet", nil, testEnv(conformDim, conformClasses, 1)).(*similarity)
	rng := rand.New(rand.NewPCG(5, 5))
	labels := make([]int, n)
	S, dS := make([]float64, n*n), make([]float64, n*n)
	for i := range labels {
		labels[i] = max(i, 1)
		for j := range labels {
			S[i*n+j] = 0.7 - 0.01*float64(j) // row i: distance 0.6 + 0.02j
		}
	}
	counts := map[int]int{}
	p := &pairs{rows: labels, cols: labels, self: true, draw: rng}
	for range rounds {
		l.fn.evalPairs(dS, S, p)
		for j := 2; j < n; j++ {
			if dS[j] != 0 {
				counts[j]++
			}
		}
	}
	// Row 0: δ_ap = 0.62, so 0.62 ≤ 0.6 + 0.02j < 0.82 holds for j = 2 … 10.
	for j := 2; j < n; j++ {
		want := 0.0
		if j <= 10 {
			want = rounds / 9.0
		}
		if d := float64(counts[j]) - want; d*d > 25*want {
			t.Errorf("negative %d was drawn %d times, expected about %.0f", j, counts[j], want)
		}
	}
}
