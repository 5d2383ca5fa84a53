package backbone

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// LiveNetwork is a network with trainable weights: it computes vectors and gradients of a backbone in training.
// Package backbone/ort implements LiveNetwork, and package live trains it. It must be used by one goroutine at a time.
type LiveNetwork interface {
	// Params returns the trainable weights. Forward reads their Data on every call; Backward sets their Grad.
	Params() []*features.Param

	// State returns the running statistics of BatchNorm layers in training. A Forward with keep replaces their Data;
	// solvers do not change them.
	State() []*features.Param

	// Dim returns the length of a vector.
	Dim() int

	// Inputs returns the number of floats per image of each input.
	Inputs() []int

	// Forward computes the vectors of n images into dst, n×Dim. inputs holds one slice per input, image after image.
	// If keep is set, the values that Backward needs are kept, and inputs must not change before Backward.
	Forward(dst blas32.General, inputs [][]float32, n int, keep bool) error

	// Backward computes the gradients of the last Forward with keep from d = ∂L/∂vectors, n×Dim. It sets Grad, or adds
	// to Grad if add is set. It may be called once after each such Forward.
	Backward(d blas32.General, add bool) error

	// Place returns where the weights can be trained outside Go's memory, for example on a GPU. It may return nil.
	Place() features.Place

	Close() error
}

// Prefix is the frozen first part of a network. Its outputs for an image do not change while the rest is trained.
type Prefix interface {
	Inputs() []int  // floats per image in each input
	Outputs() []int // floats per image in each output
	Infer(dst, inputs [][]float32, n int) error
	Close() error
}
