package export

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/run/extraction"
)

const (
	checked    = 16   // number of random images
	checkLimit = 1e-5 // largest allowed difference between values of unit vectors
)

// Check is the result of comparing the joined model with winnow's own computation, on images of random pixels.
type Check struct {
	Images  int     `json:"images"`
	Largest float64 `json:"largest_difference"` // between values of the unit vectors
	Limit   float64 `json:"limit"`
}

func (c Check) String() string {
	return fmt.Sprintf(
		"agrees with winnow's own on %d images of random pixels: largest difference %.2g, at most %.0g "+
			"allowed",
		c.Images,
		c.Largest,
		c.Limit,
	)
}

// Check compares the joined model with separate backbone and head, as winnow runs them. It uses preprocessed images of
// random pixels, always the same.
func (j Joined) Check(rt *ort.Runtime) (c Check, err error) {
	c = Check{Images: checked, Limit: checkLimit}
	p := j.Backbone.Preprocessing
	q, err := backbone.NewPreprocessor(p)
	if err != nil {
		return c, err
	}
	in := extraction.NetworkInput(j.cut, p)
	network, err := ort.NewNetwork(rt, j.cut.Model, j.cut.Tensor, in)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, network.Close()) }()
	joined, err := ort.NewNetwork(rt, j.Model, j.Output, in)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, joined.Close()) }()
	rng := rand.New(rand.NewPCG(1, 0x6e6f697365)) // "noise"
	img, pixels := image.NewNRGBA(image.Rect(0, 0, p.Crop, p.High())), make([]float32, checked*p.Size())
	for i := range checked {
		for k := range img.Pix {
			img.Pix[k] = byte(rng.Uint32())
		}
		if err := q.Into(pixels[i*p.Size():(i+1)*p.Size()], img); err != nil {
			return c, err
		}
	}
	x, theirs := features.NewMatrix(checked, network.Dim()), features.NewMatrix(checked, joined.Dim())
	if err := errors.Join(network.Infer(x, pixels, checked), joined.Infer(theirs, pixels, checked)); err != nil {
		return c, err
	}
	ours, err := j.run.Head.Embed(x)
	if err != nil {
		return c, err
	}
	for i, v := range ours.Data {
		c.Largest = max(c.Largest, math.Abs(float64(v)-float64(theirs.Data[i]))) // max keeps NaN
	}
	if !(c.Largest <= checkLimit) {
		return c, fmt.Errorf("the vectors differ from winnow's own by up to %.3g, expected at most %.0g", c.Largest,
			checkLimit)
	}
	return c, nil
}
