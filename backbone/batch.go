package backbone

import "fmt"

// BatchWithin returns how many images to run through a network at once so that what they take fits into budget bytes:
// the largest power of two, at least 1 and at most most.
//
//	images · (activations + slots · 4 · views · pixels) ≤ budget
//
// where activations are the network's bytes for an image (graph.Footprint) and the other term is the decoded pictures
// that wait for it, float32. A single image that does not fit is for the runtime to refuse.
func (cfg ExtractConfig) BatchWithin(budget, activations int64, most int) int {
	if most < 1 || activations < 0 {
		panic(fmt.Sprintf("backbone: batch of at most %d images of %d bytes", most, activations))
	}
	image := cfg.imageBytes(activations)
	n := 1
	for 2*n <= most && int64(2*n) <= budget/image {
		n *= 2
	}
	return n
}

// BatchBytes returns what n images at once take, by the same count.
func (cfg ExtractConfig) BatchBytes(n int, activations int64) int64 {
	return int64(n) * cfg.imageBytes(activations)
}

func (cfg ExtractConfig) imageBytes(activations int64) int64 {
	return activations + int64(cfg.slots())*int64(len(cfg.views()))*4*int64(cfg.Preprocessing.Size())
}
