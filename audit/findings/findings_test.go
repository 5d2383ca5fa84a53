package findings_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"winnow/audit/findings"
	"winnow/features"
	"winnow/filters/leaveout"
)

const dim, each = 24, 30

// world draws six classes: class 1 is a second name of class 0, class 2 has two groups, and the last two rows,
// labelled as class 5, lie anywhere.
func world(seed uint64) features.Set {
	rng := rand.New(rand.NewPCG(seed, 8))
	centre := func() []float64 {
		c := make([]float64, dim)
		for j := range c {
			c[j] = rng.NormFloat64()
		}
		return c
	}
	centres := [][]float64{centre(), nil, centre(), centre(), centre(), centre()}
	centres[1] = centres[0]
	other := centre()
	along := floats.Dot(other, centres[2]) / floats.Dot(centres[2], centres[2])
	for j, v := range centres[2] {
		other[j] -= along * v // as little alike as classes are in many dimensions
	}
	z := features.NewSet(6*each+2, dim)
	for i := range 6 * each {
		k := i % 6
		z.Labels[i] = k
		c := centres[k]
		if k == 2 && i%12 < 6 {
			c = other
		}
		for j := range dim {
			z.Row(i)[j] = float32(c[j] + 0.4*rng.NormFloat64())
		}
	}
	for i := 6 * each; i < z.Len(); i++ {
		z.Labels[i] = 5
		for j, v := range centre() {
			z.Row(i)[j] = float32(v)
		}
	}
	return z
}

func set(t *testing.T, seed uint64) *leaveout.Set {
	t.Helper()
	s, err := leaveout.New(world(seed), 6)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestClasses(t *testing.T) {
	for seed := range uint64(5) {
		list, err := findings.Classes(t.Context(), set(t, seed))
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range list {
			same, two := k < 2, k == 2
			if c.Class != k || c.SameAsLike() != same || same && c.Like != 1-k || c.LooksLikeTwo() != two {
				t.Errorf("seed %d: %+v", seed, c)
			}
			if want := each + 2*(k/5); c.Images != want || !(c.Kappa > 5) {
				t.Errorf("seed %d: %+v, expected %d images", seed, c, want)
			}
		}
	}
}

func TestFit(t *testing.T) {
	for seed := range uint64(5) {
		fit, err := findings.Fit(t.Context(), set(t, seed))
		if err != nil {
			t.Fatal(err)
		}
		called := 0
		for i, v := range fit[:6*each] {
			if v < findings.Outlying && i%6 != 2 { // the groups of class 2 both lie far from its centre
				called++
			}
		}
		if called > 9 { // one in twenty
			t.Errorf("seed %d: %d members fit no class", seed, called)
		}
		for i := 6 * each; i < len(fit); i++ {
			if fit[i] >= findings.Outlying {
				t.Errorf("seed %d: a vector from nowhere fits with %v", seed, fit[i])
			}
		}
	}
}

func TestCopies(t *testing.T) {
	z := world(1)
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	copy(z.Row(4), z.Row(3)) // class 4 and 3
	copy(z.Row(9), z.Row(3)) // class 3 too
	found, err := findings.Copies(context.Background(), z, 0.999, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i, list := range found {
		want := map[int]int{3: 2, 4: 2, 9: 2}[i]
		if len(list) != want {
			t.Errorf("row %d: %v, expected %d copies", i, list, want)
		}
		for _, n := range list {
			if n.Row == i || n.Similarity < 0.999 {
				t.Errorf("row %d: %+v", i, n)
			}
		}
	}
}
