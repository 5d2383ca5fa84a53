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

// Set implements flag.Value: a height and a width, or the side of a square.
func (s *Size) Set(text string) error {
	high, wide, two := strings.Cut(strings.Replace(text, "×", "x", 1), "x")
	if !two {
		wide = high
	}
	h, err1 := strconv.Atoi(high)
	w, err2 := strconv.Atoi(wide)
	if err1 != nil || err2 != nil || h < 1 || w < 1 {
		return fmt.Errorf("%q is not a size, expected HEIGHTxWIDTH in pixels, for example 256x128, or one number for "+
			"a square", text)
	}
	*s = Size{h, w}
	return nil
}

func (s *Size) String() string { return "" } // no default to show

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
