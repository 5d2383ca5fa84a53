package filters

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/features"
)

// around returns n unit vectors of dimension dim near an axis, all with the same label.
func around(r *rand.Rand, axis, n, dim, label int) features.Set {
	z := features.NewSet(n, dim)
	for i := range n {
		z.Labels[i], z.IDs[i] = label, i
		for k := range dim {
			z.Row(i)[k] = 0.05 * float32(r.NormFloat64())
		}
		z.Row(i)[axis]++
	}
	if err := features.Normalize(z.X); err != nil {
		panic(err)
	}
	return z
}

// axes returns two classes of two centres each along the axes 0 to 3, with several lengths.
func axes(dim int) *features.Param {
	p := features.NewParam("proxies", 4, dim)
	for j := range 4 {
		features.Row(p.Matrix(), j)[j] = float32(j + 1)
	}
	return p
}

// Wrong labels at a separate centre of their class are dropped by the paper's 75°, whatever the class and
// however near that centre. The centre with the most members is right, the first or the second.
func TestSubCenterDropsTheOtherCentre(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	bank := features.NewBank(100, 8, 2)
	for _, members := range []features.Set{around(r, 0, 12, 8, 0), around(r, 1, 5, 8, 0), around(r, 2, 5, 8, 1),
		around(r, 3, 12, 8, 1)} {
		bank.Push(members)
	}
	c := Default()
	c.Scorer, c.Threshold, c.Fixed = "sub_center", ThresholdFixed, math.Cos(75*math.Pi/180)
	f, err := New(c, Env{Dim: 8, Classes: 2, Proxies: axes(8), PerClass: 2})
	if err != nil {
		t.Fatal(err)
	}
	for axis, keeps := range []bool{true, false, false, true} {
		z := around(r, axis, 9, 8, axis/2)
		kept, scores := f.Keep(z, bank)
		if want := map[bool]int{true: 9, false: 0}[keeps]; len(kept) != want {
			t.Errorf("around centre %d: keeps %d of 9, expected %d (cosines %v)", axis, len(kept), want, scores)
		}
		dominant := axis / 2 * 3
		for i, s := range scores {
			near(t, "cosine to the dominant centre", s, float64(z.Row(i)[dominant]), 0, 1e-6)
		}
	}
	bank.Push(around(r, 1, 8, 8, 0)) // now 13 are there
	if kept, _ := f.Keep(around(r, 1, 9, 8, 0), bank); len(kept) != 9 {
		t.Errorf("keeps %d of 9 around the centre that most members have moved to", len(kept))
	}
}

// An own row does not count for its centre: with two members at one centre and one at the other, each is judged
// by the other two, and equal counts go to the first centre.
func TestSubCenterLeavesOwnRowOut(t *testing.T) {
	z := features.Set{X: features.NewMatrix(3, 8), Labels: []int{0, 0, 0}, IDs: []int{0, 1, 2}}
	for i, axis := range []int{0, 1, 1} {
		z.Row(i)[axis] = 1
	}
	s := &SubCenter{Proxies: axes(8), PerClass: 2}
	bank := features.BankOf(z, 2)
	if got := s.Score(nil, z, bank, true); !slices.Equal(got, []float64{0, 0, 0}) {
		t.Errorf("own rows: %v, expected 0 of all: the first by centre 1, the others by centre 0", got)
	}
	if got := s.Score(nil, z, bank, false); !slices.Equal(got, []float64{0, 1, 1}) {
		t.Errorf("other rows: %v, expected 0, 1 and 1 by centre 1", got)
	}
}

// With one centre per class, as in arcface, the score is the cosine to it, whatever the members; an unseen
// class scores 1.
func TestSubCenterOfOneCentre(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	bank := features.NewBank(10, 8, 4)
	bank.Push(around(r, 5, 3, 8, 1))
	s := &SubCenter{Proxies: axes(8), PerClass: 1}
	z := around(r, 1, 4, 8, 1)
	for i, score := range s.Score(nil, z, bank, false) {
		near(t, "cosine", score, float64(z.Row(i)[1]), 0, 1e-6)
	}
	if got := s.Score(nil, around(r, 3, 2, 8, 3), bank, false); !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("a class without members scores %v, expected 1", got)
	}
}
