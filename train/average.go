package train

import "github.com/viterin/vek/vek32"

// A run with [Config].Average follows its weights by their exponential moving average, which the losses, the filter and
// the memory never see: they go on with the weights that learn. After each step of the solvers, t = 1, 2, …,
//
//	a ← a + (1 - d)(x - a),   d = min(1 - 1/Average, (1 + t)/(10 + t))
//
// over the encoder's parameters and its state. a begins as the x before the first step, which the ramp lets go of within
// tens of steps: until step 9·Average it reaches back over a ninth of the steps done. What rests keeps its bits: there x - a is 0. In float32 an average over n steps stands
// still within about n·3e-8 of a weight's size. The losses' own parameters are not averaged: no measure of a run looks
// at them, and who reads them afterwards ([ReadLossParams]) wants those of the last state.
//
// Source: Polyak & Juditsky 1992 (averaging); Tarvainen & Valpola, NeurIPS 2017, section 2 (θ′ ← αθ′ + (1 - α)θ, with
// a smaller α at the beginning).

// startAverage begins the average at the present state.
func (t *Trainer) startAverage() {
	for _, p := range t.numbers() {
		t.average = append(t.average, append([]float32(nil), p.Data...))
	}
}

// averageDecay returns d of the update t, counted from 1.
func averageDecay(horizon, t int) float64 {
	return min(1-1/float64(horizon), float64(1+t)/float64(10+t))
}

// follow moves the average after a step.
func (t *Trainer) follow() {
	if t.average == nil {
		return
	}
	t.progress.Averaged++
	share := float32(1 - averageDecay(t.Average, t.progress.Averaged))
	for i, p := range t.numbers() {
		a, x := t.average[i], p.Data
		onAllCores(len(a), func(lo, hi int) { moveTowards(a[lo:hi], x[lo:hi], share) })
	}
}

// moveTowards is a ← a + share·(x - a), a block at a time as fastUpdate goes.
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

// withAverage calls do while the encoder holds the average, if it is wanted. The weights that learn come back with their
// bits, whatever do returns: the two change places.
func (t *Trainer) withAverage(wanted bool, do func() error) error {
	if wanted {
		t.swapAverage()
		defer t.swapAverage()
	}
	return do()
}

func (t *Trainer) swapAverage() {
	for i, p := range t.numbers() {
		a, x := t.average[i], p.Data
		for j, v := range a {
			a[j], x[j] = x[j], v
		}
	}
}
