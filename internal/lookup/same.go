package lookup

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/features"
)

const (
	printSize = 8    // number of values in a fingerprint
	printNear = 1e-6 // largest difference for one image, computed in batches of different sizes
)

// SameImages returns, for the ID of each query, the IDs of the gallery rows that show the same image: rows with the
// same path, and rows with the same stored features, which means the same bytes. Both sets must be features of the same
// network. Time O((q+g)·d), memory O(q+g).
func SameImages(ctx context.Context, d *datasets.Dataset, query, gallery features.Source) (map[int][]int, error) {
	asked, among := query.Bare().IDs, gallery.Bare().IDs
	byPath := make(map[string]int, len(among))
	for _, id := range among {
		byPath[d.Samples[id].Path] = id
	}
	of, err := newFingerprints(ctx, query)
	if err != nil {
		return nil, err
	}
	prints, err := newFingerprints(ctx, gallery)
	if err != nil {
		return nil, err
	}
	first := func(row int) float32 { return prints.Data[row*printSize] }
	order := features.AllRows(len(among))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(first(a), first(b)) })
	same := map[int][]int{}
	for i, id := range asked {
		if own, ok := byPath[d.Samples[id].Path]; ok {
			same[id] = append(same[id], own)
		}
		p := features.Row(of, i)
		from, _ := slices.BinarySearchFunc(order, p[0]-printNear, func(row int, v float32) int {
			return cmp.Compare(first(row), v)
		})
		for _, row := range order[from:] {
			if first(row) > p[0]+printNear {
				break
			}
			if areFingerprintsNear(p, features.Row(prints, row)) && !slices.Contains(same[id], among[row]) {
				same[id] = append(same[id], among[row])
			}
		}
	}
	return same, nil
}

// areFingerprintsNear reports whether two fingerprints belong to the same image. It is false for vectors of zeros,
// whose fingerprints are NaN.
func areFingerprintsNear(a, b []float32) bool {
	for k := range a {
		if !(math.Abs(float64(a[k]-b[k])) <= printNear) {
			return false
		}
	}
	return true
}

// newFingerprints returns the projections of the normalized rows on a few fixed directions.
func newFingerprints(ctx context.Context, of features.Source) (blas32.General, error) {
	out, directions := features.NewMatrix(of.Len(), printSize), features.NewMatrix(printSize, of.Dim())
	rng := rand.New(rand.NewPCG(0x73616d65, 0)) // "same"
	for i := range directions.Data {
		directions.Data[i] = float32(rng.NormFloat64() / math.Sqrt(float64(of.Dim())))
	}
	var scratch, products []float32
	for from := 0; from < of.Len(); from += 1024 {
		n := min(1024, of.Len()-from)
		x, err := of.Part(ctx, &scratch, from, n)
		if err != nil {
			return out, err
		}
		p := features.Products(&products, x, directions)
		for i := range n {
			norm := blas32.Nrm2(blas32.Vector{N: x.Cols, Inc: 1, Data: features.Row(x, i)})
			for k, v := range features.Row(p, i) {
				out.Data[(from+i)*printSize+k] = v / norm // NaN for a row of zeros
			}
		}
	}
	return out, nil
}
