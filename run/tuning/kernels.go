package tuning

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"winnow/backbone"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/features"
)

// On a GPU, winnow uses its own operators and cuDNN's gradients only after a trial on a few random images: the
// gradients must agree with those of ONNX operators, and must be computed faster.

const (
	triedImages = 16
	triedTimes  = 3
	mayDiffer   = 1e-2 // allowed relative difference of a gradient; another order of float32 products explains 1e-3
	tf32Differs = 5e-2
)

// agreement compares the gradients of two networks with the same weights.
type agreement struct {
	off     float64 // largest relative difference of a weight's gradient, without tiny gradients
	weight  string  // name of this weight
	seconds [2]float64
}

// compareNetworks compares the gradients of both networks on n random images, and times them.
func compareNetworks(a, b backbone.LiveNetwork, n int) (agreement, error) {
	rng := rand.New(rand.NewPCG(11, 13))
	var inputs [][]float32
	for _, size := range a.Inputs() {
		x := make([]float32, n*size)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		inputs = append(inputs, x)
	}
	y, slope := features.NewMatrix(n, a.Dim()), features.NewMatrix(n, a.Dim())
	for i := range slope.Data {
		slope.Data[i] = float32(rng.NormFloat64())
	}
	var found agreement
	for i, net := range []backbone.LiveNetwork{a, b} {
		found.seconds[i] = math.Inf(1)
		for range triedTimes {
			began := time.Now()
			if err := errors.Join(net.Forward(y, inputs, n, true), net.Backward(slope, false)); err != nil {
				return found, err
			}
			found.seconds[i] = min(found.seconds[i], time.Since(began).Seconds())
		}
	}
	longest := 0.
	for _, p := range b.Params() {
		longest = max(longest, computeLength(p.Grad))
	}
	for i, p := range b.Params() {
		off, size := 0., computeLength(p.Grad)
		for j, v := range a.Params()[i].Grad {
			d := float64(v - p.Grad[j])
			off += d * d
		}
		// Gradients near 0, such as of a bias before a normalisation, are only rounding errors.
		if off = math.Sqrt(off) / max(size, 1e-4*longest); !(off <= found.off) {
			found.off, found.weight = off, p.Name
		}
	}
	return found, nil
}

func computeLength(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// chooseKernels returns the options for differentiating this network: with winnow's own operators if they are faster on
// this device, without them if they fail or differ. It makes the trial once.
func (t *Live) chooseKernels() gradient.Options {
	o := t.newPlainOptions()
	kernels := t.rt.Kernels()
	if why := t.rt.WithoutKernels(); why != "" && t.rt.Device().CUDA && !t.tried {
		t.tried = true
		t.Note("gradients are computed only by ONNX operators: %s", why)
	}
	if kernels != gradient.ForCUDA {
		o.Kernels = kernels
		return o
	}
	if t.tried {
		return t.chosen
	}
	t.tried, t.chosen = true, o
	o.Kernels, o.TF32 = kernels, t.rt.TF32()
	found, err := t.tryKernels(o)
	limit := mayDiffer
	if t.rt.TF32() {
		limit = tf32Differs
	}
	const alone = "gradients are computed only by ONNX operators"
	switch by := found.seconds[1] / found.seconds[0]; {
	case err != nil:
		t.Note(alone+": cuDNN's operators cannot be used (%v)", err)
	case !(found.off <= limit):
		t.Note(alone+": with cuDNN the gradient of %s differs by %.2g of its length", found.weight, found.off)
	case by < 1:
		t.Note(alone+", here %.2f times as fast as cuDNN's", 1/by)
	default:
		t.chosen = o
		t.Note("gradients are computed by cuDNN and winnow's kernels: %.2f times as fast as only by ONNX operators, "+
			"with differences of %.1g", by, found.off)
	}
	return t.chosen
}

// tryKernels compares the network with and without winnow's operators.
func (t *Live) tryKernels(o gradient.Options) (found agreement, err error) {
	var nets [2]*ort.Live
	defer func() {
		for _, n := range nets {
			if n != nil {
				err = errors.Join(err, n.Close())
			}
		}
	}()
	for i, o := range []gradient.Options{o, t.newPlainOptions()} {
		if err := t.differentiateLive(o); err != nil {
			return found, err
		}
		if nets[i], err = ort.NewLive(t.rt, t.derivative, ort.LiveOptions{Model: t.live}); err != nil {
			return found, fmt.Errorf("finetune: %s: %w", t.Backbone.Name, err)
		}
	}
	n := triedImages
	if t.Cut.Batch > 0 { // one image, or one group of them
		n = 1
	} else if c := t.chooseChunkSize(); c > 0 {
		n = min(n, c)
	}
	return compareNetworks(nets[0], nets[1], n)
}
