package theory

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The toy world of these tests: classes × each points, whose labels are drawn in every possible way, so that
// expectations are exact.
const (
	toyClasses, toyEach = 3, 2
	toyPoints           = toyClasses * toyEach
	farthest            = 2.0 // d_max on the unit sphere
	toyMargin           = 0.2
)

func toyClass(i int) int { return i / toyEach }

// distances of random points on the sphere in R³.
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

// average is the expectation of risk over all labels that noise p can give the points.
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

// auxiliary is l^A of 000 eq. 9.
func auxiliary(d float64, alike bool) float64 {
	if alike {
		return d
	}
	return farthest - d
}

// TestPairRiskUnderNoise: the expected weighted risk under noise is the affine function of the clean one in eq. 17,
// with the corrected q₊ but not with the printed one.
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
				t.Errorf("p %v: the printed q₊ predicts the risk as well: the test tests nothing", p)
			}
		}
	}
}

// tripletRisk is the mean unhinged triplet loss under 1-1 sampling, one negative drawn for each ordered positive
// pair, in expectation over the draw; with hinge the terms are cut at 0.
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

// TestTripletRiskIsAffine: over all embeddings the expected noisy risk of 1-1 sampled unhinged triplets is one
// affine function of the sums of the distances of truly alike and of truly different pairs: it pulls the former
// and pushes the latter while the noise is well below the bound, and cannot tell them apart where labels say
// nothing. With the hinge it is no such function.
func TestTripletRiskIsAffine(t *testing.T) {
	for _, p := range []float64{0, 0.2, 0.45, 2. / 3} {
		pull, push, off := fitTriplets(t, p, false)
		if off > 1e-10 {
			t.Errorf("p %v: the unhinged risk is off the plane by %v", p, off)
		}
		if _, _, off := fitTriplets(t, p, true); off < 1e-3 {
			t.Errorf("p %v: the hinged risk is off the plane by %v only: the test tests nothing", p, off)
		}
		informative := p < float64(toyClasses-1)/toyClasses
		if informative != (pull > push+1e-9) {
			t.Errorf("p %v: weights %v of alike and %v of different pairs", p, pull, push)
		}
		if p <= unhingedBound(toyClasses)/2 && (pull <= 0 || push >= 0) {
			t.Errorf("p %v, far below the bound: weights %v of alike and %v of different pairs, expected above and "+
				"below 0", p, pull, push)
		}
	}
}

// fitTriplets solves risk = pull·Σ d(alike) + push·Σ d(different) + constant on three embeddings and returns
// the largest deviation on ten others.
func fitTriplets(t *testing.T, p float64, hinge bool) (pull, push, off float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(2, 2))
	var rows [13][3]float64 // Σ alike, Σ different, risk
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
