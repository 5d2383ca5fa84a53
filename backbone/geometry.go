package backbone

import "fmt"

// maxSide bounds sizes in a Preprocessing. More is a typing error; no network needs it.
const maxSide = 1 << 14

// validate returns an error that names what is wrong with p.
func (p Preprocessing) Validate() error {
	_, known := kernelOf(p.Interpolation)
	switch {
	case p.Resize < 0 || p.Resize > maxSide:
		return fmt.Errorf("backbone: preprocessing: resize is %d, expected 0 (none) to %d", p.Resize, maxSide)
	case p.Long && (p.Exact || p.Resize == 0):
		return fmt.Errorf("backbone: preprocessing: resize is %d, exact is %v and long is true, "+
			"expected a size, and either exact or long", p.Resize, p.Exact)
	case p.Crop < 1 || p.Crop > maxSide:
		return fmt.Errorf("backbone: preprocessing: crop is %d, expected the network's input side, 1 to %d",
			p.Crop, maxSide)
	case !known:
		return fmt.Errorf("backbone: preprocessing: interpolation is %q, expected bilinear, bicubic or lanczos",
			p.Interpolation)
	case p.Channels != "RGB" && p.Channels != "BGR" && p.Channels != "L":
		return fmt.Errorf("backbone: preprocessing: channels are %q, expected RGB, BGR or L", p.Channels)
	case p.Decoder != "" && p.Decoder != FastDecoder:
		return fmt.Errorf("backbone: preprocessing: decoder is %q, expected %q or none, which is %s",
			p.Decoder, FastDecoder, ExactDecoder)
	case !(p.Scale > 0) || p.Scale > 1e6:
		return fmt.Errorf("backbone: preprocessing: scale is %v, expected a positive number as 1/255 or 1", p.Scale)
	}
	for c := range p.Planes() {
		if !(p.Std[c] > 0) || p.Std[c] > 1e6 {
			return fmt.Errorf("backbone: preprocessing: std of channel %d is %v, expected a positive number",
				c, p.Std[c])
		}
		if !(p.Mean[c] >= -1e6 && p.Mean[c] <= 1e6) {
			return fmt.Errorf("backbone: preprocessing: mean of channel %d is %v", c, p.Mean[c])
		}
	}
	return nil
}

// Size returns the number of float32 values of one picture: Planes × Crop × Crop.
func (p Preprocessing) Size() int { return p.Planes() * p.Crop * p.Crop }

// target returns the size of a picture after the resize, as torchvision's Resize computes it: one side exactly,
// the shorter one, or with Long the longer one; the other rounded down.
func (p Preprocessing) target(w, h int) (int, int) {
	switch {
	case p.Resize == 0:
		return w, h
	case p.Exact:
		return p.Resize, p.Resize
	case (w <= h) != p.Long:
		return p.Resize, max(int(int64(p.Resize)*int64(h)/int64(w)), 1)
	}
	return max(int(int64(p.Resize)*int64(w)/int64(h)), 1), p.Resize
}

// Fits returns the names of the ways to make a picture square: squash it; resize the shorter side and crop the
// middle (short); resize the longer side and leave the rest black (long).
func Fits() []string { return []string{"squash", "short", "long"} }

// Fitted returns p with pictures made square in this way. Squash and long use the network's size, so that all
// of a picture is seen. Short keeps p's resize, or uses the network's size if p has none.
func (p Preprocessing) Fitted(fit string) Preprocessing {
	was := p.Resize
	p.Exact, p.Long, p.Resize = fit == "squash", fit == "long", p.Crop
	if fit == "short" && was > 0 {
		p.Resize = was
	}
	return p
}

// centre returns what a centre crop takes of an axis of n samples: samples lo ≤ i < hi are placed at pad. As in
// torchvision the start is (n-crop)/2 rounded half to even, and a crop wider than the axis is padded with
// zeros, the smaller half first.
func centre(n, crop int) (lo, hi, pad int) {
	if n <= crop {
		return 0, n, (crop - n) / 2
	}
	lo = (n - crop) / 2
	if (n-crop)%2 == 1 && lo%2 == 1 {
		lo++
	}
	return lo, lo + crop, 0
}
