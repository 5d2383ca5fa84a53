package backbone

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// LiveNetwork is a network whose weights can change: what runs and differentiates a backbone that is trained.
// backbone/ort makes one; package live trains it. One goroutine at a time may use it.
type LiveNetwork interface {
	// Params are the trained weights. Data is read at every Forward; Grad is filled by Backward.
	Params() []*features.Param

	// State are the running statistics of training BatchNorm: a Forward that keeps replaces their Data. No
	// solver steps them.
	State() []*features.Param

	// Dim is the length of a vector.
	Dim() int

	// Inputs returns how many floats an image takes in each input.
	Inputs() []int

	// Forward computes the vectors of n images, dst n×Dim, from one slice for each input, image after image.
	// With keep, what Backward needs stays in the runtime, and the inputs must not change before it.
	Forward(dst blas32.General, inputs [][]float32, n int, keep bool) error

	// Backward computes the gradients of the last Forward that kept, given d = ∂L/∂vectors, n×Dim: Grad = …, or
	// with add Grad += …. It may be called once for each such Forward.
	Backward(d blas32.General, add bool) error

	Close() error
}

// Prefix is the frozen part of a network: what it computes of an image never changes while the rest is trained.
type Prefix interface {
	Inputs() []int  // floats an image takes in each input
	Outputs() []int // floats an image takes in each output
	Infer(dst, inputs [][]float32, n int) error
	Close() error
}
