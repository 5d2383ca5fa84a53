package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"winnow/features"
)

// tripletBench lists the selections of the triplet loss in BenchmarkLoss.
var tripletBench = []struct {
	name     string
	settings map[string]any
}{
	{"batch_hard", map[string]any{"select": "batch_hard", "distance": "l2"}},
	{"random_semihard", map[string]any{"select": "random_semihard", "distance": "l2"}},
	{"fixed_semihard", map[string]any{"select": "fixed_semihard", "distance": "l2"}},
	{"all", map[string]any{"select": "all"}},
	{"all_smooth", map[string]any{"select": "all", "smooth": true, "distance": "l2", "margin": 0.05}},
	{"all_swap", map[string]any{"select": "all", "swap": true}},
	{"all_smooth_swap", map[string]any{"select": "all", "smooth": true, "swap": true}},
	{"violating", map[string]any{"select": "violating"}},
	{"hard", map[string]any{"select": "hard"}},
	{"semihard_all", map[string]any{"select": "semihard_all"}},
	{"semihard_all_smooth", map[string]any{"select": "semihard_all", "smooth": true}},
	{"easy_smooth", map[string]any{"select": "easy", "smooth": true}},
}

// BenchmarkAllTriplets times the computation of dS from S for a block of anchors. It increases the number of positives
// to show which part of the time grows with the number of triplets. It reports the fastest run, because a block takes
// less time than a time slice of a shared machine.
func BenchmarkAllTriplets(b *testing.B) {
	const n, d, rows = 1024, 128, 8
	for _, classes := range []int{256, 16, 2} {
		z := benchSet(n, d, classes, 1)
		S := make([]float64, rows*n)
		for k := range S {
			for c, v := range z.Row(k / n) {
				S[k] += float64(v) * float64(z.Row(k % n)[c])
			}
		}
		dS := make([]float64, len(S))
		for _, v := range []struct {
			name, loss string
			settings   map[string]any
		}{
			{"semihard", "triplet", nil},
			{"batch_hard", "triplet", map[string]any{"select": "batch_hard"}},
			{"hinge", "triplet", map[string]any{"select": "all"}},
			{"hinge wide", "triplet", map[string]any{"select": "all", "margin": 1.0}},
			{"semihard_all", "triplet", map[string]any{"select": "semihard_all"}},
			{"easy", "triplet", map[string]any{"select": "easy", "gap": 0.1}},
			{"smooth", "triplet", map[string]any{"select": "all", "smooth": true}},
			{"easy smooth", "triplet", map[string]any{"select": "easy", "smooth": true}},
			{"rdml", "rdml", nil},
			{"unhinged", "unhinged_triplet", nil},
		} {
			b.Run(fmt.Sprintf("%s/positives=%d", v.name, n/classes-1), func(b *testing.B) {
				env := testEnv(d, classes, 1)
				l := mustNew(b, v.loss, v.settings, env).(*similarity)
				p := &pairs{rows: z.Labels[:rows], cols: z.Labels, self: true, draw: env.Step()}
				best := time.Duration(math.MaxInt64)
				for b.Loop() {
					start := time.Now()
					l.fn.evalPairs(dS, S, p)
					best = min(best, time.Since(start))
				}
				b.ReportMetric(float64(best)/float64(len(S)), "best-ns/pair")
			})
		}
	}
}

// No selection allocates memory in a step whose batch size has occurred before, against a batch or a bank.
func TestTripletsDoNotAllocate(t *testing.T) {
	z, bank := benchSet(48, 8, 3, 1), benchSet(90, 8, 3, 2)
	source := rand.New(rand.NewPCG(1, 2))
	for _, v := range append(settingVariants(tripletEntry), tripletVariants...) {
		env := testEnv(8, 3, 1)
		env.Step = func() *rand.Rand { return source }
		l := mustNew(t, "triplet", v, env)
		grad := features.NewMatrix(z.Len(), z.Dim())
		refs := []*features.Set{nil, &bank}
		if v["swap"] == true {
			refs = refs[:1]
		}
		for _, ref := range refs {
			if n := testing.AllocsPerRun(5, func() { l.Eval(&grad, z, ref) }); n > 0 {
				t.Errorf("%v, bank %v: %v allocations a step", v, ref != nil, n)
			}
		}
	}
}
