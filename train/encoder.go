// Package train runs the training loop: sampler, encoder, filter, loss, solver, memory. It never sees the truth
// about a label (it may not import datasets), prints nothing, and reports facts to observers.
package train

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Encoder is what the trainer trains: a head on stored features, or a head on a live backbone. The trainer
// cannot tell which. Rows are positions in the training set.
type Encoder interface {
	// Forward returns unit rows, or NaN for a row without one, with given labels and IDs; valid until the next
	// Forward.
	Forward(rows []int) (features.Set, error)
	Backward(dz blas32.General) error // ∂loss/∂z of the last Forward; overwrites the gradients of Params
	Params() []*features.Param
}

// Announced is an Encoder that can start work on a batch early: before a Forward it receives the rows of the
// next step, if they are known. The results of Forward must not depend on it.
type Announced interface {
	Announce(rows []int)
}

// Placed is an Encoder some of whose parameters can be trained where they lie, such as on a GPU. Place returns nil if
// it has none. A run holds the place; who reads or writes these parameters between its steps, as validation and
// checkpoints do, finds them in Data.
type Placed interface {
	Place() features.Place
}

// Stateful is an Encoder with numbers that training changes without a solver, such as running statistics of
// batch normalization. They are kept with the best state and saved in checkpoints. When they are restored, the
// trainer writes them to Data, where the encoder reads them at the next Forward. Their names differ from those
// of the parameters.
type Stateful interface {
	State() []*features.Param
}
