package ort

// For the tests in package ort_test.
var (
	GemmModel     = gemmModel
	ReadSignature = readSignature
	AtLeast       = atLeast
	MissingIn     = missingIn
	KeepSignals   = keepSignals
	InMemoryOrder = inMemoryOrder
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

// DropShape forgets what inference knows of the kept tensors, as if it had no rule for an operator.
func (l *Live) DropShape(n int) int {
	known, _ := l.shapes.shapesFor(n)
	clear(known)
	return len(l.saved)
}
