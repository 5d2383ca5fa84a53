package backbone

import "fmt"

// Augmentation describes how a training view of an image differs from the evaluation view, which [Preprocessor.Into]
// makes. The zero value is the evaluation view.
//
// A view is made in this order: crop and resize (one resampling with PIL's filters and rounding), rotation,
// zoom and shift (one bilinear warp), flip, colour, grey. torchvision applies some of them in another order;
// the distribution of views is the same, because flips commute with colour and the warps are symmetric.
type Augmentation struct {
	// Crop selects the part of the image. "" takes the centre, as in evaluation. "random" resizes to Resize, then cuts
	// out a rectangle of the network's input size at a random place. "resized" cuts out a rectangle of random area and
	// aspect ratio, then resizes it to the input size (torchvision's RandomResizedCrop).
	Crop string `json:"crop"   yaml:"crop"`
	// Resize is the size in pixels to resize to before a random crop. 0 means 256/224 of the input size, rounded; if
	// Pad is set, 0 means the resize of the evaluation view.
	Resize int `json:"resize" yaml:"resize"`
	// Exact resizes to a square regardless of the aspect ratio. The evaluation view is then resized in the same way.
	Exact bool `json:"exact"  yaml:"exact"`
	Pad   int  `json:"pad"    yaml:"pad"` // black border around the image before a random crop, pixels

	Scale [2]float64 `json:"scale" yaml:"scale"` // share of the image's area in a "resized" crop; zero: 0.08 to 1
	Ratio [2]float64 `json:"ratio" yaml:"ratio"` // width/height of that crop, log-uniform; zero: 3/4 to 4/3

	Flip   float64 `json:"flip"   yaml:"flip"`   // probability of a mirrored view
	Rotate float64 `json:"rotate" yaml:"rotate"` // degrees, uniform within ±Rotate
	Shift  float64 `json:"shift"  yaml:"shift"`  // share of the view's side, uniform within ±Shift, on each axis
	Zoom   float64 `json:"zoom"   yaml:"zoom"`   // scale factor, uniform in 1-Zoom to 1+Zoom

	// Jitter limits the changes of brightness, contrast and saturation (factors 1-j to 1+j, at least 0) and of hue (±j
	// turns of the colour circle, at most 1/2). JitterP is the probability that the colours change; if they do, all
	// four changes are applied in random order.
	Jitter  [4]float64 `json:"jitter"   yaml:"jitter"`
	JitterP float64    `json:"jitter_p" yaml:"jitter_p"`
	Grey    float64    `json:"grey"     yaml:"grey"` // probability that the view is made grey
}

// The values of Augmentation.Crop.
const (
	cropCentre  = ""
	cropRandom  = "random"
	cropResized = "resized"
)

// checkAugmentation returns an error that names the first invalid field of a.
func (a Augmentation) checkAugmentation() error {
	if err := a.validateCrop(); err != nil {
		return err
	}
	for _, v := range []struct {
		name  string
		value float64
		most  float64
	}{
		{"flip", a.Flip, 1}, {"grey", a.Grey, 1}, {"jitter_p", a.JitterP, 1},
		{"rotate", a.Rotate, 180}, {"shift", a.Shift, 1}, {"zoom", a.Zoom, 0.9},
		{"jitter of brightness", a.Jitter[0], 100}, {"jitter of contrast", a.Jitter[1], 100},
		{"jitter of saturation", a.Jitter[2], 100}, {"jitter of hue", a.Jitter[3], 0.5},
	} {
		if !(v.value >= 0 && v.value <= v.most) {
			return fmt.Errorf("backbone: augmentation: %s is %v, expected 0 to %v", v.name, v.value, v.most)
		}
	}
	if a.Jitter != [4]float64{} && a.JitterP == 0 {
		return fmt.Errorf("backbone: augmentation: jitter is %v and jitter_p is 0, "+
			"expected a jitter_p above 0", a.Jitter)
	}
	return nil
}

func (a Augmentation) validateCrop() error {
	switch {
	case a.Crop != cropCentre && a.Crop != cropRandom && a.Crop != cropResized:
		return fmt.Errorf("backbone: augmentation: crop is %q, expected %q (the centre), %q or %q",
			a.Crop, cropCentre, cropRandom, cropResized)
	case a.Resize < 0 || a.Resize > maxSide:
		return fmt.Errorf("backbone: augmentation: resize is %d, expected 0 (256/224 of the crop) to %d",
			a.Resize, maxSide)
	case a.Pad < 0 || a.Pad > maxSide:
		return fmt.Errorf("backbone: augmentation: pad is %d, expected 0 to %d", a.Pad, maxSide)
	case a.Crop != cropRandom && (a.Resize != 0 || a.Exact || a.Pad != 0):
		return fmt.Errorf("backbone: augmentation: found resize %d, exact %v, pad %d with crop %q, "+
			"but these settings need crop %q", a.Resize, a.Exact, a.Pad, a.Crop, cropRandom)
	case a.Crop != cropResized && (a.Scale != [2]float64{} || a.Ratio != [2]float64{}):
		return fmt.Errorf("backbone: augmentation: found scale %v, ratio %v with crop %q, but these need crop %q",
			a.Scale, a.Ratio, a.Crop, cropResized)
	}
	scale, ratio := a.cropBounds()
	if !(scale[0] > 0 && scale[0] <= scale[1] && scale[1] <= 1) {
		return fmt.Errorf("backbone: augmentation: scale is %v, expected two shares of the area, 0 < low ≤ high ≤ 1",
			scale)
	}
	if !(ratio[0] >= 0.01 && ratio[0] <= ratio[1] && ratio[1] <= 100) {
		return fmt.Errorf("backbone: augmentation: ratio is %v, "+
			"expected two ratios width/height, 0.01 ≤ low ≤ high ≤ 100", ratio)
	}
	return nil
}

// cropBounds returns Scale and Ratio; a zero field is replaced by torchvision's default.
func (a Augmentation) cropBounds() (scale, ratio [2]float64) {
	scale, ratio = a.Scale, a.Ratio
	if scale == [2]float64{} {
		scale = [2]float64{0.08, 1}
	}
	if ratio == [2]float64{} {
		ratio = [2]float64{3. / 4, 4. / 3}
	}
	return scale, ratio
}

// Evaluation returns p. If a cuts its views from squashed images, the returned p squashes images to the network's
// input size. Otherwise the network would be evaluated on proportions that it never meets in training.
func (a Augmentation) Evaluation(p Preprocessing) Preprocessing {
	if a.Exact && p.Resize > 0 && !p.Exact {
		p = p.Fitted("squash")
	}
	return p
}

// Fitting returns a, without the squash if p does not squash. Use it where p cannot change, for example because
// features made with p are stored. Squashed views would have other proportions than the evaluated images.
func (a Augmentation) Fitting(p Preprocessing) Augmentation {
	if a.Evaluation(p) != p {
		a.Exact = false
	}
	return a
}

// resizeForCrops returns p with the resize that is applied before a random crop.
func (a Augmentation) resizeForCrops(p Preprocessing) Preprocessing {
	switch {
	case a.Crop != cropRandom:
		return p
	case a.Resize > 0:
		p.Resize = a.Resize
	case a.Pad == 0:
		p.Resize = (p.Crop*256 + 112) / 224 // the height of the box follows from its width
	}
	p.Exact = p.Resize > 0 && (p.Exact || a.Exact)
	p.Long = p.Long && p.Resize > 0 && !p.Exact
	return p
}
