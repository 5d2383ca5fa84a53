package findings_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"winnow/audit/findings"
	"winnow/features"
	"winnow/filters/leaveout"
)

const dim, each = 24, 30

// world draws six classes. Class 1 is a second name of class 0, class 2 has two groups, and the last two rows, labelled
// as class 5, are outliers.
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
		other[j] -= along * v // nearly orthogonal, like classes in many dimensions
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

// abroad adds n outliers to a world: around one centre or, with alone, in random directions.
func abroad(z features.Set, n int, alone bool, seed uint64) features.Set {
	rng := rand.New(rand.NewPCG(seed, 9))
	out := features.NewSet(z.Len()+n, dim)
	copy(out.X.Data, z.X.Data)
	copy(out.Labels, z.Labels)
	centre := make([]float64, dim)
	for i := z.Len(); i < out.Len(); i++ {
		for j := range dim {
			if alone || i == z.Len() {
				centre[j] = rng.NormFloat64()
			}
			out.Row(i)[j] = float32(centre[j] + 0.05*rng.NormFloat64())
		}
	}
	return out
}

func TestFits(t *testing.T) {
	const ordinary = 6 * each
	for _, c := range []struct {
		name  string
		n     int
		alone bool
		group func(i int) int // group of an outlier
	}{
		{name: "each alone", n: 3, alone: true},
		{name: "three of a kind", n: 3},
		{name: "one in eight copies", n: 8, group: func(int) int { return 0 }},
	} {
		for seed := range uint64(5) {
			z := abroad(world(seed).Rows(features.AllRows(ordinary)), c.n, c.alone, seed)
			var group []int
			if c.group != nil {
				group = make([]int, z.Len())
				for i := range group {
					if group[i] = -1; i >= ordinary {
						group[i] = c.group(i)
					}
				}
			}
			fit, err := findings.Fits(t.Context(), z, group, 0)
			if err != nil {
				t.Fatal(err)
			}
			called, least := 0, slices.Min(fit[:ordinary])
			for _, v := range fit[:ordinary] {
				if v < findings.Outlying {
					called++
				}
			}
			if called > 1 { // one in 200
				t.Errorf("%s, seed %d: %d of %d ordinary vectors are outliers", c.name, seed, called, ordinary)
			}
			for i, v := range fit[ordinary:] {
				if v >= least || v >= findings.Outlying {
					t.Errorf("%s, seed %d: outlier %d has fit %v, ordinary vectors at least %v", c.name, seed, i, v,
						least)
				}
			}
		}
	}
}

func TestFitsOfFew(t *testing.T) {
	z := features.NewSet(4, 3) // a zero vector and three equal vectors
	for i := 1; i < 4; i++ {
		z.Row(i)[0] = 2
	}
	fit, err := findings.Fits(t.Context(), z, []int{-1, 0, 0, 0}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range fit {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("row %d: fit %v, expected a finite number", i, v)
		}
	}
	fit, err = findings.Fits(t.Context(), z.Rows([]int{1, 2}), []int{0, 0}, 0)
	if err != nil || !math.IsNaN(fit[0]) || !math.IsNaN(fit[1]) {
		t.Errorf("two duplicates only: fit %v, %v, expected NaN", fit, err)
	}
}

func TestCopies(t *testing.T) {
	z := world(1)
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	copy(z.Row(4), z.Row(3)) // a duplicate with another class
	copy(z.Row(9), z.Row(3)) // a duplicate with the same class
	found, err := findings.Copies(context.Background(), z, 0.999, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i, list := range found {
		want := map[int]int{3: 2, 4: 2, 9: 2}[i]
		if len(list) != want {
			t.Errorf("row %d: %v, expected %d duplicates", i, list, want)
		}
		for _, n := range list {
			if n.Row == i || n.Similarity < 0.999 {
				t.Errorf("row %d: %+v", i, n)
			}
		}
	}
}
