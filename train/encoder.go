// Package train runs the loop: sampler, encoder, filter, loss, solver, memory. It never sees the truth
// about a label (it may not import datasets), prints nothing, and tells observers facts.
package train

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Encoder is what the trainer trains: a head on stored features, or a head on a live backbone; the trainer
// cannot tell which. Rows are positions in the training set.
type Encoder interface {
	// unit rows, or NaN where there is none, given labels, IDs; valid until the next Forward
	Forward(rows []int) (features.Set, error)
	Backward(dz blas32.General) error // ∂loss/∂z of the last Forward; overwrites the gradients of Params
	Params() []*features.Param
}

// Announced is an Encoder that can begin with a batch early: before a Forward it is told the rows of the next step's, as
// far as these are known. What Forward gives must not depend on it.
type Announced interface {
	Announce(rows []int)
}

// Stateful is an Encoder with numbers that training changes and no solver steps, such as running statistics of
// batch normalization. They are kept with the best state, saved in checkpoints and put back into Data, whose
// names differ from those of the parameters; the encoder reads them there at the next Forward.
type Stateful interface {
	State() []*features.Param
}
