package live

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// chunkBounds returns the index of the first row of each chunk of n rows, followed by n. The number of chunks is the
// smallest that Chunk allows, and their sizes differ by at most one. Full chunks followed by a rest would not do: the
// rest could be a single image, and a network that normalises by the batch cannot handle one image.
func (e *Encoder) chunkBounds(n int) []int {
	count := (n + e.cfg.Chunk - 1) / e.cfg.Chunk
	list := make([]int, count+1)
	for i := range list {
		list[i] = i * n / count
	}
	return list
}

// backwardChunks runs each chunk of the batch again with gradients, and adds the gradients up in order.
func (e *Encoder) backwardChunks(dx blas32.General) error {
	if e.scratch.Data == nil {
		e.scratch = features.NewMatrix(e.cfg.Chunk, e.cfg.Network.Dim())
	}
	e.rememberState()
	list := e.chunkBounds(dx.Rows)
	for i, at := range list[:len(list)-1] {
		count := list[i+1] - at
		e.restoreState()
		x, inputs := features.Part(e.scratch, 0, count), sliceInputs(e.inputs, e.sizes, at, count)
		if err := e.cfg.Network.Forward(x, inputs, count, true); err != nil {
			return err
		}
		e.addState(float64(count) / float64(dx.Rows))
		if err := e.cfg.Network.Backward(features.Part(dx, at, count), at > 0); err != nil {
			return err
		}
	}
	e.moveState()
	return nil
}

// rememberState saves the running statistics before a step.
func (e *Encoder) rememberState() {
	state := e.State()
	if e.before == nil {
		for _, p := range state {
			e.before = append(e.before, make([]float32, len(p.Data)))
			e.mean = append(e.mean, make([]float64, len(p.Data)))
		}
	}
	for i, p := range state {
		copy(e.before[i], p.Data)
		clear(e.mean[i])
	}
}

// restoreState resets the statistics to those before the step, so that every chunk starts from the same values.
func (e *Encoder) restoreState() {
	for i, p := range e.State() {
		copy(p.Data, e.before[i])
	}
}

// addState adds a chunk's statistics, times weight, to the mean.
func (e *Encoder) addState(weight float64) {
	for i, p := range e.State() {
		for j, v := range p.Data {
			e.mean[i][j] += weight * float64(v)
		}
	}
}

// moveState sets the statistics to the mean over the chunks.
func (e *Encoder) moveState() {
	for i, p := range e.State() {
		for j := range p.Data {
			p.Data[j] = float32(e.mean[i][j])
		}
	}
}
