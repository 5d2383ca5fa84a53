package backbone

import "fmt"

// BatchWithin returns how many images to run through a network at once within budget bytes. The result is the largest
// power of two between 1 and most that satisfies
//
//	images · (activations + slots · 4 · views · pixels) ≤ budget
//
// activations is the network's memory for one image in bytes (graph.Footprint); the other term is the memory of the
// decoded float32 images that wait for the network. If even one image does not fit, the result is 1.
func (cfg ExtractConfig) BatchWithin(budget, activations int64, most int) int {
	if most < 1 || activations < 0 {
		panic(fmt.Sprintf("backbone: BatchWithin: most is %d, activations is %d, expected at least 1 and 0",
			most, activations))
	}
	image := cfg.imageBytes(activations)
	n := 1
	for 2*n <= most && int64(2*n) <= budget/image {
		n *= 2
	}
	return n
}

// BatchBytes returns the memory in bytes that n images take at once, by the formula of [ExtractConfig.BatchWithin].
func (cfg ExtractConfig) BatchBytes(n int, activations int64) int64 {
	return int64(n) * cfg.imageBytes(activations)
}

func (cfg ExtractConfig) imageBytes(activations int64) int64 {
	return activations + int64(cfg.countSlots())*int64(len(cfg.configuredViews()))*4*int64(cfg.Preprocessing.Size())
}
