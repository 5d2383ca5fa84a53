package backbone

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// LiveNetwork is a network whose weights can change: it runs and differentiates a backbone in training.
// backbone/ort makes one; package live trains it. Only one goroutine at a time may use it.
type LiveNetwork interface {
	// Params are the trained weights. Data is read at every Forward; Grad is filled by Backward.
	Params() []*features.Param

	// State are the running statistics of training BatchNorm. A Forward with keep replaces their Data; no
	// solver updates them.
	State() []*features.Param

	// Dim is the length of a vector.
	Dim() int

	// Inputs returns how many floats an image takes in each input.
	Inputs() []int

	// Forward computes the vectors of n images into dst, n×Dim. Each input has one slice, image after image.
	// With keep, the runtime keeps what Backward needs, and the inputs must not change before Backward.
	Forward(dst blas32.General, inputs [][]float32, n int, keep bool) error

	// Backward computes the gradients of the last Forward with keep from d = ∂L/∂vectors, n×Dim. It sets Grad,
	// or with add adds to it. It may be called once for each such Forward.
	Backward(d blas32.General, add bool) error

	// Place returns where the weights can be trained outside Go's memory, or nil.
	Place() features.Place

	Close() error
}

// Prefix is the frozen part of a network: its outputs for an image do not change while the rest is trained.
type Prefix interface {
	Inputs() []int  // floats per image in each input
	Outputs() []int // floats per image in each output
	Infer(dst, inputs [][]float32, n int) error
	Close() error
}
