package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/backbone"
	"winnow/internal/catalog"
)

// Settings are a user's wishes about preprocessing and output; what is left at nil or "" stays as the preset
// or the entry has it.
type Settings struct {
	Preset        string
	Resize        *int
	Fit           string // one of backbone.Fits; "": as the preset or the entry has it
	Exact         *bool
	Crop          *int
	Interpolation string
	Channels      string
	Scale         *float64
	Mean, Std     []float64 // three numbers, or one for all channels
	EXIF          *bool
	Decoder       *string // as a Preprocessing has it
	Output        string
}

// settingsHelp names the flags that say how images are prepared.
const settingsHelp = "say how it wants its images: --preset %s, or --channels, --resize, --crop, --scale, --mean and --std"

// Presets returns the names of the presets, in text order.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// Preprocessing returns p, or the preset if one is named, with the further wishes applied.
func (s Settings) Preprocessing(p backbone.Preprocessing) (backbone.Preprocessing, error) {
	if s.Fit != "" && s.Exact != nil {
		return p, fmt.Errorf("models: found a way to resize, %s, and exact beside it, expected one of them", s.Fit)
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

// Shaped reports whether the user says how a picture becomes the network's square.
func (s Settings) Shaped() bool {
	return s.Fit != "" || s.Resize != nil || s.Exact != nil || s.Crop != nil
}

// size sets crop and resize for a network of another input side than the preset's, in its proportion, unless
// the user named them.
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
