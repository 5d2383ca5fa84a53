package losses

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// weightedSubject returns the entry's loss with different weights, some of them 0.
func weightedSubject(t *testing.T, e Entry, settings map[string]any) subject {
	s := catalogSubject(t, e, settings)
	plain := s.build
	s.build = func() Loss {
		l := plain()
		l.(Weighted).SetWeights(testWeights(500))
		return l
	}
	s.exact = s.build
	return s
}

func weightedEntries() (list []Entry) {
	for _, e := range Catalog {
		if e.Weighted {
			list = append(list, e)
		}
	}
	return list
}

// The conformance checks again with weights, except the one whose rows have no IDs.
func TestConformanceWithWeights(t *testing.T) {
	for _, e := range weightedEntries() {
		for _, settings := range append(settingVariants(e), moreVariants[e.Name]...) {
			for _, check := range conformChecks {
				if check.name == "same image twice" {
					continue
				}
				if err := check.run(weightedSubject(t, e, settings)); err != nil {
					t.Errorf("%s %v: %s: %v", e.Name, settings, check.name, err)
				}
			}
		}
	}
}

// Weights belong to IDs, not to positions in the batch or the bank.
func checkWeightsByID(s subject, l func() Loss) error {
	for _, in := range s.inputs(31, 60) {
		w := testWeights(400)
		weigh := func(l Loss, w []float64) Loss {
			l.(Weighted).SetWeights(w)
			return l
		}
		want, wantGrad := public(weigh(l(), w), in)
		perm := rand.New(rand.NewPCG(4, 4)).Perm(len(w))
		moved := make([]float64, len(w))
		for i, to := range perm {
			moved[to] = w[i]
		}
		rename := func(ids []int) []int {
			out := slices.Clone(ids)
			for i, id := range ids {
				out[i] = perm[id]
			}
			return out
		}
		other := in
		other.ids, other.bankIDs = rename(in.ids), rename(in.bankIDs)
		got, grad := public(weigh(l(), moved), other)
		if rel, _ := worst(grad, wantGrad); got != want || rel > 0 {
			return fmt.Errorf("value %v, with other ids %v; gradient off by %v", want, got, rel)
		}
		if none, _ := public(weigh(l(), nil), in); none == want {
			return fmt.Errorf("weights change nothing: %v", none)
		}
	}
	return nil
}

// unweighted drops its weights.
type unweighted struct{ Loss }

func (unweighted) SetWeights([]float64) {}

// misplaced uses the weights in the order of the rows.
type misplaced struct {
	Loss
	w []float64
}

func (l *misplaced) SetWeights(w []float64) { l.w = w }

func (l *misplaced) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	l.Loss.(Weighted).SetWeights(l.w)
	z.IDs = seq(z.Len())
	if ref != nil {
		bank := *ref
		bank.IDs = seq(bank.Len())
		ref = &bank
	}
	return l.Loss.Eval(grad, z, ref)
}

func TestWeightsByID(t *testing.T) {
	for _, e := range weightedEntries() {
		s := catalogSubject(t, e, nil)
		if err := checkWeightsByID(s, s.build); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if checkWeightsByID(s, func() Loss { return unweighted{s.build()} }) == nil {
			t.Errorf("%s: a twin that forgets its weights is not seen", e.Name)
		}
		if checkWeightsByID(s, func() Loss { return &misplaced{Loss: s.build()} }) == nil {
			t.Errorf("%s: a twin with weights by place is not seen", e.Name)
		}
		s.entry.Weighted = false
		if checkEntry(s) == nil {
			t.Errorf("%s: an entry that hides its weights is not seen", e.Name)
		}
	}
}

// Dropped samples of weight 0 have no effect; otherwise they still count in the sums.
func TestDroppedWeights(t *testing.T) {
	in := conformInput(33, 60)
	w := testWeights(60)
	rest := exactInput{normalize: true}
	for i := range in.z {
		if w[i] > 0 {
			rest.z, rest.labels, rest.ids = append(rest.z, in.z[i]), append(rest.labels, in.labels[i]),
				append(rest.ids, i)
		}
	}
	for _, drop := range []bool{true, false} {
		build := func() Loss {
			l := mustNew(t, "weighted_multi_similarity", map[string]any{"drop_zero_weight": drop},
				testEnv(conformDim, conformClasses, 1))
			l.(Weighted).SetWeights(w)
			return l
		}
		whole, _ := public(build(), in)
		part, _ := public(build(), rest)
		if drop != near(whole, part, 1e-6, 1e-9) {
			t.Errorf("drop %v: %v with samples of weight 0, %v without", drop, whole, part)
		}
	}
}

func TestWeightsPanicWithoutIDs(t *testing.T) {
	in := conformInput(34, 8)
	z, _ := in.sets()
	bank := z
	bank.IDs = nil
	for name, try := range map[string]struct {
		w    []float64
		z    features.Set
		ref  *features.Set
		want string
	}{
		"batch without ids": {testWeights(8), bank, nil, "found 0 ids and 8 weights"},
		"bank without ids":  {testWeights(8), z, &bank, "found 0 ids and 8 weights"},
		"too few weights":   {testWeights(7), z, nil, "found 8 ids and 7 weights"},
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, try.want) {
					t.Errorf("%s: panics with %q, expected %q", name, said, try.want)
				}
			}()
			l := mustNew(t, "weighted_multi_similarity", nil, testEnv(conformDim, conformClasses, 1))
			l.(Weighted).SetWeights(try.w)
			l.Eval(nil, try.z, try.ref)
		}()
	}
}

// With weights, too, a step of a size seen before allocates no memory.
func TestNoAllocationWithWeights(t *testing.T) {
	z := benchSet(16, 8, 5, 1)
	grad := features.NewMatrix(z.Len(), z.Dim())
	for _, drop := range []bool{false, true} {
		l := mustNew(t, "weighted_multi_similarity", map[string]any{"drop_zero_weight": drop}, testEnv(8, 5, 1))
		l.(Weighted).SetWeights(testWeights(16))
		if n := testing.AllocsPerRun(20, func() { l.Eval(&grad, z, nil) }); n > 0 {
			t.Errorf("drop %v: %v allocations a step", drop, n)
		}
	}
}
