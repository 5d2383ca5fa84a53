package judges

import (
	"sync"

	"winnow/eval"
)

// Shared is what several judges of one set need, found out by the first of them: folds, probabilities of the probe, nearest
// images. Judges of other vectors or labels, or with other options, need another. Its zero value is ready, and judges may work
// at the same time.
type Shared struct {
	folds  found[[]int]
	probed found[[]float32] // probabilities of the probe out of sample, a row of columns for each image
	near   found[[][]eval.Neighbour]
}

// found is a value that is found out once.
type found[T any] struct {
	mu    sync.Mutex
	known bool
	value T
}

// get returns it, found out by find if nobody has before.
func (f *found[T]) get(find func() (T, error)) (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known {
		value, err := find()
		if err != nil {
			return value, err
		}
		f.value, f.known = value, true
	}
	return f.value, nil
}
