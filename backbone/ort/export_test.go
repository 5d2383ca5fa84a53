package ort

// For the tests in package ort_test.
var (
	GemmModel      = gemmModel
	ParseSignature = parseSignature
	AtLeast        = atLeast
	KeepSignals    = keepSignals
	InMemoryOrder  = inMemoryOrder
)

// Opened reports whether the process's large products are ONNX Runtime's by now.
func Opened() bool { return fast.blas.Load() != nil }

// Kept is the memory of what the forward pass keeps, bytes.
func (l *Live) Kept() (sum int64) {
	for _, b := range l.saved {
		sum += b.size
	}
	return sum
}
