package backbone

import (
	"cmp"
	"fmt"
)

// maxSide is the largest size accepted in a Preprocessing. No network needs more; a larger number is a typing error.
const maxSide = 1 << 14

// Validate returns an error that names the first invalid field of p.
func (p Preprocessing) Validate() error {
	_, known := kernelOf(p.Interpolation)
	switch {
	case p.Resize < 0 || p.Resize > maxSide:
		return fmt.Errorf("backbone: preprocessing: resize is %d, expected 0 (none) to %d", p.Resize, maxSide)
	case p.Long && (p.Exact || p.Resize == 0):
		return fmt.Errorf("backbone: preprocessing: resize is %d, exact is %v and long is true, "+
			"expected a size, and either exact or long", p.Resize, p.Exact)
	case p.Crop < 1 || p.Crop > maxSide:
		return fmt.Errorf("backbone: preprocessing: crop is %d, expected the side of the network's input, 1 to %d",
			p.Crop, maxSide)
	case p.Height < 0 || p.Height > maxSide || p.Height == p.Crop:
		return fmt.Errorf("backbone: preprocessing: height is %d, expected 0 (the width %d), or another, at most %d",
			p.Height, p.Crop, maxSide)
	case p.boxHeight() > maxSide:
		return fmt.Errorf("backbone: preprocessing: resize is %d for a network of %s, expected at most %d high",
			p.Resize, p.SizeText(), maxSide)
	case !known:
		return fmt.Errorf("backbone: preprocessing: interpolation is %q, expected bilinear, bicubic or lanczos",
			p.Interpolation)
	case p.Channels != "RGB" && p.Channels != "BGR" && p.Channels != "L":
		return fmt.Errorf("backbone: preprocessing: channels are %q, expected RGB, BGR or L", p.Channels)
	case !(p.Scale > 0) || p.Scale > 1e6:
		return fmt.Errorf("backbone: preprocessing: scale is %v, expected a positive number, e.g. 1/255", p.Scale)
	}
	for c := range p.Planes() {
		if !(p.Std[c] > 0) || p.Std[c] > 1e6 {
			return fmt.Errorf("backbone: preprocessing: std of channel %d is %v, expected a positive number",
				c, p.Std[c])
		}
		if !(p.Mean[c] >= -1e6 && p.Mean[c] <= 1e6) {
			return fmt.Errorf("backbone: preprocessing: mean of channel %d is %v, expected -1e6 to 1e6", c, p.Mean[c])
		}
	}
	return nil
}

// Size returns the number of float32 values of one image: Planes × High × Crop.
func (p Preprocessing) Size() int { return p.Planes() * p.High() * p.Crop }

// High returns the height of the network's input.
func (p Preprocessing) High() int { return cmp.Or(p.Height, p.Crop) }

// SizeText returns the size of the network's input as text, height first as in tensor shapes: "256×128".
func (p Preprocessing) SizeText() string { return fmt.Sprintf("%d×%d", p.High(), p.Crop) }

// WithSize returns p for a network whose input is w wide and h high.
func (p Preprocessing) WithSize(w, h int) Preprocessing {
	if p.Crop, p.Height = w, h; w == h {
		p.Height = 0
	}
	return p
}

// boxHeight returns the height of the box whose width is Resize.
func (p Preprocessing) boxHeight() int {
	if p.Height == 0 || p.Resize == 0 {
		return p.Resize
	}
	return max((2*p.Resize*p.Height+p.Crop)/(2*p.Crop), 1)
}

// targetSize returns the size of an image after the resize. For a square input it follows torchvision's Resize: the
// shorter side (with Long the longer) becomes Resize, and the other side is rounded down. For other inputs one side
// equals the box's, so that the image just covers the box, or with Long just fits into it.
func (p Preprocessing) targetSize(w, h int) (int, int) {
	bw, bh := int64(p.Resize), int64(p.boxHeight())
	switch {
	case p.Resize == 0:
		return w, h
	case p.Exact:
		return int(bw), int(bh)
	case (int64(w)*bh <= int64(h)*bw) != p.Long:
		return int(bw), max(int(bw*int64(h)/int64(w)), 1)
	}
	return max(int(bh*int64(w)/int64(h)), 1), int(bh)
}

// Fits returns the names of the methods that bring an image to the input's shape: "squash" ignores the aspect ratio,
// "short" resizes the shorter side and crops the middle, "long" resizes the longer side and leaves the rest black.
func Fits() []string { return []string{"squash", "short", "long"} }

// Fitted returns p with the given method, one of [Fits]. "squash" and "long" resize to the input size, so that the
// whole image is visible. "short" keeps p's resize, or uses the input size if p has none.
func (p Preprocessing) Fitted(fit string) Preprocessing {
	was := p.Resize
	p.Exact, p.Long, p.Resize = fit == "squash", fit == "long", p.Crop
	if fit == "short" && was > 0 {
		p.Resize = was
	}
	return p
}

// centreCrop computes a centre crop of an axis of n samples: samples lo ≤ i < hi are placed at index pad. As in
// torchvision the start is (n-crop)/2, rounded half to even, and a crop wider than the axis is padded with zeros; if
// the padding is odd, the start gets the smaller half.
func centreCrop(n, crop int) (lo, hi, pad int) {
	if n <= crop {
		return 0, n, (crop - n) / 2
	}
	lo = (n - crop) / 2
	if (n-crop)%2 == 1 && lo%2 == 1 {
		lo++
	}
	return lo, lo + crop, 0
}
