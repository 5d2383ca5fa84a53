package crossfit

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/head"
)

// evidence is what is known about the images of a fold without their labels: their vectors, with means of the
// classes, first from the given labels before training, then from the learned labels after it.
type evidence struct {
	rows    []int // of the images
	classes int
	kinds   []kind
	first   weighing // of the first kind, in the other folds
}

type kind struct {
	z     blas32.General // unit rows
	means means
}

// addFoldImages adds x, the images of the fold, embedded by h, with means of the classes.
func (e *evidence) addFoldImages(h *head.Head, x blas32.General, of means) error {
	z, err := h.Embed(x)
	e.kinds = append(e.kinds, kind{z, of})
	return err
}

// readSimilarities returns the similarities of images from ≤ i < to: for each, kind by kind, to every class.
func (e *evidence) readSimilarities(from, to int) []float32 {
	rows := make([]float32, (to-from)*len(e.kinds)*e.classes)
	var scratch []float32
	for m, k := range e.kinds {
		s := k.means.compareRowsTo(&scratch, features.Part(k.z, from, to-from))
		for i := range s.Rows {
			copy(rows[(i*len(e.kinds)+m)*e.classes:], features.Row(s, i))
		}
	}
	return rows
}

const (
	halves = 2       // of a fold: image i is in half i mod 2
	block  = 256     // images whose similarities are held at a time
	asked  = 1 << 19 // similarities that a weighing is fitted to
	worth  = 40      // labels that the weighing of the other folds counts as
)

// visitEveryStep calls do with the similarities of every step-th image of the fold.
func (e *evidence) visitEveryStep(ctx context.Context, step int, do func(i int, row []float32)) error {
	width := len(e.kinds) * e.classes
	for from := 0; from < len(e.rows); from += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := e.readSimilarities(from, min(from+block, len(e.rows)))
		for i := (step - from%step) % step; i*width < len(rows); i += step {
			do(from+i, rows[i*width:][:width])
		}
	}
	return nil
}

// judgeByEvidence calls do with the probabilities of each image, weighed by the labels of the other half.
func (e *evidence) judgeByEvidence(ctx context.Context, c columned, do said) error {
	ws, _, err := e.fitWeighings(ctx, c.of)
	if err != nil {
		return err
	}
	p := make([]float64, e.classes)
	return e.visitEveryStep(ctx, 1, func(i int, row []float32) {
		w := ws[i%halves]
		w.fillProbabilities(p, row)
		do(c, e.rows[i], w, p)
	})
}

// float64s copies the first values of row into x.
func float64s(x []float64, row []float32) []float64 {
	for k := range x {
		x[k] = float64(row[k])
	}
	return x
}

// fitWeighings returns the weighing of each half, fitted to labels of the other half with about asked similarities;
// and said, the mean log probability of a label under the weighing from the other half.
func (e *evidence) fitWeighings(ctx context.Context, column []int) (ws [halves]weighing, said float64, err error) {
	expected := weighing{rho: noiserate.Most}
	for _, k := range e.kinds {
		first := e.first
		if k.means.by == nil { // a network's
			first = blind
		}
		expected.rho = min(expected.rho, first.rho)
		expected.beta = append(expected.beta, first.beta[0]/float64(len(e.kinds)))
	}
	var rows [halves][]float32
	var labels [halves][]int
	step := max(1, len(e.rows)*e.classes*len(e.kinds)/asked) | 1 // odd, to visit both halves
	err = e.visitEveryStep(ctx, step, func(i int, row []float32) {
		judges := 1 - i%halves
		rows[judges], labels[judges] = append(rows[judges], row...), append(labels[judges], column[e.rows[i]])
	})
	for half := range ws {
		if err == nil {
			ws[half], err = fitWeighing(ctx, rows[half], labels[half], e.classes, expected, worth)
		}
	}
	if err != nil {
		return ws, 0, err
	}
	for half, w := range ws {
		said += w.sumLogProbability(rows[1-half], labels[1-half], e.classes)
	}
	return ws, said / float64(max(len(labels[0])+len(labels[1]), 1)), nil
}
