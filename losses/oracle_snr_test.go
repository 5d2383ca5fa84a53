package losses

import (
	"fmt"
	"math"
	"testing"
)

// slowSNR returns the SNR contrastive loss from the raw rows, by the definition of the unbiased variance.
func slowSNR(in exactInput, posMargin, negMargin, reg float64) float64 {
	variance := func(x []float64) float64 {
		var mean, sum float64
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			sum += (v - mean) * (v - mean) / float64(len(x)-1)
		}
		return sum
	}
	length := func(x []float64) float64 {
		var sum float64
		for _, v := range x {
			sum += v * v
		}
		return math.Sqrt(sum)
	}
	terms := map[int][]float64{}
	seen, drift := 0, 0.0
	for i, x := range in.z {
		norm := 1.0
		if in.normalize {
			norm = length(x)
		}
		own := make([]float64, len(x))
		var sum float64
		for k := range x {
			own[k] = x[k] / norm
			sum += own[k]
		}
		drift += math.Abs(sum) / float64(len(in.z))
		for j := range in.columns() {
			kind := in.kind(i, j)
			if kind == 0 || variance(own) == 0 {
				continue
			}
			seen++
			apart := make([]float64, len(x))
			for k := range x {
				if in.ref != nil {
					apart[k] = own[k] - in.ref[j][k]
				} else if in.normalize {
					apart[k] = own[k] - in.z[j][k]/length(in.z[j])
				} else {
					apart[k] = own[k] - in.z[j][k]
				}
			}
			v := variance(apart) / variance(own)
			if l := v - posMargin; kind > 0 && l > 0 {
				terms[1] = append(terms[1], l)
			}
			if l := negMargin - v; kind < 0 && l > 0 {
				terms[-1] = append(terms[-1], l)
			}
		}
	}
	if seen == 0 {
		return 0
	}
	loss := reg * drift
	for _, list := range terms {
		for _, l := range list {
			loss += l / float64(len(list))
		}
	}
	return loss
}

func TestSNRByLoops(t *testing.T) {
	for name, in := range oracleInputs() {
		for _, c := range [][3]float64{{0, 1, 0}, {0.2, 1.8, 0}, {0, 1, 0.5}, {100, 0, 0}} {
			for _, unit := range []bool{true, false} {
				if in.normalize = unit; !unit && name == "one image twice" {
					continue
				}
				l := mustNew(t, "snr_contrastive", map[string]any{"pos_margin": c[0], "neg_margin": c[1], "reg": c[2]},
					testEnv(conformDim, conformClasses, 1))
				slow := func() float64 { return slowSNR(in, c[0], c[1], c[2]) }
				loss, grad, _ := exactSNR(l, in)
				what := fmt.Sprint(name, c, unit)
				if want := slow(); !near(loss, want, 1e-10, 1e-12) {
					t.Errorf("%s: %.12g, by loops %.12g", what, loss, want)
				}
				if rel, abs := worst(grad, differences(in.z, grad, slow)); rel > 1e-6 && abs > 1e-8 {
					t.Errorf("%s: gradient is off by %.3g of its largest entry", what, rel)
				}
				got, gotGrad := public(l, in)
				compare(t, what+" float32", got, loss, gotGrad, grad, loss32, grad32)
			}
		}
	}
}

// Constant rows are not anchors, but others are compared with them. float32 rounds away the ratios of near rows
// unless they are computed from differences.
func TestSNRConstantAndNearRows(t *testing.T) {
	in := conformInput(41, 16)
	in.normalize = false
	in.z, _ = unit64(in.z)
	for k := range in.z[3] {
		in.z[3][k] = 1 / math.Sqrt(conformDim)
	}
	for i, by := range []float64{1e-2, 1e-3, 1e-4} {
		copy(in.z[i+5], in.z[4])
		in.z[i+5][i] += by
		in.labels[i+5] = in.labels[4]
	}
	for i := range in.z {
		for k, v := range in.z[i] {
			in.z[i][k] = float64(float32(v)) // so that both paths get the same rows
		}
	}
	// constant but for the rounding of a coordinate
	in.z[3][0] = float64(math.Nextafter32(float32(in.z[3][0]), 1))
	// from the constant row all have ratio 1
	l := mustNew(t, "snr_contrastive", map[string]any{"neg_margin": 1.5}, testEnv(conformDim, conformClasses, 1))
	want, wantGrad, _ := exactSNR(l, in)
	got, grad := public(l, in)
	compare(t, "float32", got, want, grad, wantGrad, 1e-5, 1e-4)
	if !(got < 10) {
		t.Errorf("value %v: a constant row is an anchor", got)
	}

	near4 := in
	near4.z, near4.labels, near4.ids = in.z[4:8], in.labels[4:8], in.ids[4:8]
	want, wantGrad, _ = exactSNR(l, near4)
	if got, grad = public(l, near4); want > 1e-4 {
		t.Errorf("the rows are not near: %v", want)
	}
	compare(t, "near rows, float32", got, want, grad, wantGrad, 1e-5, 1e-3)

	bank := in
	bank.ref, bank.refIDs = in.z, in.labels
	want, wantGrad, _ = exactSNR(l, bank)
	got, grad = public(l, bank)
	compare(t, "bank, float32", got, want, grad, wantGrad, 1e-5, 1e-4)
}

// The comparison with the oracle has been seen to fail: for a value that is off by a thousandth, and for a
// gradient that treats the anchor's own variance as a constant.
func TestSpoiledSNRTwinIsSeen(t *testing.T) {
	in := oracleInputs()["plain"]
	l := mustNew(t, "snr_contrastive", nil, testEnv(conformDim, conformClasses, 1))
	slow := func() float64 { return slowSNR(in, 0, 1, 0) }
	loss, grad, _ := exactSNR(l, in)
	if near(loss*1.001, slow(), 1e-10, 1e-12) {
		t.Error("a value that is off is not seen")
	}
	numeric := differences(in.z, grad, slow)
	z, norms := unit64(in.z)
	part := zeros64(len(z), len(z[0]))
	for i := range z {
		c := centred64(z[i])
		for k := range c {
			part[i][k] = 1e-3 * c[k]
		}
	}
	through(part, z, norms)
	for i := range part {
		for k := range part[i] {
			part[i][k] += grad[i][k]
		}
	}
	if rel, _ := worst(part, numeric); rel <= 1e-6 {
		t.Error("a gradient that is off is not seen")
	}
}
