package backbone

import "fmt"

// BatchWithin returns how many images to run through a network at once within budget bytes: the largest power
// of two, at least 1 and at most most, with
//
//	images · (activations + slots · 4 · views · pixels) ≤ budget
//
// activations is the network's bytes for an image (graph.Footprint); the other term is the decoded float32
// pictures that wait for it. A single image that does not fit is left to the runtime to refuse.
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

// BatchBytes returns the memory of n images at once, by the formula of BatchWithin.
func (cfg ExtractConfig) BatchBytes(n int, activations int64) int64 {
	return int64(n) * cfg.imageBytes(activations)
}

func (cfg ExtractConfig) imageBytes(activations int64) int64 {
	return activations + int64(cfg.countSlots())*int64(len(cfg.configuredViews()))*4*int64(cfg.Preprocessing.Size())
}
