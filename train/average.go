package train

import (
	"errors"

	"github.com/viterin/vek/vek32"

	"winnow/features"
)

// A run with [Config].Average keeps an exponential moving average of its weights. The losses, the filter and
// the memory never see it; they use the weights that learn. After each step of the solvers, t = 1, 2, …,
//
//	a ← a + (1 - d)(x - a),   d = min(1 - 1/Average, (1 + t)/(10 + t))
//
// over the encoder's parameters and its state. a starts as the x before the first step, which loses its
// influence within tens of steps because of the ramp: until step 9·Average, a covers the last ninth of the
// steps done. Weights that do not move keep their bits, because x - a is 0. In float32 an average over n steps
// comes to rest within about n·3e-8 of a weight's size. The losses' own parameters are not averaged: no measure
// of a run uses them, and readers of them ([ReadLossParams]) want the last state.
//
// Source: Polyak & Juditsky 1992 (averaging); Tarvainen & Valpola, NeurIPS 2017, section 2 (θ′ ← αθ′ + (1 - α)θ,
// with a smaller α at the start).

// startAverage starts the average at the current state.
func (t *Trainer) startAverage() {
	for _, p := range t.encoderParams() {
		t.average = append(t.average, append([]float32(nil), p.Data...))
	}
}

// averageDecay returns d of update t, counted from 1.
func averageDecay(horizon, t int) float64 {
	return min(1-1/float64(horizon), float64(1+t)/float64(10+t))
}

// followAverage updates the average after a step.
func (t *Trainer) followAverage() error {
	t.ahead = t.held
	if t.average == nil {
		return nil
	}
	t.progress.Averaged++
	share := float32(1 - averageDecay(t.Average, t.progress.Averaged))
	for i, p := range t.encoderParams() {
		if t.isPlaced(p) {
			continue
		}
		a, x := t.average[i], p.Data
		onAllCores(len(a), func(lo, hi int) { moveTowards(a[lo:hi], x[lo:hi], share) })
	}
	if !t.held {
		return nil
	}
	_, err := t.place.Run(averageProgram, features.AllWeights, []float32{share})
	return err
}

// moveTowards computes a ← a + share·(x - a), one block at a time like fastUpdate.
func moveTowards(a, x []float32, share float32) {
	var scratch [blockWeights]float32
	for lo := 0; lo < len(a); lo += blockWeights {
		hi := min(lo+blockWeights, len(a))
		way := scratch[:hi-lo]
		vek32.Sub_Into(way, x[lo:hi], a[lo:hi])
		vek32.MulNumber_Inplace(way, share)
		vek32.Add_Inplace(a[lo:hi], way)
	}
}

// withAverage calls do while the encoder holds the average, if wanted. Afterwards the weights that learn are
// restored bit for bit, even if do fails: the two are swapped.
func (t *Trainer) withAverage(wanted bool, do func() error) error {
	if !wanted {
		return do()
	}
	err := t.swapAverage()
	if err == nil {
		err = do()
	}
	return errors.Join(err, t.swapAverage())
}

func (t *Trainer) swapAverage() error {
	for i, p := range t.encoderParams() {
		a, x := t.average[i], p.Data
		for j, v := range a {
			a[j], x[j] = x[j], v
		}
	}
	return t.storeWeights()
}
