package theory

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// chance returns the probability that a sample of class y gets the label l.
func chance(y, l int, p float64, classes int) float64 {
	if y == l {
		return 1 - p
	}
	return p / float64(classes-1)
}

// TestPairsByEnumeration compares Pairs with sums over all labels of two samples.
func TestPairsByEnumeration(t *testing.T) {
	for classes := 2; classes <= 7; classes++ {
		for _, p := range []float64{0, 0.05, 0.3, 0.8, 0.99} {
			var positive, negative float64
			for l := range classes {
				for m := range classes {
					if l != m {
						positive += chance(0, l, p, classes) * chance(0, m, p, classes)
					} else {
						negative += chance(0, l, p, classes) * chance(1, m, p, classes)
					}
				}
			}
			q := Pairs(p, classes)
			near(t, "q₊", q.Positive, positive)
			near(t, "q₋", q.Negative, negative)
			near(t, "P_FN", Pairs(p, classes).Negative, negative)
			if printed := pairsPrinted(p, classes).Positive; p > 0 && math.Abs(printed-positive) < 1e-6 {
				t.Errorf("K %d, p %v: the printed q₊ is correct, expected an error", classes, p)
			}
		}
	}
}

// TestLatentByEnumeration compares latentTriplet with sums over all true classes of a triplet, and P_FP with sums over
// those of a pair.
func TestLatentByEnumeration(t *testing.T) {
	for classes := 2; classes <= 5; classes++ {
		for _, p := range []float64{0, 0.2, 0.6, 0.95} {
			var got Latent
			var total, wrong, assigned float64
			for a := range classes {
				for b := range classes {
					for c := range classes { // true classes, given the labels 0, 0 and 1
						w := chance(a, 0, p, classes) * chance(b, 0, p, classes) * chance(c, 1, p, classes)
						total += w
						switch {
						case a == b && b == c:
							got.AllSame += w
						case a == b:
							got.Clean += w
						case a == c:
							got.Inverted += w
						case b == c:
							got.Other += w
						default:
							got.AllDifferent += w
						}
					}
					w := chance(a, 0, p, classes) * chance(b, 0, p, classes)
					assigned += w
					if a != b {
						wrong += w
					}
				}
			}
			want := latentTriplet(p, classes)
			if classes == 2 && want.AllDifferent != 0 {
				t.Errorf("p %v: a share of %v has three classes, expected 0 with two classes", p, want.AllDifferent)
			}
			near(t, "clean", want.Clean, got.Clean/total)
			near(t, "all same", want.AllSame, got.AllSame/total)
			near(t, "all different", want.AllDifferent, got.AllDifferent/total)
			near(t, "inverted", want.Inverted, got.Inverted/total)
			near(t, "other", want.Other, got.Other/total)
			near(t, "P_FP", Pairs(p, classes).Positive, wrong/assigned)
		}
	}
}

// root returns the smallest p with Q(p) = level, for weights 1 and w₋, or η₊ and η₋/K. It bisects Q, which falls from 1
// as p rises from 0 to (K-1)/K.
func root(pairs func(float64, int) PairNoise, classes int, ratio, inverse, level float64) float64 {
	low, high := 0.0, float64(classes-1)/float64(classes)
	for range 200 {
		p := (low + high) / 2
		q := pairs(p, classes)
		if min(1-q.Positive-q.Positive*inverse, 1-q.Negative-q.Negative*ratio) > level {
			low = p
		} else {
			high = p
		}
	}
	return low
}

// TestBounds compares the closed forms with the roots of Q. The triplet's condition for positive pairs uses the largest
// w₋, η/K; the condition for negative pairs uses the smallest, 1/(ηK).
func TestBounds(t *testing.T) {
	for _, k := range []int{2, 3, 10, 100, 11318} {
		n := float64(k)
		for name, pairs := range map[string]func(float64, int) PairNoise{"corrected": Pairs, "printed": pairsPrinted} {
			near(t, name+" unhinged", unhingedBound(k), root(pairs, k, n, 1/n, 0))
			for _, eta := range []float64{1, 1.1, 2, 7.5, 100} {
				near(t, name+" triplet", tripletBound(k, eta), root(pairs, k, eta*n, eta/n, 0))
			}
			for _, gamma := range []float64{1, 0.9, 0.5, 0.01} {
				for _, level := range []float64{0, 0.5} {
					near(t, name+" marginal", marginalBound(k, gamma, level), root(pairs, k, n/gamma, gamma/n, level))
				}
			}
		}
	}
	const many = 100_000_000
	for _, eta := range []float64{1.25, 3, 10} {
		if b, limit := tripletBound(many, eta), tripletBoundLimit(eta); math.Abs(b-limit) > 1e-6 {
			t.Errorf("η %v: %v for many classes, expected %v", eta, b, limit)
		}
		near(t, "γ = 1/η", marginalBoundLimit(1/eta, 0), tripletBoundLimit(eta))
		p := tripletBoundPrinted(eta)
		near(t, "eq. 26 as printed", 1-(2*p+p*p)*eta, 0)
	}
	// The exact weight changes the bound. With many images in each class the weight approaches 1/(K-1) instead of 1/K.
	near(t, "exact weight", countPairs(12, 5).Bound, root(Pairs, 12, 55./4, 4./55, 0))
}

// TestInverse tests that label noise converted to pair noise and back is unchanged.
func TestInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(2, 2000).Draw(t, "classes")
		p := rapid.Float64Range(0, 0.999*float64(classes-1)/float64(classes)).Draw(t, "p")
		if got := labelNoiseOf(Pairs(p, classes).Positive, classes); math.Abs(got-p) > 1e-7 {
			t.Fatalf("K %d: p %v was converted back to %v", classes, p, got)
		}
		if got := labelNoise(largeK(p)); math.Abs(got-p) > 1e-7 {
			t.Fatalf("p %v was converted back to %v", p, got)
		}
	})
	if v := labelNoiseOf(0.95, 10); !math.IsNaN(v) {
		t.Errorf("q₊ = 0.95 is impossible for ten classes: found p = %v, expected NaN", v)
	}
}
