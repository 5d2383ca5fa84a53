package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
)

// parted draws rows for fitting and for testing from the same classes; some labels are wrong, some missing.
func parted(seed uint64, n, d, classes int, spread float64) (train, test features.Set) {
	rng := rand.New(rand.NewPCG(seed, 21))
	s := blobs(seed, 2*n, d, classes, spread)
	for i := range s.Labels {
		switch rng.IntN(10) {
		case 0:
			s.Labels[i] = rng.IntN(classes)
		case 1:
			s.Labels[i] = features.Unlabelled
		}
	}
	var first, second []int
	for i, to := range rng.Perm(2 * n) {
		if i < n {
			first = append(first, to)
		} else {
			second = append(second, to)
		}
	}
	return s.Rows(first), s.Rows(second)
}

// slowClassMean follows the definition, in float64, row by row.
func slowClassMean(train, test features.Set, countUnseen bool) Accuracy {
	out := Accuracy{}
	members := map[int][][]float64{}
	rows := rows64(train)
	most := 0
	for i, label := range train.Labels {
		if label != features.Unlabelled {
			out.Fitted++
			members[label] = append(members[label], rows[i])
			most = max(most, label)
		}
	}
	out.Classes = len(members)
	right := 0.0
	for i, x := range rows64(test) {
		label := test.Labels[i]
		if label == features.Unlabelled {
			continue
		}
		if members[label] == nil {
			out.Unseen++
			if !countUnseen {
				continue
			}
		}
		out.N++
		best, least := -1, math.Inf(1)
		for k := 0; k <= most; k++ {
			sum := 0.0
			for j := range x {
				mean := 0.0
				for _, row := range members[k] {
					mean += row[j]
				}
				mean /= float64(len(members[k]))
				sum += (x[j] - mean) * (x[j] - mean)
			}
			if members[k] != nil && sum < least {
				best, least = k, sum
			}
		}
		if best == label {
			right++
		}
	}
	if out.N > 0 {
		out.Accuracy = right / float64(out.N)
	}
	return out
}

func TestClassMeanAgainstLoops(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 4))
		classes := 2 + rng.IntN(9)
		train, test := parted(seed, 20+rng.IntN(80), 2+rng.IntN(12), classes, 1.5)
		for i, label := range train.Labels {
			if label == 1 { // a class that is only in test; this also leaves gaps in the ids
				train.Labels[i] = 40
			}
		}
		for _, unseen := range []bool{false, true} {
			for _, mem := range []Bytes{0, Bytes(4 * (classes + 1))} {
				got, err := NearestClassMean(context.Background(), train, test,
					ClassifierOptions{CountUnseen: unseen, MaxMem: mem})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(slowClassMean(train, test, unseen), got, near); diff != "" {
					t.Errorf("seed %d, unseen %v (-want +got):\n%s", seed, unseen, diff)
				}
			}
		}
	}
}

// If two means are closer to each other than float32 can resolve, float64 decides; for equal means, the lower ID wins.
func TestClassMeanDecidesInFloat64(t *testing.T) {
	const d, ulp = 64, 1.0 / (1 << 26) // ulp is the float32 spacing at 1/8
	train, test := features.NewSet(3, d), features.NewSet(1, d)
	for j := range d {
		test.Row(0)[j] = 0.125
		for i := range 3 {
			train.Row(i)[j] = 0.125
		}
	}
	// The squared distance is 8 ulp² to the two outer means and 33 ulp² to the middle mean. All float32 products are 1,
	// and the middle mean is the shortest.
	for j := range 8 {
		test.Row(0)[j] = 0.125 + 2*ulp
		train.Row(0)[j], train.Row(2)[j] = 0.125+ulp, 0.125+ulp
	}
	train.Row(1)[60] = 0.125 + ulp
	for _, labels := range [][]int{{7, 6, 5}, {0, 1, 2}} {
		copy(train.Labels, labels)
		want := min(labels[0], labels[2])
		if got, err := FitClassMeans(train).Predict(context.Background(), test.X, 0); err != nil || got[0] != want {
			t.Errorf("classes %v: found %v (%v), expected %d", labels, got, err, want)
		}
	}
}

// slowProbe returns the function that a probe minimises and its gradient, in float64 with plain loops.
func slowProbe(
	train features.Set, classes []int, w [][]float64, bias []float64, l2 float64,
) (loss float64, gw [][]float64, gb []float64) {
	gb = make([]float64, len(w))
	for k := range w {
		gw = append(gw, make([]float64, len(w[k])))
		for j, v := range w[k] {
			loss += l2 / 2 * v * v
			gw[k][j] = l2 * v
		}
	}
	n := float64(train.Len())
	for i, x := range rows64(train) {
		z, sum := make([]float64, len(w)), 0.0
		for k := range w {
			z[k] = bias[k]
			for j := range x {
				z[k] += w[k][j] * x[j]
			}
			sum += math.Exp(z[k])
		}
		for k := range w {
			g := math.Exp(z[k]) / sum / n
			if classes[k] == train.Labels[i] {
				loss -= (z[k] - math.Log(sum)) / n
				g -= 1 / n
			}
			gb[k] += g
			for j := range x {
				gw[k][j] += g * x[j]
			}
		}
	}
	return loss, gw, gb
}

// solved checks that a probe is the minimum. As the function is convex, a nearly zero gradient suffices.
func solved(train features.Set, p *Probe, l2, tolerance float64) error {
	zero := make([][]float64, len(p.W))
	for k := range zero {
		zero[k] = make([]float64, train.Dim())
	}
	_, gw, gb := slowProbe(train, p.Classes, zero, make([]float64, len(zero)), l2)
	scale := 0.0
	for _, row := range append(gw, gb) {
		for _, v := range row {
			scale = math.Max(scale, math.Abs(v))
		}
	}
	loss, gw, gb := slowProbe(train, p.Classes, p.W, p.Bias, l2)
	if math.Abs(loss-p.Loss) > 1e-6*(1+loss) {
		return fmt.Errorf("loss %v, expected %v", p.Loss, loss)
	}
	for k, row := range append(gw, gb) {
		for j, v := range row {
			if math.Abs(v) > 2*tolerance*scale+1e-7 {
				return fmt.Errorf("gradient of weight %d %d is %v, at the start at most %v", k, j, v, scale)
			}
		}
	}
	return nil
}

func TestProbeIsTheMinimum(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 6))
		train, _ := parted(seed, 40+rng.IntN(200), 3+rng.IntN(20), 2+rng.IntN(6), 2)
		train = keepLabelled(train)
		for _, l2 := range []float64{1e-1, 1e-3, 1e-5} {
			for _, mem := range []Bytes{0, 4 * 8 * 13} {
				opts := ProbeOptions{L2: l2, Tolerance: 1e-4}
				opts.MaxMem = mem
				p, err := FitProbe(context.Background(), train, opts)
				if err != nil || !p.Converged {
					t.Fatalf("seed %d, l2 %g: %v, after %d steps the gradient is %v", seed, l2, err,
						p.Iterations, p.Gradient)
				}
				if err := solved(train, p, l2, 1e-4); err != nil {
					t.Errorf("seed %d, l2 %g, %d steps: %v", seed, l2, p.Iterations, err)
				}
				bad := *p
				bad.W = slices.Clone(p.W)
				bad.W[0] = slices.Clone(p.W[0])
				bad.W[0][1] += 0.5 / (1 + math.Sqrt(l2)) * (1 + math.Abs(bad.W[0][1]))
				if solved(train, &bad, l2, 1e-4) == nil {
					t.Errorf("seed %d, l2 %g: a corrupted weight passes the check", seed, l2)
				}
			}
		}
	}
}

func TestProbeDegenerate(t *testing.T) {
	ctx := context.Background()
	one := blobs(1, 6, 5, 1, 1)
	p, err := LinearProbe(ctx, one, one, ProbeOptions{L2: 1e-3})
	if err != nil || p.Accuracy.Accuracy != 1 || p.Loss != 0 || !p.Converged || p.Iterations != 0 {
		t.Errorf("one class: %+v, %v", p, err)
	}
	same := features.NewSet(6, 4)
	for i := range same.Len() {
		same.Row(i)[0], same.Labels[i] = 1, i%2
	}
	if p, err = LinearProbe(ctx, same, same, ProbeOptions{L2: 1e-3}); err != nil || math.Abs(p.Loss-math.Ln2) > 1e-6 ||
		p.Accuracy.Accuracy != 0.5 {
		t.Errorf("equal rows of two classes: %+v, %v, expected a loss of log 2 and half of them right", p, err)
	}
	apart := blobs(2, 30, 8, 3, 0.01) // separable: no finite solution without a penalty
	if p, err = LinearProbe(ctx, apart, apart, ProbeOptions{}); err != nil || p.Accuracy.Accuracy != 1 ||
		math.IsNaN(p.Loss) {
		t.Errorf("separable, no penalty: %+v, %v", p, err)
	}
	if p, err = LinearProbe(ctx, apart, apart, ProbeOptions{L2: 1e-6, Iterations: 2}); err != nil || p.Converged ||
		p.Iterations != 2 {
		t.Errorf("two steps: %+v, %v", p, err)
	}
}

func TestClassifierDoors(t *testing.T) {
	train, test := parted(1, 20, 4, 3, 1)
	other, narrow, none := test.Rows(allOf(test.Len())), blobs(1, 5, 3, 3, 1), test.Rows(allOf(test.Len()))
	for i := range other.Labels {
		other.Labels[i], none.Labels[i] = 50+i, features.Unlabelled
	}
	spoilt := train.Rows(allOf(train.Len()))
	spoilt.Row(0)[0], spoilt.Labels[0] = float32(math.NaN()), 0
	for name, run := range map[string]func(train, test features.Set) error{
		"mean": func(train, test features.Set) error {
			_, err := NearestClassMean(context.Background(), train, test, ClassifierOptions{})
			return err
		},
		"probe": func(train, test features.Set) error {
			_, err := LinearProbe(context.Background(), train, test, ProbeOptions{L2: 1e-3})
			return err
		},
	} {
		if err := run(train, other); !errors.Is(err, ErrNoSharedClass) {
			t.Errorf("%s: no shared class: %v", name, err)
		}
		for what, sets := range map[string][2]features.Set{"dimensions": {train, narrow},
			"nothing to fit": {none, test}, "nothing to judge": {train, none}, "NaN": {spoilt, test}} {
			if run(sets[0], sets[1]) == nil {
				t.Errorf("%s: %s: no error", name, what)
			}
		}
	}
	if _, err := FitProbe(context.Background(), blobs(1, 9, 3, 3, 1), ProbeOptions{L2: -1}); err == nil {
		t.Error("no error for a negative penalty")
	}
}

func allOf(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// A badly scaled quadratic with noise in its values and gradients, like that of float32 products.
func TestLBFGSBearsNoise(t *testing.T) {
	const d = 60
	for _, noisy := range []float64{0, 1e-7} {
		rng := rand.New(rand.NewPCG(3, 3))
		f := func(x, grad []float64) (float64, error) {
			value := 1.0
			for i, v := range x {
				curve := math.Pow(10, -3*float64(i)/d)
				value += curve / 2 * (v - 1) * (v - 1)
				grad[i] = curve*(v-1) + noisy*rng.NormFloat64()
			}
			return value * (1 + noisy*rng.NormFloat64()), nil
		}
		x := make([]float64, d)
		l := lbfgs{limit: 500, tolerance: 1e-5}
		value, slope, steps, done, err := l.minimiseValue(x, f)
		if err != nil || !done || slope > 1e-5 || math.Abs(value-1) > 1e-6 {
			t.Errorf("noise %g: value %v, gradient %v after %d steps, done %v, %v", noisy, value, slope,
				steps, done, err)
		}
		for i, v := range x {
			if math.Abs(v-1) > 0.03 {
				t.Errorf("noise %g: x[%d] = %v, expected 1", noisy, i, v)
			}
		}
	}
	rng := rand.New(rand.NewPCG(4, 4))
	never := lbfgs{limit: 5000, tolerance: 1e-12}
	_, _, steps, done, err := never.minimiseValue(make([]float64, 3), func(x, grad []float64) (float64, error) {
		for i, v := range x {
			grad[i] = v - 1 + 1e-7*rng.NormFloat64()
		}
		return (x[0]-1)*(x[0]-1) + 3, nil
	})
	if err != nil || done || steps > 500 {
		t.Errorf("with only noise left: %d steps, done %v, %v", steps, done, err)
	}
	l := lbfgs{limit: 5, tolerance: 1e-5}
	if _, _, _, _, err := l.minimiseValue([]float64{1},
		func(_, grad []float64) (float64, error) { grad[0] = 1; return math.NaN(), nil }); err == nil {
		t.Error("no error for NaN")
	}
}
