package train

import "winnow/features"

// A run whose encoder has a place ([Placed]) holds it from its first step to its end. In between the weights are there,
// and Data follows when something other than a step needs it: fetchWeights.

// holdWeights moves the weights to the place.
func (t *Trainer) holdWeights() error {
	if t.place == nil {
		return nil
	}
	err := t.place.Hold(true)
	t.held = err == nil
	return err
}

// releaseWeights ends holdWeights; Data is then current.
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

// fetchWeights makes Data what it is in the place.
func (t *Trainer) fetchWeights() error {
	if !t.ahead {
		return nil
	}
	t.ahead = false
	return t.place.Fetch("weights", dataOf(t.place.Params()))
}

func dataOf(params []*features.Param) [][]float32 {
	list := make([][]float32, len(params))
	for i, p := range params {
		list[i] = p.Data
	}
	return list
}
