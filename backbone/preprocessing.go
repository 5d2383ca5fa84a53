// Package backbone turns image files into vectors: it decodes, rotates, resizes, crops, batches, infers and stores.
// The package contains no cgo; package backbone/ort implements the [Network].
package backbone

import (
	"encoding/json"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
)

// Preprocessing describes how an image becomes a network's input. The zero value is invalid; package models defines a
// Preprocessing for each network.
type Preprocessing struct {
	// Resize is the target of the resize in pixels; 0: no resize. With Exact the result is Resize×Resize, whatever the
	// aspect ratio; otherwise the shorter side becomes Resize. If the network's input is not square, Resize is the
	// width of a box of the input's aspect ratio. With Exact the result is the box, otherwise it just covers the box.
	Resize int  `json:"resize" yaml:"resize"`
	Exact  bool `json:"exact" yaml:"exact"`

	Crop          int        `json:"crop" yaml:"crop"`                   // width of the centre crop: the input size
	Interpolation string     `json:"interpolation" yaml:"interpolation"` // bilinear, bicubic, lanczos; antialiased
	Channels      string     `json:"channels" yaml:"channels"`           // RGB, BGR, L (one grey channel)
	Scale         float32    `json:"scale" yaml:"scale"`                 // multiplies each byte (1/255 or 1)
	Mean          [3]float32 `json:"mean" yaml:"mean"`                   // then subtracted; channels as in Channels
	Std           [3]float32 `json:"std" yaml:"std"`                     // then divided by
	EXIF          bool       `json:"exif" yaml:"exif"`                   // rotate by EXIF orientation (not in papers)

	// Height is the height of the centre crop; 0: Crop, a square.
	Height int `json:"height,omitempty" yaml:"height,omitempty"`

	// Long resizes the longer side, instead of the shorter, to Resize, so that the result fits into the box. The whole
	// image is then visible, and the rest of the crop is black.
	Long bool `json:"long,omitempty" yaml:"long"`
}

// Key returns a canonical text of p. Equal keys mean that the network gets the same numbers.
func (p Preprocessing) Key() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic("backbone: " + err.Error()) // cannot happen: p holds only plain numbers and strings
	}
	return string(b)
}

// ParsePreprocessing parses the text of [Preprocessing.Key]. The whole text must be in canonical form.
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

// Planes returns the number of channels of the network's input.
func (p Preprocessing) Planes() int {
	if p.Channels == "L" {
		return 1
	}
	return 3
}

// Network is a loaded backbone that turns a batch of images into vectors. pixels holds n images as float32
// NCHW; dst is n×Dim and is overwritten.
type Network interface {
	Infer(dst blas32.General, pixels []float32, n int) error
	Dim() int
}

// Pinner is a network whose device copies data faster if the host memory is registered (pinned). Memory stays
// registered until Unpin.
type Pinner interface {
	Pin(data []float32)
	Unpin()
}

// Lanes is a network that is loaded several times, on one or several devices, and computes several batches at once.
type Lanes interface {
	Network
	Lanes() []Network
}

// listLanes returns the networks that can compute at the same time: those of Lanes, or net itself.
func listLanes(net Network) []Network {
	if l, ok := net.(Lanes); ok {
		return l.Lanes()
	}
	return []Network{net}
}
