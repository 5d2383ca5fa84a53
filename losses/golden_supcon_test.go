package losses

import (
	"math"

	"winnow/internal/testing/reference"
)

// renamed returns a function that converts every parameter of a golden case to a setting. names maps parameters to
// settings with other names. An unknown setting fails the test, because the loss rejects it.
func renamed(names map[string]string) func(c reference.Case) map[string]any {
	return func(c reference.Case) map[string]any {
		out := map[string]any{}
		for name, value := range c.Params {
			if other, ok := names[name]; ok {
				name = other
			}
			out[name] = value
		}
		return out
	}
}

var (
	asGiven        = renamed(nil)
	nPairSettings  = renamed(map[string]string{"l2_reg": "l2"})
	sclRHESettings = func(c reference.Case) map[string]any {
		out := renamed(map[string]string{"beta_pos": "beta"})(c)
		if sign, ok := map[any]string{-1.0: "derived", 1.0: "printed"}[out["sign"]]; ok {
			out["sign"] = sign
		}
		if out["scale"] == "invK" {
			out["scale"] = "inv_k"
		}
		return out
	}
)

// exactSNR computes snr in float64: METHODS 3.7 by loops, with the derivative of each pair.
func exactSNR(l Loss, in exactInput) (loss float64, grad [][]float64, params [][][]float64) {
	fn := l.(*snr)
	z, norms := in.z, []float64(nil)
	if in.normalize {
		z, norms = unit64(in.z)
	}
	other := z
	if in.ref != nil {
		other = in.ref
	}
	grad = zeros64(len(z), len(z[0]))
	pairs := 0
	for _, kind := range []int{1, -1} {
		value, slopes, seen := fn.exactGroup(in, z, other, kind)
		loss += value
		pairs += seen
		for i := range slopes {
			for k := range slopes[i] {
				grad[i][k] += slopes[i][k]
			}
		}
	}
	if pairs > 0 {
		for i, row := range z {
			var sum float64
			for _, v := range row {
				sum += v
			}
			loss += fn.reg * math.Abs(sum) / float64(len(z))
			for k := range row {
				if sum != 0 {
					grad[i][k] += fn.reg * math.Copysign(1, sum) / float64(len(z))
				}
			}
		}
	}
	if in.normalize {
		through(grad, z, norms)
	}
	return loss, grad, nil
}

// exactGroup returns the mean over the active positives (kind 1) or negatives (-1), its gradient, and the
// number of all pairs of that kind.
func (l *snr) exactGroup(in exactInput, z, other [][]float64, kind int) (value float64, grad [][]float64, seen int) {
	grad = zeros64(len(z), len(z[0]))
	active := 0.0
	for i := range z {
		ci := centred64(z[i])
		q := dot64(ci, ci)
		if q <= flat*dot64(z[i], z[i]) {
			continue
		}
		for j := range other {
			if in.kind(i, j) != kind {
				continue
			}
			seen++
			cj := centred64(other[j])
			var v float64
			for k := range ci {
				v += (ci[k] - cj[k]) * (ci[k] - cj[k]) / q
			}
			over, slope := v-l.posMargin, 1.0
			if kind < 0 {
				over, slope = l.negMargin-v, -1
			}
			if over <= 0 {
				continue
			}
			active++
			value += over
			for k := range ci {
				grad[i][k] += slope * 2 / q * ((ci[k] - cj[k]) - v*ci[k])
				if in.ref == nil {
					grad[j][k] -= slope * 2 / q * (ci[k] - cj[k])
				}
			}
		}
	}
	if active == 0 {
		return 0, grad, seen
	}
	for i := range grad {
		for k := range grad[i] {
			grad[i][k] /= active
		}
	}
	return value / active, grad, seen
}

func centred64(row []float64) []float64 {
	var mean float64
	for _, v := range row {
		mean += v / float64(len(row))
	}
	out := make([]float64, len(row))
	for k, v := range row {
		out[k] = v - mean
	}
	return out
}
