// Package train runs the training loop: sampler, encoder, filter, loss, solver, memory. It never sees the truth
// about a label (it may not import datasets), prints nothing, and reports facts to observers.
package train

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Encoder embeds images and can be trained: a head on stored features, or a head on a live backbone. The trainer
// treats both alike. Rows are positions in the training set.
type Encoder interface {
	// Forward returns the unit embeddings of rows with their given labels and IDs. A row that cannot be normalised
	// is NaN. The result is valid until the next Forward.
	Forward(rows []int) (features.Set, error)
	Backward(dz blas32.General) error // ∂loss/∂z of the last Forward; overwrites the gradients of Params
	Params() []*features.Param
}

// Announced is an Encoder that can start work on a batch early: before a Forward it receives the rows of the
// next step, if they are known. The results of Forward must not depend on it.
type Announced interface {
	Announce(rows []int)
}

// Placed is an Encoder that can keep some of its parameters on a device, such as a GPU, and train them there. Place
// returns nil if the encoder has no such device. A run holds the place while it trains. Before validation, checkpoints
// and other readers access these parameters, the trainer copies them to Data.
type Placed interface {
	Place() features.Place
}

// Stateful is an Encoder with numbers that training changes without a solver, such as running statistics of batch
// normalization. The trainer keeps them with the best state and saves them in checkpoints. To restore them, it writes
// them to Data, which the encoder reads at the next Forward. Their names must differ from the names of the parameters.
type Stateful interface {
	State() []*features.Param
}
