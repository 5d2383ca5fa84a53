package features

// Place is memory outside Go's, such as a GPU's, in which parameters lie while they are trained, with their gradients
// and whatever a solver remembers of them. Nothing of their size then crosses to the computer in a step. A backbone
// makes one; the trainer uses it.
//
// A place has vectors by name: "weights", "gradients", and any others, which begin as zeros. All have a number for each
// weight. Only one goroutine at a time may use it.
type Place interface {
	// Params returns the parameters that lie there.
	Params() []*Param

	// Hold moves the weights there, where they stay: from then on the parameters' Data and Grad say nothing until
	// Fetch. With false it ends that, without copying anything back.
	Hold(on bool) error

	// Fetch copies a vector to slices, one for each of Params, and Store copies it there. The parameters' Data are
	// the slices of the weights.
	Fetch(vector string, to [][]float32) error
	Store(vector string, from [][]float32) error

	// Run runs a program over a part of the vectors and returns its sum, or 0 if it has none.
	Run(p *Program, part Portion, numbers []float32) (float64, error)
}

// Portion is a part of a place's weights.
type Portion int

// The portions: the weights that weight decay shrinks, the others, and all.
const (
	Decayed Portion = iota
	Undecayed
	AllWeights
)

// Program is an ONNX model that changes a place's vectors value by value. Its input "numbers" is float32 [k]; each
// other input is the vector of that name, float32 [n]. An output "NAME.next" [n] is what the vector NAME becomes, and
// an output "sum" [1] goes to the caller.
type Program struct {
	Model []byte
}
