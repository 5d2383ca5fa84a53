package crossfit

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"winnow/audit/judges"
)

// drawn draws similarities of two kinds, of which only the first depends on the class, and labels of which a share rho
// is wrong.
func drawn(seed uint64, beta, rho float64, n, classes int) (rows []float32, labels []int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	p := make([]float64, classes)
	for range n {
		first, second := make([]float32, classes), make([]float32, classes)
		var sum float64
		for k := range classes {
			first[k], second[k] = float32(0.3*rng.NormFloat64()), float32(0.3*rng.NormFloat64())
			p[k] = math.Exp(beta * float64(first[k]))
			sum += p[k]
		}
		at, y := rng.Float64()*sum, 0
		for ; y < classes-1 && at > p[y]; y++ {
			at -= p[y]
		}
		if rng.Float64() < rho {
			y = (y + 1 + rng.IntN(classes-1)) % classes
		}
		rows, labels = append(append(rows, first...), second...), append(labels, y)
	}
	return rows, labels
}

// likelihood computes Σ log[(1-ρ) p_y + ρ (1-p_y)/(C-1)] with plain loops.
func likelihood(rows []float32, labels []int, classes int, beta []float64, rho float64) float64 {
	var sum float64
	for i, y := range labels {
		var own, total float64
		for k := range classes {
			var l float64
			for m, b := range beta {
				l += b * float64(rows[(i*len(beta)+m)*classes+k])
			}
			total += math.Exp(l)
			if k == y {
				own = math.Exp(l)
			}
		}
		sum += math.Log((1-rho)*own/total + rho*(1-own/total)/float64(classes-1))
	}
	return sum
}

// fitWeighing recovers the weighing with which labels were drawn, and no weighing close to the fit is likelier.
func TestWeigh(t *testing.T) {
	for seed := range uint64(3) {
		rows, labels := drawn(seed, 15, 0.3, 4000, 8)
		w, err := fitWeighing(t.Context(), rows, labels, 8, weighing{[]float64{5, 5}, 0.2}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(w.beta[0]-15) > 1.5 || w.beta[1] > 1 || math.Abs(w.rho-0.3) > 0.03 {
			t.Errorf("seed %d: β %v, ρ %v, expected 15, 0 and 0.3", seed, w.beta, w.rho)
		}
		at := likelihood(rows, labels, 8, w.beta, w.rho)
		for _, near := range [][3]float64{{1.1, 0, 1}, {0.9, 0, 1}, {1, 1, 1}, {1, 0, 1.1}, {1, 0, 0.9}} {
			if other := likelihood(rows, labels, 8, []float64{w.beta[0] * near[0], w.beta[1] + near[1]},
				w.rho*near[2]); other > at {
				t.Errorf("seed %d: at %v the likelihood is %v, larger than %v at the fit", seed, near, other, at)
			}
		}
	}
}

// Posterior and odds agree with the formula computed by plain loops.
func TestPosterior(t *testing.T) {
	w := weighing{beta: []float64{2, 3}, rho: 0.2}
	row := []float32{0.1, -0.2, 0.5, 0.3, 0.1, -0.4}
	p, r := make([]float64, 3), make([]float64, 3)
	w.fillProbabilities(p, row)
	for y := range 3 {
		var want [3]float64
		var sum float64
		for k := range want {
			want[k] = math.Exp(2*float64(row[k])+3*float64(row[3+k])) * 0.2 / 2
			if k == y {
				want[k] *= 0.8 / (0.2 / 2)
			}
			sum += want[k]
		}
		own := w.fillPosterior(r, p, y)
		for k := range want {
			if math.Abs(r[k]-want[k]/sum) > 1e-12 {
				t.Errorf("label %d: class %d: %v, by loops %v", y, k, r[k], want[k]/sum)
			}
		}
		if o := w.computeLogOdds(p, y); math.Abs(1/(1+math.Exp(-o))-own) > 1e-12 {
			t.Errorf("label %d: odds %v for a probability of %v", y, o, own)
		}
	}
}

// A class is spread evenly over the folds, and no class of two images or more is entirely in one fold.
func TestPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		column := rapid.SliceOf(rapid.IntRange(-1, 5)).Draw(t, "columns")
		folds := rapid.IntRange(2, 7).Draw(t, "folds")
		fold := judges.Part(column, 6, folds, rand.New(rand.NewPCG(1, 1)))
		count := make([][]int, 6)
		for k := range count {
			count[k] = make([]int, folds)
		}
		for i, k := range column {
			if (k < 0) != (fold[i] < 0) || fold[i] >= folds {
				t.Fatalf("row %d of column %d is in fold %d", i, k, fold[i])
			}
			if k >= 0 {
				count[k][fold[i]]++
			}
		}
		for k, list := range count {
			low, high := list[0], list[0]
			for _, n := range list {
				low, high = min(low, n), max(high, n)
			}
			if high > low+1 {
				t.Fatalf("column %d has %v rows in the folds", k, list)
			}
		}
	})
}
