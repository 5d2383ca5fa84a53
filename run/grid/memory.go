package grid

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"

	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/internal/text"
	"winnow/run/config"
)

// SweepFile holds the settings of the command in a sweep's folder.
const SweepFile = "sweep.json"

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
	path := filepath.Join(s.Dir, SweepFile)
	content, err := regular.ReadFile(path, regular.Most)
	if err == nil {
		var before memory
		err = json.Unmarshal(content, &before)
		if what := before.findDifference(now); err == nil && what != "" {
			err = fmt.Errorf("holds a sweep with other %s", what)
		}
		if err != nil {
			return hint.With(fmt.Errorf("sweep: %s: %w", path, err), "give the settings of the first command, with "+
				"more values, draws or seeds if you like; or choose another folder")
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sweep: %w", err)
	}
	if dry {
		return nil
	}
	return atomicfile.Write(path, func(w io.Writer) error { return text.JSON(w, now) })
}

// findDifference says why the trainings of two commands cannot be compared, "" if they can.
func (m memory) findDifference(now memory) (what string) {
	keys := func(m memory) (list []string) {
		for _, a := range m.Axes {
			list = append(list, a.Key)
		}
		return list
	}
	for _, c := range []struct {
		what    string
		was, is any
	}{
		{"settings: " + m.Shared.String(), m.Shared, now.Shared},
		{"settings in the file of settings", m.Config, now.Config},
		{"images, labels or splits", m.Images, now.Images}, {"features", m.Features, now.Features},
		{"axes", keys(m), keys(now)}, {"points: a grid and draws", m.Draws > 0, now.Draws > 0},
	} {
		if !reflect.DeepEqual(c.was, c.is) {
			what = cmp.Or(what, c.what)
		}
	}
	if now.Draws > 0 && (m.Seed != now.Seed || !reflect.DeepEqual(m.Axes, now.Axes)) {
		what = cmp.Or(what, "draws")
	}
	return what
}
