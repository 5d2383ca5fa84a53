package findings_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/audit/findings"
	"winnow/features"
)

// With more rows than are all compared, almost all pairs at the bound are found, and nothing else.
func TestSketched(t *testing.T) {
	const n, d, pairs = findings.AllCompared + 2000, 96, 1000
	rng := rand.New(rand.NewPCG(4, 4))
	z := features.NewSet(n, d)
	for i := range z.X.Data {
		z.X.Data[i] = float32(rng.NormFloat64())
	}
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		z.Labels[i] = i % 7
	}
	for p := range pairs { // row 2p+1 lies at 0.81 from row 2p
		a, b := z.Row(2*p), z.Row(2*p+1)
		along := features.Dot(a, b)
		side := math.Sqrt(1 - along*along)
		for j, v := range a {
			b[j] = float32(0.81*float64(v) + math.Sqrt(1-0.81*0.81)*(float64(b[j])-along*float64(v))/side)
		}
	}
	copies, err := findings.Copies(t.Context(), z, findings.CopyBound, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, list := range copies {
		for _, c := range list {
			if i >= 2*pairs || c.Row != i^1 || math.Abs(float64(c.Similarity)-0.81) > 1e-5 {
				t.Errorf("row %d: %+v", i, c)
			}
			found++
		}
	}
	if found < 2*pairs*9/10 {
		t.Errorf("%d of %d copies are found", found, 2*pairs)
	}
	t.Logf("%d of %d copies are found", found, 2*pairs)
}

// A set of copies only is searched in bounded time, with the right lists.
func TestSketchedCopiesOfOne(t *testing.T) {
	z := features.NewSet(findings.AllCompared+2000, 16)
	for i := range z.Len() {
		z.Labels[i] = i % 2
		z.Row(i)[3] = 1
	}
	copies, err := findings.Copies(t.Context(), z, findings.CopyBound, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i, list := range copies {
		if len(list) != 10 {
			t.Fatalf("row %d: %d copies", i, len(list))
		}
	}
}
