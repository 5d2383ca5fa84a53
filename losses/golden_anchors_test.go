package losses

import (
	"fmt"
	"slices"
	"testing"

	"winnow/features"
	"winnow/internal/testing/reference"
)

// This file checks golden values of the losses of an anchor with all its pairs. The circle cases were computed with a
// softplus that is linear above 20. Its error of at most 2e-9 is within all tolerances.

func multiSimilaritySettings(c reference.Case) map[string]any {
	out := asGiven(c)
	if epsilon, ok := out["miner_epsilon"]; ok {
		delete(out, "miner_epsilon")
		out["miner"], out["epsilon"] = epsilon != nil, epsilon
	}
	return out
}

func goldenWeightedMS(t *testing.T, c reference.Case) {
	in := goldenInput(t, c)
	in.ids = features.AllRows(len(in.z))
	l := mustNew(t, "weighted_multi_similarity", renamed(map[string]string{"rho": "base"})(c),
		goldenEnv(t, c)).(*weightedSimilarity)
	l.SetWeights(c.Floats(t, "weights"))
	want, wantGrad := c.Float(t, "loss"), c.Matrix(t, "grad")
	loss, grad := exactPairs(&l.similarity, in)
	compare(t, "float64", loss, want, grad, wantGrad, lossRel, gradRel)
	loss, grad = public(l, in)
	compare(t, "float32", loss, want, grad, wantGrad, loss32, grad32)
}

// goldenMSMiner compares the sets of pairs that the miner selects.
func goldenMSMiner(t *testing.T, c reference.Case) {
	mapped(t, c, "epsilon")
	epsilon := c.Param("epsilon", 0.1)
	in := goldenInput(t, c)
	z, _ := unit64(in.z)
	p, S, n := in.pairs(), cosines(z, z, false), len(z)
	got := map[string][][2]int{}
	for i := range n {
		s := S[i*n : (i+1)*n]
		w := msMiner{epsilon: epsilon}.limitWindow(s, i, p, nil)
		for j, v := range s {
			if p.rows[i] != p.cols[j] && v > w.above {
				got["negative_pairs"] = append(got["negative_pairs"], [2]int{i, j})
			}
			if p.isPositive(i, j) && v < w.below {
				got["positive_pairs"] = append(got["positive_pairs"], [2]int{i, j})
			}
		}
	}
	for _, kind := range []string{"positive_pairs", "negative_pairs"} {
		var want [][2]int
		c.Decode(t, kind, &want)
		slices.SortFunc(want, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		if !slices.Equal(got[kind], want) {
			t.Errorf("%s %s, expected %s", kind, fmt.Sprint(got[kind]), fmt.Sprint(want))
		}
	}
}
