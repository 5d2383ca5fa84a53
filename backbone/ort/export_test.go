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

// Message is message, to build models with.
type Message = message

func (m message) Number(field int, v uint64) message { return m.number(field, v) }
func (m message) Bytes(field int, b []byte) message  { return m.bytes(field, b) }
func (m message) Text(field int, s string) message   { return m.text(field, s) }

// Kept is the memory of what the forward pass keeps, bytes.
func (l *Live) Kept() (sum int64) {
	for _, b := range l.saved {
		sum += b.size
	}
	return sum
}

// DropShape forgets what inference knows of the kept tensors, as if it had no rule for an operator.
func (l *Live) DropShape(n int) int {
	known, _ := l.shapes.of(n)
	clear(known)
	return len(l.saved)
}
