package head

import (
	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
)

// BLAS is what Gorgonia asks of a matrix library. ONNX Runtime's, made by backbone/ort, is one; gonum's
// native one is the default.
type BLAS interface {
	blas.Float32
	blas.Float64
	blas.Complex64
	blas.Complex128
}

// UseBLAS makes Gorgonia multiply with b from now on, in the whole process. Call it once, at start, beside
// blas32.Use, which does the same for everything outside Gorgonia.
func UseBLAS(b BLAS) { gorgonia.Use(b) }
