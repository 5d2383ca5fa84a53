package losses

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

// If a bank holds every vector twice, the value doubles and the value per pair stays the same.
func TestPairs(t *testing.T) {
	z, bank := features.NewSet(3, 2), features.NewSet(4, 2)
	copy(z.X.Data, []float32{1, 0, 0, 1, .6, .8})
	copy(bank.X.Data, []float32{1, 0, .8, .6, 0, 1, -.6, .8})
	copy(z.Labels, []int{0, 1, 1})
	copy(bank.Labels, []int{0, 0, 1, 1})
	twice := features.NewSet(8, 2)
	copy(twice.X.Data, bank.X.Data)
	copy(twice.X.Data[8:], bank.X.Data)
	copy(twice.Labels, bank.Labels)
	copy(twice.Labels[4:], bank.Labels)
	env := Env{Dim: 2, Classes: 2}
	for _, printed := range []bool{false, true} {
		env.Printed = printed
		l, err := New("contrastive", Values{"margin": 0.1}, env)
		if err != nil {
			t.Fatal(err)
		}
		one, two := l.Eval(nil, z, &bank), l.Eval(nil, z, &twice)
		if math.Abs(two-2*one) > 1e-6 || one == 0 {
			t.Errorf("printed %v: %v, expected twice %v", printed, two, one)
		}
		a, b := one/Pairs(l, 3, 4), two/Pairs(l, 3, 8)
		if math.Abs(a-b) > 1e-7 {
			t.Errorf("printed %v: per pair %v and %v, expected the same", printed, a, b)
		}
		if !printed { // the mean over the 12 pairs, computed by hand
			want := ((0 + .2 + 0 + 0) + (0 + (.6 - .1) + 0 + .2) + ((.6 - .1) + (.96 - .1) + .2 + (1 - .28))) / 12
			if math.Abs(a-want) > 1e-6 {
				t.Errorf("per pair %v, expected %v", a, want)
			}
		}
	}
	for _, name := range []string{"multi_similarity", "supcon", "proxy_anchor"} {
		entry, _ := Find(name)
		e := env
		if entry.Params {
			e.Init = rand.New(rand.NewPCG(1, 1))
		}
		l, err := New(name, nil, e)
		if err != nil {
			t.Fatal(err)
		}
		if n := Pairs(l, 3, 8); n != 1 {
			t.Errorf("%s: divided by %v, expected 1 because the loss is a mean", name, n)
		}
	}
}
