package ort

// For the tests in package ort_test.
var (
	GemmModel      = gemmModel
	ParseSignature = parseSignature
	AtLeast        = atLeast
	KeepSignals    = keepSignals
	InMemoryOrder  = inMemoryOrder
)

// Opened reports whether ONNX Runtime computes the process's large products.
func Opened() bool { return fast.blas.Load() != nil }

// Kept returns the memory in bytes of the tensors that the forward pass keeps.
func (l *Live) Kept() (sum int64) {
	for _, b := range l.saved {
		sum += b.size
	}
	return sum
}
