package models

import (
	"fmt"
	"strconv"
	"strings"

	"winnow/backbone"
	"winnow/internal/catalog"
)

// Resize is the value of a resize flag: a number of pixels, or one of [backbone.Fits].
type Resize struct {
	Pixels *int
	Fit    string
}

// Set implements flag.Value.
func (r *Resize) Set(text string) error {
	*r = Resize{}
	if n, err := strconv.Atoi(text); err == nil {
		r.Pixels = &n
		return nil
	}
	r.Fit = text
	if err := catalog.Check("a way to resize", text, backbone.Fits()...); err != nil {
		return fmt.Errorf("%w, or a number of pixels", err)
	}
	return nil
}

func (r *Resize) String() string { return "" } // no default to show

// Floats is the value of a flag that takes comma-separated numbers.
type Floats []float64

// Set implements flag.Value.
func (n *Floats) Set(text string) error {
	*n = nil
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return fmt.Errorf("%q is not a number, expected for example 0.485,0.456,0.406", part)
		}
		*n = append(*n, v)
	}
	return nil
}

func (n *Floats) String() string { return "" } // no default to show
