package run

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/train"
)

// viewed is an encoder that draws one of several views of each row at each visit, all equally likely. View v (from 0)
// of row r of the training set is row v·n + r of the wrapped encoder, where n is the number of rows of the set. For a
// row that occurs twice in a batch, viewed draws two views; with Apart they differ until all views are used.
//
// The draw depends only on Source and the position in the batch. If Source depends only on seed and step, a resumed run
// therefore draws the same views as an uninterrupted run.
type viewed struct {
	Encoder train.Encoder
	Rows    int               // n
	Views   int               // at least 1
	Source  func() *rand.Rand // returns the random source of one Forward
	Apart   bool              // draw different views for repeated rows of a batch

	drawn []int
}

// Forward draws a view of each row and embeds it.
func (e *viewed) Forward(rows []int) (features.Set, error) {
	rng := e.Source()
	e.drawn = e.drawn[:0]
	shown := map[int][]int{} // views of each row
	for _, row := range rows {
		view := rng.IntN(e.Views)
		if e.Apart {
			before := shown[row]
			round := before[len(before)/e.Views*e.Views:] // views of the current round; a round uses every view once
			for slices.Contains(round, view) {
				view = rng.IntN(e.Views)
			}
			shown[row] = append(before, view)
		}
		e.drawn = append(e.drawn, view*e.Rows+row)
	}
	return e.Encoder.Forward(e.drawn)
}

// Backward calls Backward of the wrapped encoder.
func (e *viewed) Backward(dz blas32.General) error { return e.Encoder.Backward(dz) }

// Params returns the parameters of the wrapped encoder.
func (e *viewed) Params() []*features.Param { return e.Encoder.Params() }

// State returns the state of the wrapped encoder, if it has any.
func (e *viewed) State() []*features.Param {
	if s, ok := e.Encoder.(train.Stateful); ok {
		return s.State()
	}
	return nil
}
