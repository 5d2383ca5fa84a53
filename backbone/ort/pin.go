package ort

// pin page-locks a slice where it lies, so that a GPU copies from and to it without a copy by the CPU. It does nothing
// on the CPU, or if the memory cannot be locked.
func (r *Runtime) pin(data []float32) {}

// unpin ends pin. The slice must be the one that pin was given, and no longer in use by a session.
func (r *Runtime) unpin(data []float32) {}
