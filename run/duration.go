package run

import (
	"math"
	"time"

	"winnow/features"
	"winnow/train"
)

// timeSteps measures how long the network takes to embed a batch and to learn from it, with a gradient of zeros, which
// changes no weight. It times the second of two batches, because the first allocates memory, and restores the encoder's
// state.
func (r *Training) timeSteps() (forward, backward time.Duration, err error) {
	e := r.encoder
	var kept [][]float32
	stateful, _ := e.(train.Stateful)
	if stateful != nil {
		for _, p := range stateful.State() {
			kept = append(kept, append([]float32(nil), p.Data...))
		}
		defer func() {
			for i, p := range stateful.State() {
				copy(p.Data, kept[i])
			}
		}()
	}
	r.timing = true
	defer func() { r.timing = false }()
	rows := features.AllRows(min(r.sampler.Size(), r.Data.Train.Len()))
	for range 2 {
		start := time.Now()
		z, err := e.Forward(rows)
		if err != nil {
			return 0, 0, err
		}
		forward = time.Since(start)
		start = time.Now()
		if err := e.Backward(features.NewMatrix(z.X.Rows, z.X.Cols)); err != nil {
			return 0, 0, err
		}
		backward = time.Since(start)
	}
	return forward, backward, nil
}

// estimateDuration estimates how long the rest of a run takes on this machine: its steps, without a derivative while
// the network rests, and its validations, which only embed.
func (r *Training) estimateDuration() (time.Duration, error) {
	forward, backward, err := r.timeSteps()
	if err != nil {
		return 0, err
	}
	steps, resting := float64(r.Steps-r.Resumed), float64(max(r.Rests-r.Resumed, 0))
	images := 0.0
	if r.Validates {
		every := float64(max(r.loop.ValidateEvery, 1))
		images = math.Ceil(steps/every+1) * float64(r.Data.Validation.Len()) / float64(r.sampler.Size())
	}
	return time.Duration(steps*float64(forward) + (steps-resting)*float64(backward) + images*float64(forward)), nil
}
