package run

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/train"
)

// viewed draws one of several views of each row at each visit: row r of the training set is row v·n + r of the encoder,
// where n is the number of rows of the set and v the view, from 0 on; all views are equally likely. A row that is twice
// in a batch is drawn twice. With Apart these views differ as long as there are others.
//
// The draw depends only on Source and the place in the batch, so a resumed run draws what an uninterrupted one would
// have drawn, if Source is a function of seed and step.
type viewed struct {
	Encoder train.Encoder
	Rows    int               // n
	Views   int               // at least 1
	Source  func() *rand.Rand // the random numbers of one Forward
	Apart   bool              // a row that is several times in a batch has different views

	drawn []int
}

// Forward embeds a view of each row.
func (e *viewed) Forward(rows []int) (features.Set, error) {
	rng := e.Source()
	e.drawn = e.drawn[:0]
	shown := map[int][]int{} // views of each row
	for _, row := range rows {
		view := rng.IntN(e.Views)
		if e.Apart {
			before := shown[row]
			round := before[len(before)/e.Views*e.Views:] // all views once before any comes again
			for slices.Contains(round, view) {
				view = rng.IntN(e.Views)
			}
			shown[row] = append(before, view)
		}
		e.drawn = append(e.drawn, view*e.Rows+row)
	}
	return e.Encoder.Forward(e.drawn)
}

// Backward is the encoder's.
func (e *viewed) Backward(dz blas32.General) error { return e.Encoder.Backward(dz) }

// Params returns the encoder's.
func (e *viewed) Params() []*features.Param { return e.Encoder.Params() }

// State returns the encoder's, if it has one.
func (e *viewed) State() []*features.Param {
	if s, ok := e.Encoder.(train.Stateful); ok {
		return s.State()
	}
	return nil
}
