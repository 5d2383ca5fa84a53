package theory

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
	"winnow/losses"
)

// The tests of this file compare the losses used in training with the theory. Expectations are exact: they are sums
// over all 3⁶ noisy labellings of six points of three classes.

// toySet returns random points on the sphere in R³ with their true labels.
func toySet(t *testing.T, rng *rand.Rand) features.Set {
	t.Helper()
	z := features.NewSet(toyPoints, 3)
	for i := range toyPoints {
		z.Labels[i] = toyClass(i)
		for k := range z.Row(i) {
			z.Row(i)[k] = float32(rng.NormFloat64())
		}
	}
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	return z
}

func toyLoss(t *testing.T, name string, settings map[string]any) losses.Loss {
	t.Helper()
	env := losses.Env{Dim: 3, Classes: toyClasses, Step: func() *rand.Rand { return nil }}
	loss, err := losses.New(name, settings, env)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

// pairLosses lists the losses of single pairs. For unhinged losses l(t) + l(-t) is a constant. The hinge of the last
// loss makes this sum vary.
var pairLosses = []struct {
	name     string
	settings map[string]any
	both     float64
	hinged   bool
}{
	{"auxiliary_pair", nil, farthest, false}, // eq. 10
	{"unhinged_marginal", map[string]any{"margin": 0.2, "beta": 1.4}, 2 * (farthest + toyMargin), false}, // eq. 32
	{"marginal", map[string]any{"margin": 0.2, "beta": 1.4}, 2 * toyMargin, true},
}

// TestPairLossesUnderNoise tests eq. 11 and 17 with w₊ = 1 and w₋ = 1/K: the expected noisy risk of the unhinged pair
// losses is the clean risk with each pair's term scaled by 1 - q - q·w₋ₜ/wₜ and shifted by q·w₋ₜ·(l(t) + l(-t)).
// The equations hold even for noise so high that a scale is negative. They do not hold for a hinged loss.
func TestPairLossesUnderNoise(t *testing.T) {
	weight := map[bool]float64{true: 1, false: 1. / toyClasses}
	for _, c := range pairLosses {
		loss := toyLoss(t, c.name, c.settings)
		largest := 0.0
		for seed := range uint64(4) {
			z := toySet(t, rand.New(rand.NewPCG(seed, 3)))
			var term [toyPoints][toyPoints]map[bool]float64 // l of each pair; the key is whether its labels are equal
			for i := range toyPoints {
				for j := range i {
					pair := z.Rows([]int{i, j})
					term[i][j] = map[bool]float64{}
					for _, alike := range []bool{true, false} {
						if pair.Labels = []int{0, 1}; alike {
							pair.Labels[1] = 0
						}
						term[i][j][alike] = loss.Eval(nil, pair, nil)
					}
				}
			}
			for _, p := range []float64{0.1, 0.3, 0.6, 0.8} {
				noisy := average(p, func(labels []int) float64 {
					sum := 0.0
					for i := range toyPoints {
						for j := range i {
							alike := labels[i] == labels[j]
							sum += weight[alike] * term[i][j][alike]
						}
					}
					return sum
				})
				q, affine := Pairs(p, toyClasses), 0.0
				for i := range toyPoints {
					for j := range i {
						alike, rate := toyClass(i) == toyClass(j), q.Negative
						if alike {
							rate = q.Positive
						}
						scale := 1 - rate - rate*weight[!alike]/weight[alike]
						affine += scale*weight[alike]*term[i][j][alike] + rate*weight[!alike]*c.both
					}
				}
				largest = max(largest, math.Abs(noisy-affine))
			}
		}
		if !c.hinged && largest > 1e-5 { // similarities are float32
			t.Errorf("%s: the noisy risk differs from the affine function of the clean risk by %v", c.name, largest)
		}
		if c.hinged && largest < 1e-2 {
			t.Errorf("%s: the hinged risk differs by only %v, so that the test shows nothing", c.name, largest)
		}
	}
}

// TestLossesAreAffineUnderNoise tests that a batch's expected loss with noisy labels is an affine function of the sums
// of distances by true labels, the same function for all embeddings. This holds for every unhinged loss and for no
// hinged loss.
func TestLossesAreAffineUnderNoise(t *testing.T) {
	own := map[string]any{"w_neg": -1.0} // 1/K
	for _, c := range []struct {
		name     string
		settings map[string]any
		hinged   bool
	}{
		{"auxiliary_pair", own, false},
		{"unhinged_marginal", nil, false},
		{"unhinged_triplet", nil, false},
		{"marginal", map[string]any{"beta": 1.0}, true},
		{"triplet", map[string]any{"select": "all", "distance": "l2", "margin": 0.2}, true},
	} {
		loss := toyLoss(t, c.name, c.settings)
		for _, p := range []float64{0, 0.2, 0.45} {
			off := offPlane(t, p, loss)
			if !c.hinged && off > 1e-5 {
				t.Errorf("%s, p %v: differs from the affine function by %v", c.name, p, off)
			}
			if c.hinged && off < 1e-3 {
				t.Errorf("%s, p %v: differs from the affine function by only %v, expected more", c.name, p, off)
			}
		}
	}
}

// offPlane fits the noisy risk of three embeddings by an affine function of two sums of distances: over the pairs of
// the same true class, and over the other pairs. It returns the largest deviation on eight other embeddings.
func offPlane(t *testing.T, p float64, loss losses.Loss) (off float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 4))
	var rows [11][3]float64
	for k := range rows {
		z := toySet(t, rng)
		for i := range toyPoints {
			for j := range i {
				d := 0.0
				for x, v := range z.Row(i) {
					d += math.Pow(float64(v)-float64(z.Row(j)[x]), 2)
				}
				if toyClass(i) == toyClass(j) {
					rows[k][0] += math.Sqrt(d)
				} else {
					rows[k][1] += math.Sqrt(d)
				}
			}
		}
		noisy := z
		rows[k][2] = average(p, func(labels []int) float64 {
			noisy.Labels = labels
			return loss.Eval(nil, noisy, nil)
		})
	}
	x, y := difference(rows[1], rows[0]), difference(rows[2], rows[0])
	det := x[0]*y[1] - x[1]*y[0]
	if math.Abs(det) < 0.1 {
		t.Fatalf("the three embeddings are too similar: determinant %v", det)
	}
	a, b := (x[2]*y[1]-x[1]*y[2])/det, (x[0]*y[2]-x[2]*y[0])/det
	for _, r := range rows[3:] {
		e := difference(r, rows[0])
		off = max(off, math.Abs(e[2]-a*e[0]-b*e[1]))
	}
	return off
}
