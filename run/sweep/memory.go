package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/internal/text"
	"winnow/run/config"
)

// File holds the settings of the command in a sweep's folder.
const File = "sweep.json"

// memory is sweep.json: what a later command must share, so that its trainings can be compared with earlier ones.
type memory struct {
	Winnow   string       `json:"winnow"`
	Shared   config.Asked `json:"shared"`             // by all trainings
	Config   string       `json:"config,omitempty"`   // content of the file of settings
	Images   string       `json:"images_sha256"`      // of paths, labels and splits
	Features string       `json:"features,omitempty"` // sha256 of the store that all share
	Axes     []Axis       `json:"vary"`
	Draws    int          `json:"draws,omitempty"`
	Seed     uint64       `json:"seed,omitempty"` // of the draws
	Seeds    []uint64     `json:"seeds"`
}

// sameAsBefore refuses a folder with trainings that cannot be compared with these. Values, draws and seeds may be added
// or left out.
func (s *Sweep) sameAsBefore(dry bool) error {
	now := memory{Winnow: s.Winnow, Shared: s.Asked, Images: imagesSum(s.data), Features: s.features, Axes: s.Axes,
		Draws: s.Draws, Seed: s.Seed, Seeds: s.Seeds}
	if file := s.Asked["config"]; len(file) > 0 {
		content, err := regular.ReadFile(file[0], regular.Most)
		if err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		now.Config = string(content)
	}
	path := filepath.Join(s.Dir, File)
	content, err := regular.ReadFile(path, regular.Most)
	if err == nil {
		var before memory
		if err := json.Unmarshal(content, &before); err != nil {
			return hint.With(fmt.Errorf("sweep: %s: %w", path, err), "restore a copy, or choose another folder")
		}
		if why := before.describeDifference(now); why != "" {
			return hint.With(fmt.Errorf("sweep: %s: %s", s.Dir, why),
				"give the settings of the first command, with more values, draws or seeds if you like; or choose "+
					"another folder")
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sweep: %w", err)
	}
	if dry {
		return nil
	}
	return atomicfile.Write(path, func(w io.Writer) error { return text.JSON(w, now) })
}

// describeDifference says why the trainings of two commands cannot be compared, "" if they can.
func (m memory) describeDifference(now memory) string {
	for _, flag := range config.Names() {
		if was, is := m.Shared[flag], now.Shared[flag]; !slices.Equal(was, is) {
			return fmt.Sprintf("holds a sweep with %s, found %s", formatFlag(flag, was), formatFlag(flag, is))
		}
	}
	keys := func(axes []Axis) string {
		var list []string
		for _, a := range axes {
			list = append(list, a.Key)
		}
		return strings.Join(list, ", ")
	}
	switch was, is := keys(m.Axes), keys(now.Axes); {
	case was != is:
		return fmt.Sprintf("holds a sweep over %s, found %s", was, is)
	case m.Config != now.Config:
		return "holds a sweep with other settings in the file of settings"
	case m.Images != now.Images:
		return "holds a sweep on other images, labels or splits than the manifest now has"
	case m.Features != now.Features:
		return "holds a sweep on other features than the store now has"
	case m.Draws == 0 && now.Draws > 0:
		return "holds a grid, found draws"
	case m.Draws > 0 && now.Draws == 0:
		return "holds drawn points, found a grid"
	case m.Draws > 0 && (m.Seed != now.Seed || !reflect.DeepEqual(m.Axes, now.Axes)):
		return "holds draws from other values or by another seed, which are other points"
	}
	return ""
}

// formatFlag writes a flag with its values.
func formatFlag(flag string, values []string) string {
	if len(values) == 0 {
		return "no --" + flag
	}
	return "--" + flag + " " + strings.Join(values, " --"+flag+" ")
}
