package backbone

import (
	"math"
	"math/rand/v2"
)

// tries is how many times a "resized" crop is drawn at random before the centre crop is used, as in torchvision.
const tries = 10

// draws holds the random numbers of one view, each uniform in [0, 1). All are always drawn, in the order of the
// fields, even if the augmentation does not use them. A view therefore depends only on the generator's state, every
// view takes equally many numbers, and changing one setting leaves the other random numbers unchanged.
type draws struct {
	x, y                                  float64 // place of the crop
	flip                                  float64
	angle, right, down, zoom              float64
	jitter                                float64
	brightness, contrast, saturation, hue float64
	order                                 float64 // the order of the four colour changes
	grey                                  float64
	parts                                 [tries]struct{ area, ratio float64 }
}

func drawFrom(rng *rand.Rand) *draws {
	d := new(draws)
	for _, v := range []*float64{&d.x, &d.y, &d.flip, &d.angle, &d.right, &d.down, &d.zoom,
		&d.jitter, &d.brightness, &d.contrast, &d.saturation, &d.hue, &d.order, &d.grey} {
		*v = rng.Float64()
	}
	for i := range d.parts {
		d.parts[i].area, d.parts[i].ratio = rng.Float64(), rng.Float64()
	}
	return d
}

// mapBetween maps u from [0, 1) to [lo, hi).
func mapBetween(u, lo, hi float64) float64 { return lo + u*(hi-lo) }

// strip describes how one axis of an image becomes one axis of a view: part of the image is resized, black is added on
// both sides, and the view is cut out of the result. All numbers are pixels.
type strip struct {
	from, n       int // first pixel and length of the part of the image
	out, start    int // length after resizing; first pixel of the view in the result
	before, total int // black pixels before the resized part; length of the result
}

// view holds all decisions about one view.
type view struct {
	across, down strip
	flip         bool
	warp         warp
	colour       colourChange
}

// planView makes all decisions about a view of an image of w×h pixels.
func (a Augmentation) planView(p Preprocessing, w, h int, d *draws) view {
	var v view
	switch a.Crop {
	case cropResized:
		x, y, bw, bh := a.drawRectangle(w, h, float64(p.Crop)/float64(p.High()), d)
		v.across = strip{from: x, n: bw, out: p.Crop, total: p.Crop}
		v.down = strip{from: y, n: bh, out: p.High(), total: p.High()}
	case cropRandom:
		rw, rh := a.resizeForCrops(p).targetSize(w, h)
		v.across, v.down = padAxis(w, rw, p.Crop, a.Pad), padAxis(h, rh, p.High(), a.Pad)
		v.across.start, v.down.start = drawIndex(d.x, v.across.total-p.Crop), drawIndex(d.y, v.down.total-p.High())
	default:
		rw, rh := p.targetSize(w, h)
		v.across, v.down = padAxis(w, rw, p.Crop, 0), padAxis(h, rh, p.High(), 0)
		v.across.start, _, _ = centreCrop(rw, p.Crop)
		v.down.start, _, _ = centreCrop(rh, p.High())
	}
	v.flip = d.flip < a.Flip
	v.warp = a.planWarp(d)
	v.colour = a.planColour(d)
	return v
}

// padAxis describes an axis of n samples that is resized to out samples, with pad black samples on each side. If the
// crop is longer, black samples are added on both sides; if their number is odd, the end gets one more.
func padAxis(n, out, crop, pad int) strip {
	total := max(out+2*pad, crop)
	return strip{n: n, out: out, before: pad + (total-out-2*pad)/2, total: total}
}

// drawIndex maps u from [0, 1) to 0 … last, uniformly.
func drawIndex(u float64, last int) int { return min(int(u*float64(last+1)), last) }

// drawRectangle returns the rectangle of a "resized" crop. Its area is a uniform share of the image's area, and its
// aspect ratio is log-uniform. Both are redrawn until the rectangle fits into the image; after ten tries the rectangle
// is the largest centre crop that the aspect ratios allow. Aspect ratios are multiples of own, the input's ratio.
// Sizes are rounded half to even. Source: torchvision, RandomResizedCrop.get_params.
func (a Augmentation) drawRectangle(w, h int, own float64, d *draws) (x, y, bw, bh int) {
	scale, ratio := a.cropBounds()
	ratio[0], ratio[1] = ratio[0]*own, ratio[1]*own
	for _, t := range d.parts {
		area := float64(w) * float64(h) * mapBetween(t.area, scale[0], scale[1])
		aspect := math.Exp(mapBetween(t.ratio, math.Log(ratio[0]), math.Log(ratio[1])))
		bw, bh = int(math.RoundToEven(math.Sqrt(area*aspect))), int(math.RoundToEven(math.Sqrt(area/aspect)))
		if 0 < bw && bw <= w && 0 < bh && bh <= h {
			return drawIndex(d.x, w-bw), drawIndex(d.y, h-bh), bw, bh
		}
	}
	bw, bh = w, h
	switch aspect := float64(w) / float64(h); {
	case aspect < ratio[0]:
		bh = min(max(int(math.RoundToEven(float64(w)/ratio[0])), 1), h)
	case aspect > ratio[1]:
		bw = min(max(int(math.RoundToEven(float64(h)*ratio[1])), 1), w)
	}
	return (w - bw) / 2, (h - bh) / 2, bw, bh
}
