package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/backbone"
	"winnow/internal/catalog"
)

// Settings are a user's choices of preprocessing and output. A value of nil or "" keeps what the preset or the
// entry says.
type Settings struct {
	Preset        string
	Resize        *int
	Fit           string // one of backbone.Fits; "": as in the preset or entry
	Exact         *bool
	Crop          *int
	Interpolation string
	Channels      string
	Scale         *float64
	Mean, Std     []float64 // three numbers, or one for all channels
	EXIF          *bool
	Decoder       *string // as in a Preprocessing
	Output        string
}

// settingsHelp names the flags that set the preprocessing.
const settingsHelp = "set it with --preset %s, or --channels, --resize, --crop, --scale, --mean and --std"

// Presets returns the names of the presets, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// preprocessing returns p, or the preset if one is named, with the other settings applied.
func (s Settings) preprocessing(p backbone.Preprocessing) (backbone.Preprocessing, error) {
	if s.Fit != "" && s.Exact != nil {
		return p, fmt.Errorf("models: found both a way to resize, %s, and exact, expected one of them", s.Fit)
	}
	if s.Preset != "" {
		if err := catalog.Check("models: preset", s.Preset, Presets()...); err != nil {
			return p, err
		}
		p = presets[s.Preset]
	}
	set(&p.Resize, s.Resize)
	set(&p.Exact, s.Exact)
	set(&p.Crop, s.Crop)
	if s.Exact != nil && *s.Exact {
		p.Long = false
	}
	if s.Fit != "" {
		p = p.Fitted(s.Fit)
	}
	set(&p.EXIF, s.EXIF)
	set(&p.Decoder, s.Decoder)
	if s.Interpolation != "" {
		p.Interpolation = s.Interpolation
	}
	if s.Channels != "" {
		p.Channels = strings.ToUpper(s.Channels)
	}
	if s.Scale != nil {
		p.Scale = float32(*s.Scale)
	}
	if err := three(&p.Mean, s.Mean, "mean"); err != nil {
		return p, err
	}
	if err := three(&p.Std, s.Std, "std"); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// Shaped reports whether the settings say how an image becomes the network's square.
func (s Settings) Shaped() bool {
	return s.Fit != "" || s.Resize != nil || s.Exact != nil || s.Crop != nil
}

// size sets crop and resize for a network whose input side differs from the preset's, in proportion, unless the
// user set them.
func (s Settings) size(p *backbone.Preprocessing, side int) {
	if side <= 0 || side == p.Crop || s.Crop != nil {
		return
	}
	if s.Resize == nil && (s.Fit == "squash" || s.Fit == "long") {
		p.Resize = side
	} else if s.Resize == nil {
		p.Resize = (p.Resize*side + p.Crop/2) / p.Crop
	}
	p.Crop = side
}

func set[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}

func three(dst *[3]float32, list []float64, what string) error {
	switch len(list) {
	case 0:
	case 1:
		v := float32(list[0])
		*dst = [3]float32{v, v, v}
	case 3:
		*dst = [3]float32{float32(list[0]), float32(list[1]), float32(list[2])}
	default:
		return fmt.Errorf("models: %s: found %d numbers, expected 3 (or 1 for all channels)", what, len(list))
	}
	return nil
}
