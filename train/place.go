package train

import (
	"slices"

	"winnow/features"
)

// A run whose encoder has a place ([Placed]) holds it from its first step to its end. In between the weights are there,
// and Data follows when something other than a step needs it: fetch. Whoever changes Data calls store.

// holdWeights moves the weights to the place, and their average.
func (t *Trainer) holdWeights() error {
	if t.place == nil {
		return nil
	}
	if err := t.place.Hold(true); err != nil {
		return err
	}
	t.held = true
	return t.storeAverage()
}

// releaseWeights ends hold; Data is then current.
func (t *Trainer) releaseWeights() error {
	if !t.held {
		return nil
	}
	err := t.fetchWeights()
	t.held = false
	if ended := t.place.Hold(false); err == nil {
		err = ended
	}
	return err
}

// fetchWeights makes Data, and the average, what they are in the place.
func (t *Trainer) fetchWeights() error {
	if !t.ahead {
		return nil
	}
	t.ahead = false
	if err := t.place.Fetch("weights", t.inPlace(nil)); err != nil {
		return err
	}
	if t.average == nil {
		return nil
	}
	return t.place.Fetch("average", t.inPlace(t.average))
}

// storeWeights makes the place follow changed Data and a changed average.
func (t *Trainer) storeWeights() error {
	if !t.held {
		return nil
	}
	if err := t.place.Store("weights", t.inPlace(nil)); err != nil {
		return err
	}
	return t.storeAverage()
}

func (t *Trainer) storeAverage() error {
	if t.average == nil || !t.held {
		return nil
	}
	return t.place.Store("average", t.inPlace(t.average))
}

// inPlace picks the slices of the place's parameters from those of all numbers, or their Data.
func (t *Trainer) inPlace(of [][]float32) [][]float32 {
	list := make([][]float32, len(t.place.Params()))
	for i, p := range t.place.Params() {
		if of == nil {
			list[i] = p.Data
			continue
		}
		list[i] = of[slices.Index(t.encoderParams(), p)]
	}
	return list
}

// isPlaced reports whether a parameter lies in the place that the run holds.
func (t *Trainer) isPlaced(p *features.Param) bool {
	return t.held && slices.Contains(t.place.Params(), p)
}
