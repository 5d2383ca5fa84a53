package backbone

import "fmt"

// Augmentation describes how a training view of a picture differs from the evaluation view, which is what
// [Preprocessor.Into] shows. The zero value is the evaluation view.
//
// A view is made in this order: crop and resize (one resampling, PIL's filters and roundings), rotation, zoom
// and shift (one bilinear warp), flip, colour, grey. What torchvision does in another order gives the same
// distribution of views: flips commute with colour, and the warps are symmetric.
type Augmentation struct {
	// Crop is where the view is cut out. "": the centre, as in evaluation. "random": resize to Resize, cut
	// out a square of the network's size anywhere. "resized": cut out a rectangle of random area and aspect,
	// resize it to the network's size (torchvision's RandomResizedCrop).
	Crop string `json:"crop" yaml:"crop"`
	// Resize is the target of the resize before a random crop, pixels. 0: 256/224 of the network's size,
	// rounded, or with Pad the resize of the evaluation view.
	Resize int  `json:"resize" yaml:"resize"`
	Exact  bool `json:"exact" yaml:"exact"` // resize to a square whatever the aspect; the evaluation view may ask for it too
	Pad    int  `json:"pad" yaml:"pad"`     // black border around the picture before a random crop, pixels

	Scale [2]float64 `json:"scale" yaml:"scale"` // share of the area that a "resized" crop takes; zero: 0.08 to 1
	Ratio [2]float64 `json:"ratio" yaml:"ratio"` // its width/height, uniform in the logarithm; zero: 3/4 to 4/3

	Flip   float64 `json:"flip" yaml:"flip"`     // probability that left and right are exchanged
	Rotate float64 `json:"rotate" yaml:"rotate"` // degrees, uniform within ±Rotate
	Shift  float64 `json:"shift" yaml:"shift"`   // share of the view's side, uniform within ±Shift, on each axis
	Zoom   float64 `json:"zoom" yaml:"zoom"`     // things become 1-Zoom to 1+Zoom times as large, uniform

	// Jitter is how far brightness, contrast and saturation (factors 1-j to 1+j, not below 0) and hue (±j
	// turns of the colour circle, at most 1/2) may go; JitterP the probability that they are changed at all,
	// together and in random order.
	Jitter  [4]float64 `json:"jitter" yaml:"jitter"`
	JitterP float64    `json:"jitter_p" yaml:"jitter_p"`
	Grey    float64    `json:"grey" yaml:"grey"` // probability that the colours are taken away
}

// The crops of an Augmentation.
const (
	cropCentre  = ""
	cropRandom  = "random"
	cropResized = "resized"
)

// Validate returns an error that names what is wrong with a.
func (a Augmentation) Validate() error {
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
		return fmt.Errorf("backbone: augmentation: jitter is %v and jitter_p is 0, expected the probability of the jitter", a.Jitter)
	}
	return nil
}

func (a Augmentation) validateCrop() error {
	switch {
	case a.Crop != cropCentre && a.Crop != cropRandom && a.Crop != cropResized:
		return fmt.Errorf("backbone: augmentation: crop is %q, expected %q (the centre), %q or %q", a.Crop, cropCentre, cropRandom, cropResized)
	case a.Resize < 0 || a.Resize > maxSide:
		return fmt.Errorf("backbone: augmentation: resize is %d, expected 0 (256/224 of the crop) to %d", a.Resize, maxSide)
	case a.Pad < 0 || a.Pad > maxSide:
		return fmt.Errorf("backbone: augmentation: pad is %d, expected 0 to %d", a.Pad, maxSide)
	case a.Crop != cropRandom && (a.Resize != 0 || a.Exact || a.Pad != 0):
		return fmt.Errorf("backbone: augmentation: resize %d, exact %v, pad %d with crop %q, expected them with crop %q only", a.Resize, a.Exact, a.Pad, a.Crop, cropRandom)
	case a.Crop != cropResized && (a.Scale != [2]float64{} || a.Ratio != [2]float64{}):
		return fmt.Errorf("backbone: augmentation: scale %v, ratio %v with crop %q, expected them with crop %q only", a.Scale, a.Ratio, a.Crop, cropResized)
	}
	scale, ratio := a.bounds()
	if !(scale[0] > 0 && scale[0] <= scale[1] && scale[1] <= 1) {
		return fmt.Errorf("backbone: augmentation: scale is %v, expected two shares of the area, 0 < low ≤ high ≤ 1", scale)
	}
	if !(ratio[0] >= 0.01 && ratio[0] <= ratio[1] && ratio[1] <= 100) {
		return fmt.Errorf("backbone: augmentation: ratio is %v, expected two widths per height, 0.01 ≤ low ≤ high ≤ 100", ratio)
	}
	return nil
}

// bounds returns Scale and Ratio with torchvision's defaults where nothing is said.
func (a Augmentation) bounds() (scale, ratio [2]float64) {
	scale, ratio = a.Scale, a.Ratio
	if scale == [2]float64{} {
		scale = [2]float64{0.08, 1}
	}
	if ratio == [2]float64{} {
		ratio = [2]float64{3. / 4, 4. / 3}
	}
	return scale, ratio
}

// Evaluation returns p as the evaluation that fits views so augmented: where they are cut from squashed pictures, squashed to the
// network's size. A view of another shape than what is evaluated teaches a network what the evaluation never shows it.
func (a Augmentation) Evaluation(p Preprocessing) Preprocessing {
	if a.Exact && p.Resize > 0 && !p.Exact {
		p = p.Fitted("squash")
	}
	return p
}

// Fitting returns the augmentation whose views have the shape of pictures as p evaluates them: it squashes them only where p does. Where
// p stays as it is, as the features that it made are there, views that were squashed would be of other pictures.
func (a Augmentation) Fitting(p Preprocessing) Augmentation {
	if a.Evaluation(p) != p {
		a.Exact = false
	}
	return a
}

// resize returns p with the resize that views cropped at random are cut from.
func (a Augmentation) resize(p Preprocessing) Preprocessing {
	switch {
	case a.Crop != cropRandom:
		return p
	case a.Resize > 0:
		p.Resize = a.Resize
	case a.Pad == 0:
		p.Resize = (p.Crop*256 + 112) / 224
	}
	p.Exact = p.Resize > 0 && (p.Exact || a.Exact)
	p.Long = p.Long && p.Resize > 0 && !p.Exact
	return p
}
