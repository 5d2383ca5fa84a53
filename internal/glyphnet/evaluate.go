package main

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/glyphs"
	"winnow/eval"
	"winnow/features"
)

// embedder turns n images, given as the network's input, into n vectors of dimension dim.
type embedder struct {
	dim int
	run func(dst blas32.General, x []float32, n int) error
}

// embedSplit embeds the images of a split, drawn as the dataset draws them.
func embedSplit(e embedder, split string, seed uint64) (features.Set, error) {
	characters := glyphs.Characters(split)
	r, err := glyphs.NewRenderer(characters)
	if err != nil {
		return features.Set{}, err
	}
	const pixels, images = glyphs.Size * glyphs.Size, glyphs.DefaultImages
	set := features.NewSet(len(characters)*images, e.dim)
	x := make([]float32, images*pixels)
	for class, c := range characters {
		inChunks(images, func(lo, hi int) {
			var grey [pixels]byte
			for i := lo; i < hi; i++ {
				r.Render(grey[:], c.Char, glyphs.Found(), glyphs.Source(seed, c.Char, i))
				normalizeGrey(x[i*pixels:(i+1)*pixels], grey[:])
			}
		})
		rows := blas32.General{Rows: images, Cols: e.dim, Stride: e.dim, Data: set.X.Data[class*images*e.dim:]}
		if err := e.run(rows, x, images); err != nil {
			return features.Set{}, err
		}
		for i := range images {
			set.Labels[class*images+i] = class
		}
	}
	return set, nil
}

// precisionAt1 returns the share of a split's images whose nearest other image has their label.
func precisionAt1(e embedder, split string, seed uint64) (float64, error) {
	s, err := embedSplit(e, split, seed)
	if err != nil {
		return 0, err
	}
	if err := features.Normalize(s.X); err != nil {
		return 0, err
	}
	near, err := eval.Nearest(context.Background(), s, nil, 1, 0)
	if err != nil {
		return 0, err
	}
	right := 0
	for i, list := range near {
		if s.Labels[list[0].Row] == s.Labels[i] {
			right++
		}
	}
	return float64(right) / float64(s.Len()), nil
}
