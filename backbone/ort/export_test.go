package ort

// For the tests in package ort_test.
var (
	GemmModel     = gemmModel
	ReadSignature = readSignature
	AtLeast       = atLeast
	MissingIn     = missingIn
	KeepSignals   = keepSignals
)

// Message is message, to build models with.
type Message = message

func (m message) Number(field int, v uint64) message { return m.number(field, v) }
func (m message) Bytes(field int, b []byte) message  { return m.bytes(field, b) }
func (m message) Text(field int, s string) message   { return m.text(field, s) }
