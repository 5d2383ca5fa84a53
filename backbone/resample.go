package backbone

import (
	"math"

	"winnow/features"
)

// kernel is an interpolation filter. at returns the filter's value at a distance from the centre. The value is zero
// for distances of support or more.
type kernel struct {
	support float64
	at      func(x float64) float64
}

// kernelOf returns PIL's filter for torchvision's name of an interpolation.
func kernelOf(interpolation string) (kernel, bool) {
	switch interpolation {
	case "bilinear":
		return kernel{1, triangleKernel}, true
	case "bicubic":
		return kernel{2, cubicKernel}, true
	case "lanczos":
		return kernel{3, lanczosKernel}, true
	}
	return kernel{}, false
}

func triangleKernel(x float64) float64 { return max(0, 1-math.Abs(x)) }

// cubicKernel returns Keys' cubic convolution with a = -1/2, as in PIL. Source: Keys, Cubic convolution
// interpolation for digital image processing, IEEE TASSP 1981, eq. 15.
func cubicKernel(x float64) float64 {
	const a = -0.5
	switch x = math.Abs(x); {
	case x < 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return (((x-5)*x+8)*x - 4) * a
	}
	return 0
}

func lanczosKernel(x float64) float64 {
	if x < -3 || x >= 3 {
		return 0
	}
	return sinc(x) * sinc(x/3)
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x *= math.Pi
	return math.Sin(x) / x
}

// weightBits is the number of fractional bits of a weight. As in PIL it is 32 minus 8 for the byte and 2 for overshoot.
const weightBits = 22

// group is how many weights the inner loops process at once: enough for a bilinear reduction by 2.
const group = 4

// taps holds the integer weights of the output samples lo ≤ i < hi of one axis. Output i is Σ_j
// weights[i-lo][j]·in[start[i-lo]+j], shifted right by weightBits after adding half.
//
// When shrinking, the filter is stretched by the scale ("antialias"). It is centred on (i+1/2)·scale. Its weights sum
// to 1 in float64 before they are rounded to the same integers as PIL's. Every output has the same number of weights,
// a multiple of group if the axis is long enough. Surplus weights are zero, and near the far edge the window moves
// back to stay within the axis.
type taps struct {
	in, out, lo, hi int
	width           int     // number of weights of each output
	start           []int   // first input of each output; never decreases
	weights         []int32 // width weights for each output
}

// computeTaps fills t for an axis of in samples resized to out samples, reusing its memory.
func (t *taps) computeTaps(in, out, lo, hi int, k kernel) {
	if t.in == in && t.out == out && t.lo == lo && t.hi == hi {
		return // consecutive images often have the same size
	}
	t.in, t.out, t.lo, t.hi = in, out, lo, hi
	scale := float64(in) / float64(out)
	stretch := max(scale, 1)
	support := k.support * stretch
	if in == out { // no resize
		support = 0.5
	}
	t.width = min((int(math.Ceil(2*support))+group)/group*group, in)
	t.start = features.Grow(t.start, hi-lo)
	t.weights = features.Grow(t.weights, (hi-lo)*t.width)
	clear(t.weights)
	real := make([]float64, t.width+2)
	for i := range t.start {
		centre := (float64(lo+i) + 0.5) * scale
		first := max(int(centre-support+0.5), 0)
		end := min(int(centre+support+0.5), in)
		sum := 0.0
		for x := first; x < end; x++ {
			real[x-first] = k.at((float64(x) - centre + 0.5) / stretch)
			sum += real[x-first]
		}
		t.start[i] = min(first, in-t.width)
		ws := t.weights[i*t.width+first-t.start[i]:]
		for j, w := range real[:end-first] {
			ws[j] = int32(math.Round(w / sum * (1 << weightBits)))
		}
	}
}

// inputSpan returns the range of input samples that the outputs depend on.
func (t *taps) inputSpan() (first, end int) {
	return t.start[0], t.start[len(t.start)-1] + t.width
}

// clipped maps a sum to a byte, rounded and clipped to 0 … 255. The index is the upper ten bits of the sum; the first
// of them is the sign.
type clipped [1 << (32 - weightBits)]byte

var clipTable = newClipped()

func newClipped() *clipped {
	t := new(clipped)
	for i := range t {
		t[i] = clip8(int32(i) << weightBits >> weightBits)
	}
	return t
}

// halfWeight is added to a sum before the shift, for rounding.
const halfWeight = 1 << (weightBits - 1)

// resampleRow resizes one row of RGB bytes, whose first pixel is column from, into three rows, one per colour. Each of
// the three has len(dst)/3 samples.
func resampleRow(dst, src []byte, from int, t *taps) {
	n := len(t.start)
	red, green, blue := dst[:n], dst[n:2*n], dst[2*n:3*n]
	done := resampleRowVector(red, green, blue, src, from, t)
	if t.width == group { // the usual case: a bilinear reduction to the network's size
		resampleRow4(red, green, blue, src, from, t, done)
		return
	}
	for i := done; i < n; i++ {
		s := t.start[i]
		p := src[3*(s-from) : 3*(s-from+t.width)]
		r, g, b := int32(halfWeight), int32(halfWeight), int32(halfWeight)
		for _, w := range t.weights[i*t.width : (i+1)*t.width] {
			if len(p) >= 3 {
				r, g, b = r+w*int32(p[0]), g+w*int32(p[1]), b+w*int32(p[2])
				p = p[3:]
			}
		}
		red[i] = clipTable[uint32(r)>>weightBits]
		green[i] = clipTable[uint32(g)>>weightBits]
		blue[i] = clipTable[uint32(b)>>weightBits]
	}
}

// resampleRow4 is an unrolled resampleRow for four weights per output. It starts at output begin.
func resampleRow4(red, green, blue, src []byte, from int, t *taps, begin int) {
	weights, starts := t.weights[group*begin:], t.start[begin:]
	red, green, blue = red[begin:][:len(starts)], green[begin:][:len(starts)], blue[begin:][:len(starts)]
	clip := clipTable
	for i, s := range starts {
		if len(weights) < group {
			break
		}
		v := (*[3 * group]byte)(src[3*(s-from):])
		w0, w1, w2, w3 := weights[0], weights[1], weights[2], weights[3]
		weights = weights[group:]
		r := halfWeight + w0*int32(v[0]) + w1*int32(v[3]) + w2*int32(v[6]) + w3*int32(v[9])
		g := halfWeight + w0*int32(v[1]) + w1*int32(v[4]) + w2*int32(v[7]) + w3*int32(v[10])
		b := halfWeight + w0*int32(v[2]) + w1*int32(v[5]) + w2*int32(v[8]) + w3*int32(v[11])
		red[i], green[i] = clip[uint32(r)>>weightBits], clip[uint32(g)>>weightBits]
		blue[i] = clip[uint32(b)>>weightBits]
	}
}

// resampleGrey is resampleRow for one channel.
func resampleGrey(dst, src []byte, from int, t *taps) {
	for i, s := range t.start {
		p := src[s-from:][:t.width]
		v := int32(halfWeight)
		for j, w := range t.weights[i*t.width : (i+1)*t.width] {
			v += w * int32(p[j])
		}
		dst[i] = clipTable[uint32(v)>>weightBits]
	}
}

// resampleColumns adds four rows, each multiplied by its weight, to the sums. If begin is set, it overwrites the sums.
func resampleColumns(sum []int32, rows *[group][]byte, w *[group]int32, begin bool) {
	a, b, c, d := rows[0][:len(sum)], rows[1][:len(sum)], rows[2][:len(sum)], rows[3][:len(sum)]
	w0, w1, w2, w3 := w[0], w[1], w[2], w[3]
	done := resampleColumnsVector(sum, rows, w, begin)
	if begin {
		for i := done; i < len(sum); i++ {
			sum[i] = halfWeight + w0*int32(a[i]) + w1*int32(b[i]) + w2*int32(c[i]) + w3*int32(d[i])
		}
		return
	}
	for i := done; i < len(sum); i++ {
		sum[i] += w0*int32(a[i]) + w1*int32(b[i]) + w2*int32(c[i]) + w3*int32(d[i])
	}
}
