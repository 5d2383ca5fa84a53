package selective

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/train"
)

// slope returns the central difference of f with respect to x[i].
func slope(x []float64, i int, f func() float64) float64 {
	const h = 1e-5
	old := x[i]
	x[i] = old + h
	up := f()
	x[i] = old - h
	down := f()
	x[i] = old
	return (up - down) / (2 * h)
}

func randoms(rng *rand.Rand, n int, scale float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = scale * rng.NormFloat64()
	}
	return x
}

// off returns the largest difference between an analytic gradient and central differences, divided by the largest
// central difference.
func off(gradient, x []float64, f func() float64) float64 {
	var far, largest float64
	for i := range x {
		s := slope(x, i, f)
		far, largest = math.Max(far, math.Abs(s-gradient[i])), math.Max(largest, math.Abs(s))
	}
	return far / largest
}

// Every kernel's gradient equals central differences of the kernel's value; a wrong gradient does not.
func TestKernelGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		n := 3 + rng.IntN(8)
		x, target := randoms(rng, n, 2), make([]float64, n)
		features.Softmax(target, randoms(rng, n, 1))
		weight, tau := 0.1+rng.Float64(), 0.05+rng.Float64()
		own := rng.IntN(n+1) - 1
		sides := []pull{{0.7, nil}, {0.3, nil}}
		for j := range n {
			if j != own && rng.IntN(2) == 0 {
				sides[rng.IntN(2)].positives = append(sides[rng.IntN(2)].positives, j)
			}
		}
		sides[0].positives = append(sides[0].positives, (own+1)%n)
		p, g := make([]float64, n), randoms(rng, n, 1)
		for name, c := range map[string]struct {
			value    func() float64
			gradient func() []float64
		}{
			"contrast": {
				func() float64 {
					return weight * contrastRow(append([]float64(nil), x...), own, sides, tau, weight, make([]float64,
						n))
				},
				func() []float64 {
					d := append([]float64(nil), x...)
					contrastRow(d, own, sides, tau, weight, make([]float64, n))
					return d
				},
			},
			"cross entropy": {
				func() float64 {
					sum := features.Softmax(p, x)
					return weight * crossEntropy(make([]float64, n), x, p, sum, target, weight)
				},
				func() []float64 {
					d, sum := make([]float64, n), features.Softmax(p, x)
					crossEntropy(d, x, p, sum, target, weight)
					return d
				},
			},
			"entropy": {
				func() float64 {
					sum := features.Softmax(p, x)
					return weight * weightedEntropy(make([]float64, n), x, p, sum, weight)
				},
				func() []float64 {
					d, sum := make([]float64, n), features.Softmax(p, x)
					weightedEntropy(d, x, p, sum, weight)
					return d
				},
			},
			"softmax": {
				func() (v float64) {
					features.Softmax(p, x)
					for k := range p {
						v += g[k] * p[k]
					}
					return v
				},
				func() []float64 {
					d := make([]float64, n)
					features.Softmax(p, x)
					throughSoftmax(d, p, g)
					return d
				},
			},
		} {
			d := c.gradient()
			if far := off(d, x, c.value); far > 1e-6 {
				t.Errorf("%s: gradient differs by %v of the largest entry", name, far)
			}
			for i := range d {
				d[i] *= 1.001
			}
			if off(d, x, c.value) < 1e-6 {
				t.Errorf("%s: a wrong gradient goes unnoticed", name)
			}
		}
	}
}

// If no side has positives, or the row has weight 0, value and gradient are 0.
func TestContrastOfNothing(t *testing.T) {
	for name, c := range map[string]struct {
		sides  []pull
		weight float64
	}{"no side": {nil, 1}, "no positives": {[]pull{{0.5, nil}, {0.5, nil}}, 1},
		"no weight": {[]pull{{1, []int{0}}}, 0}} {
		s := []float32{0.3, 0.2, float32(math.Inf(-1))}
		if v := contrastRow(s, 1, c.sides, 0.1, c.weight, make([]float64, 3)); v != 0 || s[0] != 0 ||
			s[1] != 0 || s[2] != 0 {
			t.Errorf("%s: %v, gradient %v", name, v, s)
		}
	}
	s := []float32{900, -900, float32(math.Inf(-1))} // two extreme similarities, and one removed candidate
	if v := contrastRow(s, -1, []pull{{1, []int{1}}}, 0.01, 1, make([]float64, 3)); math.Abs(v-180000) > 1 ||
		math.IsNaN(float64(s[0]+s[1]+s[2])) {
		t.Errorf("%v, gradient %v", v, s)
	}
}

// Views keep the mean of a feature and have the requested variance.
func TestViewsHaveTheirSpread(t *testing.T) {
	set, _ := clusters(1, 4, 200, 0)
	for _, v := range []View{{}, {Noise: 0.5}, {Dropout: 0.3}, {Noise: 0.2, Dropout: 0.5}} {
		draw := newViews(v, set, set.X)
		const times = 4000
		rows := make([]int, times)
		for i := range rows {
			rows[i] = 5
		}
		dst := features.NewMatrix(times, set.Dim())
		draw.drawViews(dst, rows, train.Rand(1, "test", 0))
		for j, x := range set.Row(5) {
			var sum, squares, dropped float64
			for i := range times {
				got := float64(features.Row(dst, i)[j])
				sum += got / times
				squares += got * got / times
				if got == 0 {
					dropped += 1. / times
				}
			}
			deviation := float64(draw.deviation[j]) / math.Sqrt(3)
			kept := 1 - v.Dropout
			want := (float64(x)*float64(x)+deviation*deviation)/kept - float64(x)*float64(x)
			if scale := math.Sqrt(want/times) + 1e-6; math.Abs(sum-float64(x)) > 5*scale {
				t.Errorf("%+v: feature %d: mean %v, expected %v", v, j, sum, x)
			}
			if found := squares - sum*sum; math.Abs(found-want) > 0.12*want+1e-6 {
				t.Errorf("%+v: feature %d: variance %v, expected %v", v, j, found, want)
			}
			if math.Abs(dropped-v.Dropout) > 0.04 {
				t.Errorf("%+v: feature %d: %v dropped", v, j, dropped)
			}
		}
	}
}

// A share is max(x, 1 - x) for x from Beta(a, a), with mean ½ + E|x - ½|. Without mixing it is 1.
func TestMixtures(t *testing.T) {
	rng := train.Rand(1, "mixtures", 0)
	for a, want := range map[float64]float64{1: 0.75, 0: 1, 1e5: 0.5, 0.5: 0.5 + 1/math.Pi} {
		var mean float64
		const times = 20000
		for range times {
			m := drawMixture(a, 3, rng)
			if !(m.share >= 0.5 && m.share <= 1) {
				t.Fatalf("Beta(%v): share %v", a, m.share)
			}
			mean += m.share / times
		}
		if math.Abs(mean-want) > 0.01 {
			t.Errorf("Beta(%v): mean share %v, expected %v", a, mean, want)
		}
	}
	x := blas32.General{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	dst := features.NewMatrix(2, 2)
	mixture{0.75, []int{1, 0}}.mixRows(dst, x)
	for i, want := range []float32{1.5, 2.5, 2.5, 3.5} {
		if dst.Data[i] != want {
			t.Errorf("mixed: %v", dst.Data)
		}
	}
}

// A queue holds the latest vectors with their rows, even after wrapping around. pushedAt finds the last pushed vectors.
func TestQueue(t *testing.T) {
	q := newQueue("q", 5, 1)
	var all []float32
	for step := range 7 {
		n := 1 + step%3
		x, rows := features.NewMatrix(n, 1), make([]int, n)
		for i := range n {
			x.Data[i], rows[i] = float32(len(all)+i), 100+len(all)+i
		}
		q.pushVectors(x, rows)
		all = append(all, x.Data...)
		latest := all[max(len(all)-5, 0):]
		if q.len() != len(latest) || q.queueVectors().Rows != len(latest) {
			t.Fatalf("step %d: %d vectors, expected %d", step, q.len(), len(latest))
		}
		for at := range q.len() {
			v := q.queueVectors().Data[at]
			if v < latest[0] || q.trainingRow(at) != 100+int(v) {
				t.Errorf("step %d: place %d holds %v of row %d", step, at, v, q.trainingRow(at))
			}
		}
		for i := range n {
			if got := q.queueVectors().Data[q.pushedAt(i)]; got != x.Data[i] {
				t.Errorf("step %d: the push's vector %d is %v, expected %v", step, i, got, x.Data[i])
			}
		}
	}
}
