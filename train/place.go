package train

import "winnow/features"

// If the encoder can train on a device ([Placed]), a run holds that place from its first step to its end. Meanwhile the
// current weights are on the device, and fetchWeights copies them to Data whenever anything but a step needs them.

// holdWeights copies the weights to the device and keeps them there.
func (t *Trainer) holdWeights() error {
	if t.place == nil {
		return nil
	}
	err := t.place.Hold(true)
	t.held = err == nil
	return err
}

// releaseWeights ends the effect of holdWeights: it copies the weights back to Data and releases the device.
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

// fetchWeights copies the weights from the device to Data if a step has changed them.
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
