package crossfit

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/stat"

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
	heads   []*head.Head // that embedded the first kinds
}

// Beside returns the similarities of rows of a set to the judged classes by a source other than heads, each row
// left out of its own class.
type Beside func(ctx context.Context, rows []int) (blas32.General, error)

type kind struct {
	z       blas32.General // unit rows
	means   Means
	first   weighing // of the backbone's first kind, in the other folds
	network bool     // by a fine-tuned network
	part    int      // backbone
	beside  Beside   // replaces z and means
}

// addFoldImages adds x, the images of the fold, embedded by h, with means of the classes.
func (e *evidence) addFoldImages(h *head.Head, x blas32.General, means Means) error {
	z, err := h.Embed(x)
	e.kinds = append(e.kinds, kind{z: z, means: means})
	return err
}

// readSimilarities returns the similarities of images from ≤ i < to: for each, kind by kind, to every class.
func (e *evidence) readSimilarities(ctx context.Context, from, to int) (rows []float32, err error) {
	rows = make([]float32, (to-from)*len(e.kinds)*e.classes)
	var scratch []float32
	for m := range e.kinds {
		k := &e.kinds[m]
		var s blas32.General
		if k.beside == nil {
			s = k.means.compareRowsTo(&scratch, features.Part(k.z, from, to-from))
		} else if s, err = k.beside(ctx, e.rows[from:to]); err != nil {
			return nil, err
		}
		for i := range s.Rows {
			copy(rows[(i*len(e.kinds)+m)*e.classes:], features.Row(s, i))
		}
	}
	return rows, nil
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
		rows, err := e.readSimilarities(ctx, from, min(from+block, len(e.rows)))
		if err != nil {
			return err
		}
		for i := (step - from%step) % step; i*width < len(rows); i += step {
			do(from+i, rows[i*width:][:width])
		}
	}
	return nil
}

// judgeByEvidence calls do with the probabilities of each image, weighed by the labels of the other half. counted, if
// not nil, receives the share of each part.
func (e *evidence) judgeByEvidence(ctx context.Context, c columned, parts int, counted func([]float64),
	do func(c columned, row int, w weighing, p []float64)) error {
	ws, _, err := e.fitWeighings(ctx, c.of)
	if err != nil {
		return err
	}
	p, shares, all := make([]float64, e.classes), make([]float64, parts), 0.0
	err = e.visitEveryStep(ctx, 1, func(i int, row []float32) {
		w := ws[i%halves]
		if counted != nil {
			for m, k := range e.kinds {
				_, spread := stat.MeanStdDev(float64s(p, row[m*e.classes:]), nil)
				shares[k.part] += w.beta[m] * spread
				all += w.beta[m] * spread
			}
		}
		w.fillProbabilities(p, row)
		do(c, e.rows[i], w, p)
	})
	if counted != nil && all > 0 {
		for part := range shares {
			shares[part] /= all
		}
		counted(shares)
	}
	return err
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
		expected.rho = min(expected.rho, k.first.rho) // a weak backbone takes right labels for wrong ones
		expected.beta = append(expected.beta, k.first.beta[0]/float64(len(e.kinds)))
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
	n := 0
	for half, w := range ws {
		others := 1 - half
		said += w.sumLogProbability(rows[others], labels[others], e.classes)
		n += len(labels[others])
	}
	return ws, said / float64(max(n, 1)), err
}
