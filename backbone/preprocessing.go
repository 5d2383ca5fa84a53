// Package backbone turns image files into vectors: decode, orient, resize, crop, batch, infer, store.
// It contains no cgo; the network itself is a [Network], made by backbone/ort.
package backbone

import (
	"encoding/json"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
)

// Preprocessing describes what a network expects to see. The zero value is not valid; models has one an entry.
type Preprocessing struct {
	Resize        int        `json:"resize" yaml:"resize"`               // target of the resize, pixels; 0: no resize
	Exact         bool       `json:"exact" yaml:"exact"`                 // true: Resize×Resize whatever the aspect; false: the shorter side
	Crop          int        `json:"crop" yaml:"crop"`                   // side of the centre crop, pixels; the network's input size
	Interpolation string     `json:"interpolation" yaml:"interpolation"` // bilinear, bicubic, lanczos (antialiased, as PIL)
	Channels      string     `json:"channels" yaml:"channels"`           // RGB, BGR, L (one grey channel)
	Scale         float32    `json:"scale" yaml:"scale"`                 // a byte is multiplied by this first (1/255 or 1)
	Mean          [3]float32 `json:"mean" yaml:"mean"`                   // subtracted after Scale, in the network's channel order
	Std           [3]float32 `json:"std" yaml:"std"`                     // divided by afterwards
	EXIF          bool       `json:"exif" yaml:"exif"`                   // apply EXIF orientation (off for parity with the papers)
	Long          bool       `json:"long,omitempty" yaml:"long"`         // the longer side to Resize instead of the shorter: all of the picture, the rest of the crop black
	Decoder       string     `json:"decoder,omitempty" yaml:"decoder"`   // FastDecoder, or "" for ExactDecoder
}

// Key returns a canonical text of p: two runs with equal keys show the network the same numbers.
func (p Preprocessing) Key() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic("backbone: " + err.Error()) // plain numbers and strings: cannot happen
	}
	return string(b)
}

// ParsePreprocessing reads the text of [Preprocessing.Key], all of it and nothing else.
func ParsePreprocessing(key string) (Preprocessing, error) {
	var p Preprocessing
	d := json.NewDecoder(strings.NewReader(key))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("backbone: preprocessing %.200q: %w", key, err)
	}
	if err := p.Validate(); err != nil {
		return p, err
	}
	if p.Key() != key {
		return p, fmt.Errorf("backbone: preprocessing: found %.200q, expected the canonical %q", key, p.Key())
	}
	return p, nil
}

// Planes returns the number of channels the network sees.
func (p Preprocessing) Planes() int {
	if p.Channels == "L" {
		return 1
	}
	return 3
}

// Network is one loaded backbone that turns a batch of images into vectors.
// pixels holds n images as float32 NCHW; dst is n×Dim and is overwritten.
type Network interface {
	Infer(dst blas32.General, pixels []float32, n int) error
	Dim() int
}

// Lanes is a network that is loaded several times, on a device each: what is given batches computes several at once.
type Lanes interface {
	Network
	Lanes() []Network
}

// lanes returns the networks that can compute at the same time.
func lanes(net Network) []Network {
	if l, ok := net.(Lanes); ok {
		return l.Lanes()
	}
	return []Network{net}
}
