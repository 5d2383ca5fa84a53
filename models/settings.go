package models

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/backbone"
	"winnow/internal/catalog"
)

// Settings holds a user's choices of preprocessing and output. nil or "" keeps the value of the preset or of the entry.
type Settings struct {
	Preset        string
	Resize        *int
	Fit           string // one of backbone.Fits; "": the preset's or the entry's
	Exact         *bool
	Crop          *int  // side of a square
	Size          *Size // of the network's input; the resize follows in proportion
	Interpolation string
	Channels      string
	Scale         *float64
	Mean, Std     []float64 // three numbers, or one for all channels
	EXIF          *bool
	Output        string
}

// settingsHelp is the part of a message that lists the flags for the preprocessing.
const settingsHelp = "set it with --preset %s, or --channels, --resize, --size, --scale, --mean and --std"

// Size is the size of a network's input, pixels.
type Size struct{ High, Wide int }

// Presets returns the names of the presets, sorted.
func Presets() []string { return slices.Sorted(maps.Keys(presets)) }

// applySettings returns p, or the preset if one is named, with the other settings applied.
func (s Settings) applySettings(p backbone.Preprocessing) (backbone.Preprocessing, error) {
	if s.Fit != "" && s.Exact != nil {
		return p, fmt.Errorf("models: found both a way to resize, %s, and exact, expected one of them", s.Fit)
	}
	if s.Preset != "" {
		if err := catalog.Check("models: preset", s.Preset, Presets()...); err != nil {
			return p, err
		}
		p = presets[s.Preset]
	}
	if s.Crop != nil && s.Size != nil {
		return p, errors.New("models: found both a crop and a size, expected one of them")
	}
	if s.Crop != nil {
		p = p.WithSize(*s.Crop, *s.Crop)
	}
	if s.Size != nil {
		p = s.withSize(p)
	}
	setIfGiven(&p.Resize, s.Resize)
	setIfGiven(&p.Exact, s.Exact)
	if s.Exact != nil && *s.Exact {
		p.Long = false
	}
	if s.Fit != "" {
		p = p.Fitted(s.Fit)
	}
	setIfGiven(&p.EXIF, s.EXIF)
	if s.Interpolation != "" {
		p.Interpolation = s.Interpolation
	}
	if s.Channels != "" {
		p.Channels = strings.ToUpper(s.Channels)
	}
	if s.Scale != nil {
		p.Scale = float32(*s.Scale)
	}
	if err := setThree(&p.Mean, s.Mean, "mean"); err != nil {
		return p, err
	}
	if err := setThree(&p.Std, s.Std, "std"); err != nil {
		return p, err
	}
	return p, p.Validate()
}

// Shaped reports whether the settings contain the way to resize an image to the network's input.
func (s Settings) Shaped() bool {
	return s.Fit != "" || s.Resize != nil || s.Exact != nil || s.Crop != nil
}

// withSize returns p with the network's input size from the settings, and the resize changed in proportion.
func (s Settings) withSize(p backbone.Preprocessing) backbone.Preprocessing {
	was := p.Crop
	p = p.WithSize(s.Size.Wide, s.Size.High)
	p.Resize = (p.Resize*p.Crop + was/2) / was
	return p
}

// greyLike returns "L" if the preset has equal values for all colours, so that it also fits grey images, else "".
func (s Settings) greyLike() string {
	p, ok := presets[s.Preset]
	alike := func(v [3]float32) bool { return v[0] == v[1] && v[1] == v[2] }
	if ok && (alike(p.Mean) || len(s.Mean) == 1) && (alike(p.Std) || len(s.Std) == 1) {
		return "L"
	}
	return ""
}

func setIfGiven[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}

func setThree(dst *[3]float32, list []float64, what string) error {
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
