package backbone

import "math"

// kernel is an interpolation filter: its value at a distance from the centre, zero from support on.
type kernel struct {
	support float64
	at      func(x float64) float64
}

// kernels are PIL's, by torchvision's names.
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

// cubicKernel is Keys' cubic convolution with a = -1/2, as PIL has it.
// Source: Keys, Cubic convolution interpolation for digital image processing, IEEE TASSP 1981, eq. 15.
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

// weightBits are the fractional bits of a weight: 32 less 8 for the byte and 2 for overshoot, as in PIL.
const weightBits = 22

// taps are the integer weights of consecutive output samples lo ≤ i < hi of one axis: output i is
// Σ_j w[i-lo][j]·in[start[i-lo]+j], shifted right by weightBits after adding half.
//
// The filter is stretched by the scale when shrinking ("antialias"), centred on (i+1/2)·scale, and its
// weights sum to 1, all in float64 before they are rounded: the same integers as PIL's.
type taps struct {
	in, out, lo, hi int
	start           []int32
	weights         [][]int32
	most            int // largest number of weights of one output
}

// compute fills t for an axis of in samples resized to out samples, reusing its memory.
func (t *taps) compute(in, out, lo, hi int, k kernel) {
	if t.in == in && t.out == out && t.lo == lo && t.hi == hi {
		return // pictures of one size come in a row
	}
	t.in, t.out, t.lo, t.hi, t.most = in, out, lo, hi, 0
	t.start, t.weights = t.start[:0], t.weights[:0]
	if in == out { // nothing to filter
		t.most = 1
		for i := lo; i < hi; i++ {
			t.start, t.weights = append(t.start, int32(i)), append(t.weights, []int32{1 << weightBits})
		}
		return
	}
	scale := float64(in) / float64(out)
	stretch := max(scale, 1)
	support := k.support * stretch
	flat := make([]int32, 0, (hi-lo)*(2*int(math.Ceil(support))+1))
	var real []float64
	for i := lo; i < hi; i++ {
		centre := (float64(i) + 0.5) * scale
		first := max(int(centre-support+0.5), 0)
		end := min(int(centre+support+0.5), in)
		real = real[:0]
		sum := 0.0
		for x := first; x < end; x++ {
			w := k.at((float64(x) - centre + 0.5) / stretch)
			real = append(real, w)
			sum += w
		}
		from := len(flat)
		for _, w := range real {
			flat = append(flat, int32(math.Round(w/sum*(1<<weightBits))))
		}
		ws := flat[from:len(flat):len(flat)]
		t.start, t.weights = append(t.start, int32(first)), append(t.weights, ws)
		t.most = max(t.most, len(ws))
	}
}

// span is the range of input samples that the outputs need.
func (t *taps) span() (first, end int) {
	first, end = t.in, 0
	for i, s := range t.start {
		first = min(first, int(s))
		end = max(end, int(s)+len(t.weights[i]))
	}
	return first, end
}

// resampleRow resizes one row of RGB bytes, whose first pixel is column from, into the rows of the three
// colours, each len(dst)/3 long.
func resampleRow(dst, src []byte, from int, t *taps) {
	n := len(t.start)
	red, green, blue := dst[:n], dst[n:2*n], dst[2*n:3*n]
	const half = 1 << (weightBits - 1)
	for i, s := range t.start {
		ws := t.weights[i]
		p := src[3*(int(s)-from):]
		p = p[:3*len(ws)]
		r, g, b := int32(half), int32(half), int32(half)
		for len(ws) > 0 && len(p) >= 3 {
			w := ws[0]
			r += w * int32(p[0])
			g += w * int32(p[1])
			b += w * int32(p[2])
			ws, p = ws[1:], p[3:]
		}
		red[i], green[i], blue[i] = clip8(r>>weightBits), clip8(g>>weightBits), clip8(b>>weightBits)
	}
}

// resampleGrey is resampleRow for one colour.
func resampleGrey(dst, src []byte, from int, t *taps) {
	for i, s := range t.start {
		ws := t.weights[i]
		p := src[int(s)-from:][:len(ws)]
		v := int32(1 << (weightBits - 1))
		for j, w := range ws {
			v += w * int32(p[j])
		}
		dst[i] = clip8(v >> weightBits)
	}
}
