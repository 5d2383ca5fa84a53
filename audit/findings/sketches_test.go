package findings_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/audit/findings"
	"winnow/features"
)

// With more than AllCompared rows, almost all pairs at the least cosine are found, and no pair below it.
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
	for p := range pairs { // rows 2p and 2p+1 have the cosine 0.81
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
		t.Errorf("%d of %d duplicates found", found, 2*pairs)
	}
	t.Logf("%d of %d duplicates found", found, 2*pairs)
}

// A set in which all rows are duplicates is searched in bounded time, and every list is full.
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
			t.Fatalf("row %d: %d duplicates, expected 10", i, len(list))
		}
	}
}

// Pairs with similar hashes are found, also if one image is mirrored, and unknown hashes match no image. This holds
// whether or not all pairs are compared.
func TestLikelyCopies(t *testing.T) {
	for _, n := range []int{2000, findings.AllCompared + 2000} {
		rng := rand.New(rand.NewPCG(5, uint64(n)))
		plain, mirrored := make([]findings.Hash, n), make([]findings.Hash, n)
		const pairs = 500
		for i := range n - 100 { // the last 100 are unknown
			h := findings.Hash{rng.Uint64(), rng.Uint64()}
			m := findings.Hash{h[0] ^ 0xF0F0F0F0F0F0F0F0, h[1] ^ 0xF0F0F0F0F0F0F0F0}
			if i%2 == 1 && i < 2*pairs { // a duplicate of the previous row
				if h, m = plain[i-1], mirrored[i-1]; i%4 == 1 {
					h, m = m, h
				}
				for _, bit := range rng.Perm(128)[:8] {
					h[bit/64] ^= 1 << (bit % 64)
					m[bit/64] ^= 1 << (bit % 64)
				}
			}
			plain[i], mirrored[i] = h, m
		}
		list, err := findings.LikelyCopies(t.Context(), plain, mirrored)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for i, near := range list {
			for _, c := range near {
				if i >= 2*pairs || c.Row != i^1 {
					t.Errorf("%d images: row %d: %+v", n, i, c)
				}
				found++
			}
		}
		if found < 2*pairs*99/100 || n <= findings.AllCompared && found < 2*pairs {
			t.Errorf("%d images: %d of %d found", n, found, 2*pairs)
		}
	}
}

// In few dimensions, random neighbours are as near as duplicates of photographs; only nearer neighbours are reported.
func TestCopiesInFewDimensions(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, d := range []int{6, 12, 64} {
		z := features.NewSet(600, d)
		for i := range z.X.Data {
			z.X.Data[i] = float32(rng.NormFloat64())
		}
		copy(z.Row(501), z.Row(100))
		if err := features.Normalize(z.X); err != nil {
			t.Fatal(err)
		}
		bound := findings.LeastCopies(z.Len(), d)
		near, err := findings.Copies(t.Context(), z, bound, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		groups := findings.Groups(z.Len(), findings.Apart(near, bound, d))
		if len(groups) != 1 || groups[0][0] != 100 || groups[0][1] != 501 {
			t.Errorf("%d values: found %v, expected rows 100 and 501", d, groups)
		}
	}
}
