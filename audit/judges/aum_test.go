package judges

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/features"
	"winnow/filters/leaveout"
)

// Margins, bar and suggestions agree with plain loops in double precision that use the same random numbers.
func TestAUMAgainstLoops(t *testing.T) {
	const classes = 32
	z, _ := fine(4, 0.3)
	s, err := leaveout.New(z, classes)
	if err != nil {
		t.Fatal(err)
	}
	n, d := z.Len(), z.Dim()
	rng := rand.New(rand.NewPCG(1, 2))
	order, share := rng.Perm(n), n/(classes+1)
	sum, kept, bar := make([]float64, n), make([]float64, n), 0.0
	total := make([][]float64, n) // logits summed over the epochs
	for training := range 2 {
		labels := slices.Clone(z.Labels)
		invented := order[training*share : (training+1)*share]
		for _, i := range invented {
			labels[i] = classes
		}
		w, speed := make([][]float64, classes+1), make([][]float64, classes+1)
		for k := range w {
			w[k], speed[k] = make([]float64, d+1), make([]float64, d+1)
		}
		logits := func(i int) []float64 {
			out := make([]float64, classes+1)
			for k := range out {
				out[k] = w[k][d]
				for j, v := range s.Z.Row(i) {
					out[k] += w[k][j] * float64(v)
				}
			}
			return out
		}
		margins := make([]float64, n)
		draws := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
		for range aumEpochs {
			list := draws.Perm(n)
			for from := 0; from < n; from += aumBatch {
				some := list[from:min(from+aumBatch, n)]
				for k := range speed {
					for j := range speed[k] {
						speed[k][j] *= aumMomentum
					}
				}
				for _, i := range some {
					l := logits(i)
					most, all := math.Inf(-1), 0.0
					for k, v := range l {
						if all += math.Exp(v); k != labels[i] {
							most = math.Max(most, v)
						}
					}
					margins[i] += (l[labels[i]] - most) / aumEpochs
					for k, v := range l {
						g := math.Exp(v) / all
						if k == labels[i] {
							g--
						}
						g /= float64(len(some))
						for j, v := range s.Z.Row(i) {
							speed[k][j] += g * float64(v)
						}
						speed[k][d] += g
					}
				}
				for k := range w {
					for j := range w[k] {
						w[k][j] -= aumRate * speed[k][j]
					}
				}
			}
			for i := range total {
				for k, v := range logits(i) {
					if total[i] == nil {
						total[i] = make([]float64, classes+1)
					}
					total[i][k] += v
				}
			}
		}
		var wrong []float64
		for _, i := range invented {
			wrong = append(wrong, margins[i])
		}
		bar += slices.Max(wrong) / 2 // the quantile of so few samples is their maximum
		for i := range n {
			if labels[i] == z.Labels[i] {
				sum[i] += margins[i]
				kept[i]++
			}
		}
	}
	v, called := judged(t, z, "aum"), 0
	for i, y := range z.Labels {
		want := sum[i] / kept[i]
		if math.Abs(v.Order[i]-want) > 1e-3 || math.Abs(v.Score[i]-1/(1+math.Exp(bar-want))) > 1e-3 {
			t.Errorf("row %d: %v, score %v, by loops %v, bar %v", i, v.Order[i], v.Score[i], want, bar)
		}
		if math.Abs(want-bar) < 1e-3 {
			continue
		}
		best := y
		if want < bar {
			called++
			for k, v := range total[i][:classes] {
				if k != y && (best == y || v > total[i][best]) {
					best = k
				}
			}
		}
		if v.Suggested[i] != best && total[i][best]-total[i][v.Suggested[i]] > 1e-2 {
			t.Errorf("row %d: suggested %d, by loops %d", i, v.Suggested[i], best)
		}
	}
	if called < n/10 || called > 9*n/10 {
		t.Errorf("%d of %d flagged", called, n)
	}
}

// Most wrong labels are below the bar, most right labels are above it, and most suggestions are correct.
func TestNamedJudgesCall(t *testing.T) {
	for _, name := range []string{"aum"} {
		z, truth := fine(7, 0.2)
		v := judged(t, z, name)
		var under, wrong, over, right, mended float64
		for i, y := range truth {
			called := v.Score[i] < 0.5
			switch {
			case z.Labels[i] == y:
				if right++; !called {
					over++
				}
			default:
				if wrong++; called {
					under++
				}
				if v.Suggested[i] == y {
					mended++
				}
			}
			if !called && v.Suggested[i] != z.Labels[i] {
				t.Errorf("%s, row %d: not flagged, but another label is suggested", name, i)
			}
		}
		t.Logf("%s: flagged %.3f of the wrong labels, %.3f of the right labels; %.3f fixed", name, under/wrong,
			1-over/right, mended/wrong)
		if under/wrong < 0.8 || over/right < 0.6 || mended/wrong < 0.5 {
			t.Errorf("%s: flagged %.3f of the wrong labels, %.3f of the right labels; %.3f fixed", name,
				under/wrong, 1-over/right, mended/wrong)
		}
	}
}

// Baselines return finite numbers for little data, are reproducible, and stop when the context is cancelled.
func TestNamedJudgesAtTheEdges(t *testing.T) {
	z, _ := fine(6, 0.2)
	two := z.Rows([]int{0, 1, 32, 33, 64})
	two.Labels = []int{0, 1, 0, 1, 1}
	equal := z.Rows(make([]int, 12))
	for i := range equal.Labels {
		equal.Labels[i] = i % 3
	}
	single := z.Rows([]int{0, 32, 64, 1, 33, 2})
	single.Labels = []int{0, 0, 0, 1, 1, 2}
	for _, name := range []string{"aum"} {
		for what, set := range map[string]features.Set{"two classes": two, "equal vectors": equal,
			"a class of one": single} {
			ask := func() Verdict {
				v, err := Ask(t.Context(), set, 32, name, Options{Rand: rand.New(rand.NewPCG(1, 2))})
				if err != nil {
					t.Fatalf("%s, %s: %v", name, what, err)
				}
				return v
			}
			v := ask()
			for i, o := range v.Order {
				alone := what == "a class of one" && i == 5
				if math.IsNaN(o) || math.IsInf(o, 0) != alone || math.IsNaN(v.Score[i]) ||
					math.IsNaN(v.SuggestedScore[i]) || v.Suggested[i] < 0 || v.Suggested[i] > 2 {
					t.Errorf("%s, %s, row %d: order %v, score %v, suggested %d (%v)", name, what, i, o, v.Score[i],
						v.Suggested[i], v.SuggestedScore[i])
				}
			}
			if !slices.Equal(ask().Order, v.Order) {
				t.Errorf("%s, %s: the second run has a different order", name, what)
			}
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if _, err := Ask(stopped, z, 32, name, Options{Rand: rand.New(rand.NewPCG(1, 2))}); !errors.Is(err,
			context.Canceled) {
			t.Errorf("%s: cancelled context: error %v", name, err)
		}
	}
}
