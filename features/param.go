package features

import "gonum.org/v1/gonum/blas/blas32"

// Param is a named matrix changed by training: weights of a head, or proxies or thresholds of a loss. Its owner writes
// Grad; a solver reads Grad and changes Data. Both are row-major, Rows×Cols.
type Param struct {
	Name       string
	Rows, Cols int
	Data, Grad []float32
	NoDecay    bool // excluded from weight decay, as biases are, and proxies by default
}

// NewParam allocates a zero parameter.
func NewParam(name string, rows, cols int) *Param {
	return &Param{Name: name, Rows: rows, Cols: cols, Data: make([]float32, rows*cols),
		Grad: make([]float32, rows*cols)}
}

// Matrix returns a view of the values.
func (p *Param) Matrix() blas32.General {
	return blas32.General{Rows: p.Rows, Cols: p.Cols, Stride: max(p.Cols, 1), Data: p.Data}
}

// GradMatrix returns a view of the gradient.
func (p *Param) GradMatrix() blas32.General {
	return blas32.General{Rows: p.Rows, Cols: p.Cols, Stride: max(p.Cols, 1), Data: p.Grad}
}
