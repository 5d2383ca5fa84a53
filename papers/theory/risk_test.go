package theory

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The tests use toyClasses classes of toyEach points. Expectations are exact, because they sum over all possible
// labels of the points.
const (
	toyClasses, toyEach = 3, 2
	toyPoints           = toyClasses * toyEach
	farthest            = 2.0 // d_max on the unit sphere
	toyMargin           = 0.2
)

func toyClass(i int) int { return i / toyEach }

// distances returns the distances of random points on the sphere in R³.
func distances(rng *rand.Rand) (d [toyPoints][toyPoints]float64) {
	var z [toyPoints][3]float64
	for i := range z {
		norm := 0.0
		for j := range z[i] {
			z[i][j] = rng.NormFloat64()
			norm += z[i][j] * z[i][j]
		}
		for j := range z[i] {
			z[i][j] /= math.Sqrt(norm)
		}
	}
	for i := range z {
		for j := range z {
			for k := range z[i] {
				d[i][j] += (z[i][k] - z[j][k]) * (z[i][k] - z[j][k])
			}
			d[i][j] = math.Sqrt(d[i][j])
		}
	}
	return d
}

// average returns the expectation of risk over all possible labels of the points under noise p.
func average(p float64, risk func(labels []int) float64) float64 {
	labels, sum := make([]int, toyPoints), 0.0
	var draw func(i int, weight float64)
	draw = func(i int, weight float64) {
		if i == toyPoints {
			sum += weight * risk(labels)
			return
		}
		for l := range toyClasses {
			labels[i] = l
			draw(i+1, weight*chance(toyClass(i), l, p, toyClasses))
		}
	}
	draw(0, 1)
	return sum
}

// auxiliary returns the pair loss l^A of 000 eq. 9.
func auxiliary(d float64, alike bool) float64 {
	if alike {
		return d
	}
	return farthest - d
}

// TestPairRiskUnderNoise tests that the expected weighted risk under noise is the affine function of the clean risk in
// 000 eq. 17, with the corrected q₊ but not with the printed q₊.
func TestPairRiskUnderNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	weight := map[bool]float64{true: 1, false: 1. / toyClasses}
	for _, p := range []float64{0.1, 0.3, 0.6} {
		for range 5 {
			d := distances(rng)
			noisy := average(p, func(labels []int) float64 {
				sum := 0.0
				for i := range toyPoints {
					for j := range i {
						alike := labels[i] == labels[j]
						sum += weight[alike] * auxiliary(d[i][j], alike)
					}
				}
				return sum
			})
			predict := func(q PairNoise) float64 {
				sum := 0.0
				for i := range toyPoints {
					for j := range i {
						alike, rate := toyClass(i) == toyClass(j), q.Negative
						if alike {
							rate = q.Positive
						}
						keep := 1 - rate - rate*weight[!alike]/weight[alike]
						sum += keep*weight[alike]*auxiliary(d[i][j], alike) + rate*weight[!alike]*farthest
					}
				}
				return sum
			}
			if want := predict(Pairs(p, toyClasses)); math.Abs(noisy-want) > 1e-10 {
				t.Errorf("p %v: found the risk %v, expected %v", p, noisy, want)
			}
			if math.Abs(noisy-predict(pairsPrinted(p, toyClasses))) < 1e-3 {
				t.Errorf("p %v: the printed q₊ also predicts the risk, so that the test shows nothing", p)
			}
		}
	}
}

// tripletRisk returns the mean unhinged triplet loss under 1-1 sampling: the expectation over the draw of one negative
// for each ordered positive pair. With hinge, negative terms are set to 0.
func tripletRisk(d *[toyPoints][toyPoints]float64, labels []int, hinge bool) float64 {
	sum := 0.0
	for a := range toyPoints {
		for p := range toyPoints {
			if a == p || labels[a] != labels[p] {
				continue
			}
			total, count := 0.0, 0.0
			for n := range toyPoints {
				if labels[n] == labels[a] {
					continue
				}
				count++
				if hinge {
					total += max(0, d[a][p]-d[a][n]+toyMargin)
				} else {
					total += farthest + d[a][p] - d[a][n] + toyMargin
				}
			}
			if count > 0 {
				sum += total / count
			}
		}
	}
	return sum
}

// TestTripletRiskIsAffine tests the expected noisy risk of unhinged triplets under 1-1 sampling. For all embeddings it
// is the same affine function of two sums of distances: over the pairs of the same true class, and over the others. At
// a noise rate well below the triplet bound, the risk pulls the former together and pushes the latter apart; for random
// labels both weights are equal. With the hinge the risk is not affine.
func TestTripletRiskIsAffine(t *testing.T) {
	for _, p := range []float64{0, 0.2, 0.45, 2. / 3} {
		pull, push, off := fitTriplets(t, p, false)
		if off > 1e-10 {
			t.Errorf("p %v: the unhinged risk differs from the affine function by %v", p, off)
		}
		if _, _, off := fitTriplets(t, p, true); off < 1e-3 {
			t.Errorf("p %v: the hinged risk differs from the affine function by only %v, expected more", p, off)
		}
		informative := p < float64(toyClasses-1)/toyClasses
		if informative != (pull > push+1e-9) {
			t.Errorf("p %v: weights %v of pairs of one class and %v of pairs of two classes", p, pull, push)
		}
		if p <= unhingedBound(toyClasses)/2 && (pull <= 0 || push >= 0) {
			t.Errorf("p %v, far below the bound: weights %v of pairs of one class and %v of pairs of two classes, "+
				"expected above 0 and below 0", p, pull, push)
		}
	}
}

// fitTriplets solves risk = pull·Σ d(same class) + push·Σ d(different classes) + constant on three embeddings. off is
// the largest deviation on ten other embeddings.
func fitTriplets(t *testing.T, p float64, hinge bool) (pull, push, off float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(2, 2))
	var rows [13][3]float64 // Σ d(same class), Σ d(different classes), risk
	for k := range rows {
		d := distances(rng)
		for i := range toyPoints {
			for j := range i {
				if toyClass(i) == toyClass(j) {
					rows[k][0] += d[i][j]
				} else {
					rows[k][1] += d[i][j]
				}
			}
		}
		rows[k][2] = average(p, func(labels []int) float64 { return tripletRisk(&d, labels, hinge) })
	}
	x, y := difference(rows[1], rows[0]), difference(rows[2], rows[0])
	det := x[0]*y[1] - x[1]*y[0]
	pull = (x[2]*y[1] - x[1]*y[2]) / det
	push = (x[0]*y[2] - x[2]*y[0]) / det
	for _, r := range rows[3:] {
		e := difference(r, rows[0])
		off = max(off, math.Abs(e[2]-pull*e[0]-push*e[1]))
	}
	return pull, push, off
}

func difference(a, b [3]float64) [3]float64 {
	return [3]float64{a[0] - b[0], a[1] - b[1], a[2] - b[2]}
}
