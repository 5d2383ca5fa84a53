package judges

import "sync"

// Shared holds what several judges of one set need and the first of them computes: folds and probabilities of the
// probe. Other vectors, labels or options need another Shared. The zero value is
// ready; judges may use it concurrently.
type Shared struct {
	folds  found[[]int]
	probed found[[]float32] // probabilities of the probe out of sample, n×columns
}

// found is a value that is computed once.
type found[T any] struct {
	mu    sync.Mutex
	known bool
	value T
}

// getOrFind returns the value; the first call computes it by find.
func (f *found[T]) getOrFind(find func() (T, error)) (T, error) {
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
