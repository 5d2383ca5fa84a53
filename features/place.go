package features

// Place is memory outside Go's heap, such as a GPU's, for parameters during training, their gradients and the state of
// a solver. A training step then transfers no data of that size. A backbone provides a Place; the trainer uses it.
//
// A place has named vectors: "weights", "gradients", and others, which start as zeros. Each vector has one number per
// weight. Only one goroutine at a time may use a place.
type Place interface {
	// Params returns the parameters in this place.
	Params() []*Param

	// Hold(true) moves the weights to this place; until Fetch, the parameters' Data and Grad are then undefined.
	// Hold(false) ends this without copying data back.
	Hold(on bool) error

	// Fetch copies a vector to slices, one for each of Params; Store copies slices to a vector. The slices for
	// "weights" are the parameters' Data.
	Fetch(vector string, to [][]float32) error
	Store(vector string, from [][]float32) error

	// Run runs a program on a part of the vectors and returns its sum, or 0 if it has no sum.
	Run(p *Program, part Portion, numbers []float32) (float64, error)
}

// Portion selects a part of a place's weights.
type Portion int

// The portions: weights with weight decay, weights without, and all weights.
const (
	Decayed Portion = iota
	Undecayed
	AllWeights
)

// Program is an ONNX model that updates a place's vectors element by element. The input "numbers" is float32 [k]; each
// other input is the vector of that name, float32 [n]. The output "NAME.next" [n] is the new value of the vector NAME,
// and the output "sum" [1] is returned to the caller.
type Program struct {
	Model []byte
}
