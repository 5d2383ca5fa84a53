package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets/glyphs"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
)

// embedder turns n images, given as the network's input, into n vectors of dimension dim.
type embedder struct {
	dim int
	run func(dst blas32.General, x []float32, n int) error
}

// heldOut returns the accuracy on n images of another stream of the same characters.
func heldOut(e embedder, c head.Classifier, data *stream, n int) (float64, error) {
	const batch = 256
	pixels, classes := make([]float32, batch*glyphs.Size*glyphs.Size), make([]int, batch)
	x, logits := features.NewMatrix(batch, e.dim), features.NewMatrix(batch, len(data.characters))
	var right float64
	for first := 0; first < n; first += batch {
		data.drawBatch(pixels, classes, first, batch)
		if err := e.run(x, pixels, batch); err != nil {
			return 0, err
		}
		c.Forward(logits, x)
		_, accuracy := crossEntropy(logits, classes, 0)
		right += accuracy * batch
	}
	return right / float64((n+batch-1)/batch*batch), nil
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

// precisionAt1 returns the share of rows whose nearest other row has their label. Rows are unit vectors.
func precisionAt1(s features.Set) (float64, error) {
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

// noiseAUROC replaces a share of the labels by other ones. It scores each row by its similarity to the centre
// of the other rows with its given label, and returns how well the scores separate right from wrong labels.
func noiseAUROC(s features.Set, share float64, seed uint64) (float64, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	classes := slices.Max(s.Labels) + 1
	given := slices.Clone(s.Labels)
	wrong := rng.Perm(s.Len())[:int(share*float64(s.Len()))]
	for _, i := range wrong {
		given[i] = (given[i] + 1 + rng.IntN(classes-1)) % classes
	}
	sums := features.NewMatrix(classes, s.Dim())
	for i, k := range given {
		blas32.Axpy(1, viewVector(s.Row(i)), viewVector(features.Row(sums, k)))
	}
	scores, bad := make([]float64, s.Len()), make([]bool, s.Len())
	for i, k := range given {
		centre := slices.Clone(features.Row(sums, k))
		blas32.Axpy(-1, viewVector(s.Row(i)), viewVector(centre))
		dot, norm := blas32.Dot(viewVector(centre), viewVector(s.Row(i))), blas32.Nrm2(viewVector(centre))
		scores[i], bad[i] = float64(dot/norm), k != s.Labels[i]
	}
	d, err := eval.Detect(scores, bad, make([]bool, s.Len()))
	return d.AUROC, err
}

func viewVector(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Inc: 1, Data: x} }

// report is the evaluation of a network, as shown in models/glyphnet.md.
type report struct {
	Frozen, Whitened     float64 // P@1 on a split of the dataset, of the features, frozen and whitened
	AUROC, WhitenedAUROC float64 // of finding 50 % wrong labels in that split
}

// String returns the report as a line of text.
func (r report) String() string {
	return fmt.Sprintf("P@1 %.4f, whitened %.4f; AUROC of 50 %% wrong labels %.4f, whitened %.4f",
		r.Frozen, r.Whitened, r.AUROC, r.WhitenedAUROC)
}

// whitenedDim is the number of principal directions kept.
const whitenedDim = 128

// measureSplit evaluates on one split: Validation while choosing, Test once at the end.
func measureSplit(e embedder, split string, seed uint64) (r report, err error) {
	set, err := embedSplit(e, split, seed)
	if err != nil {
		return r, err
	}
	white, err := head.WhitenSet(context.Background(), set, whitenedDim)
	if err != nil {
		return r, err
	}
	if err := features.Normalize(set.X); err != nil {
		return r, err
	}
	for _, m := range []struct {
		set              features.Set
		precision, auroc *float64
	}{{set, &r.Frozen, &r.AUROC}, {white, &r.Whitened, &r.WhitenedAUROC}} {
		if *m.precision, err = precisionAt1(m.set); err != nil {
			return r, err
		}
		if *m.auroc, err = noiseAUROC(m.set, 0.5, seed); err != nil {
			return r, err
		}
	}
	return r, nil
}
