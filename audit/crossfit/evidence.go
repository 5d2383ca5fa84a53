package crossfit

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/head"
)

// evidence holds what the other folds reveal about the images of a fold: for each kind, the images' vectors and the
// class means. The first kind has the means of the given labels before training, the second the means of the learned
// labels after training, and the third, if present, a network's directions of the classes.
type evidence struct {
	rows    []int // rows of the images in the set
	classes int
	kinds   []kind
	first   weighing // fitted to the first kind in the other folds
}

type kind struct {
	z     blas32.General // unit rows
	means means
}

// addFoldImages adds a kind: x, the images of the fold, embedded by h, and the given class means.
func (e *evidence) addFoldImages(h *head.Head, x blas32.General, of means) error {
	z, err := h.Embed(x)
	e.kinds = append(e.kinds, kind{z, of})
	return err
}

// readSimilarities returns the similarities of images from ≤ i < to. The result holds for each image, kind by kind, the
// similarities to every class.
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
	halves = 2       // number of parts of a fold: image i is in half i mod 2
	block  = 256     // images whose similarities are held at a time
	asked  = 1 << 19 // most similarities to which a weighing is fitted
	worth  = 40      // weight of the other folds' weighing, as a number of labels
)

// visitEveryStep calls do for every step-th image of the fold, with its similarities.
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

// judgeByEvidence calls do for each image with the class probabilities by the weighing fitted to the other half.
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

// fitWeighings returns the weighing of each half, fitted to labels of the other half using about asked similarities.
// said is the mean log probability of a label under the weighing from the other half.
func (e *evidence) fitWeighings(ctx context.Context, column []int) (ws [halves]weighing, said float64, err error) {
	expected := weighing{rho: noiserate.Most}
	for _, k := range e.kinds {
		first := e.first
		if k.means.by == nil { // the kind of a network
			first = blind
		}
		expected.rho = min(expected.rho, first.rho)
		expected.beta = append(expected.beta, first.beta[0]/float64(len(e.kinds)))
	}
	var rows [halves][]float32
	var labels [halves][]int
	step := max(1, len(e.rows)*e.classes*len(e.kinds)/asked) | 1 // an odd step visits rows of both halves
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
