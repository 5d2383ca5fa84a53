package ort

import "errors"

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

func (m message) Number(field int, v uint64) message { return m.putNumber(field, v) }
func (m message) Bytes(field int, b []byte) message  { return m.putBytes(field, b) }
func (m message) Text(field int, s string) message   { return m.putString(field, s) }

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

// TwoLanes loads a network on the CPU as on a GPU, in two lanes.
func TwoLanes(rt *Runtime, model []byte, output string, in NetworkInput) (Networks, error) {
	return newNetworks(rt, model, output, in, "", func(Device) bool { return true })
}

// WorthTwo is worthTwo.
const WorthTwo = worthTwo

// Scant makes the sessions of the first network's device, and those that it loads, run out of memory whenever scant
// says so: of the first (0) or the second (1) session, with a limit or (whole) without.
func (l Networks) Scant(half int64, scant func(which int, whole bool) bool) {
	p := l[0].pair
	load := p.load
	p.half, p.whole = half, half == 0
	p.first = &scanty{p.first, func() bool { return scant(0, half == 0) }}
	p.load = func(memory int64) (runner, error) {
		which := 1
		if memory == 0 && half > 0 {
			which = 0
		}
		s, err := load(0)
		return &scanty{s, func() bool { return scant(which, which == 0) }}, err
	}
}

// Loaded waits for the second session and reports whether there is one.
func (l Networks) Loaded() bool {
	p := l[0].pair
	p.loading.Wait()
	p.turn2.Lock()
	defer p.turn2.Unlock()
	return p.second != nil
}

type scanty struct {
	runner
	scant func() bool
}

func (s *scanty) Run(in, out []Tensor) error {
	if s.scant() {
		return errors.New("Failed to allocate memory for requested buffer of size 1")
	}
	return s.runner.Run(in, out)
}
