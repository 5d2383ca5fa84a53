package train

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Viewed shows an encoder one of several views of each row, drawn at each visit: row r of the training set is row
// v·n + r of the encoder, n being the rows of the set and v the view, from 0 on, each as likely. A row named twice in
// a batch is drawn twice.
//
// What is drawn is a function of Source and of the place in the batch alone, so that a run that goes on draws what the
// run never stopped would have drawn, if Source is a function of seed and step.
type Viewed struct {
	Encoder Encoder
	Rows    int               // n
	Views   int               // at least 1
	Source  func() *rand.Rand // the random numbers of one Forward

	drawn []int
}

// Forward embeds a view of each row.
func (e *Viewed) Forward(rows []int) (features.Set, error) {
	rng := e.Source()
	e.drawn = e.drawn[:0]
	for _, row := range rows {
		e.drawn = append(e.drawn, rng.IntN(e.Views)*e.Rows+row)
	}
	return e.Encoder.Forward(e.drawn)
}

// Backward is the encoder's.
func (e *Viewed) Backward(dz blas32.General) error { return e.Encoder.Backward(dz) }

// Params returns the encoder's.
func (e *Viewed) Params() []*features.Param { return e.Encoder.Params() }

// State returns the encoder's, if it has one.
func (e *Viewed) State() []*features.Param {
	if s, ok := e.Encoder.(Stateful); ok {
		return s.State()
	}
	return nil
}
