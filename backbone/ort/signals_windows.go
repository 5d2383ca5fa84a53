package ort

// keepSignals calls f: Windows has no handlers to keep.
func keepSignals(f func()) { f() }
