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

// SweepFile is the file in a sweep's folder that holds the settings of its command.
const SweepFile = "sweep.json"

// memory is the contents of sweep.json: settings and checksums that must not change, so that later trainings can be
// compared with earlier ones. Values, draws and seeds may change.
type memory struct {
	Winnow   string       `json:"winnow"`
	Shared   config.Asked `json:"shared"`             // flags of all trainings
	Config   string       `json:"config,omitempty"`   // contents of the file of settings
	Images   string       `json:"images_sha256"`      // checksum of paths, labels and splits
	Features string       `json:"features,omitempty"` // SHA-256 of the common feature store
	Axes     []Axis       `json:"vary"`
	Draws    int          `json:"draws,omitempty"`
	Seed     uint64       `json:"seed,omitempty"` // seed of the draws
	Seeds    []uint64     `json:"seeds"`
}

// sameAsBefore returns an error if the folder holds trainings that are not comparable with these. Values, draws and
// seeds may be added or left out.
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
			return hint.With(fmt.Errorf("sweep: %s: %w", path, err), "use the settings of the first command (values, "+
				"draws and seeds may be added), or choose another folder")
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

// findDifference returns the first difference that makes the trainings of two commands incomparable, or "".
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
		{"settings in the --config file", m.Config, now.Config},
		{"images, labels or splits", m.Images, now.Images}, {"features", m.Features, now.Features},
		{"axes", keys(m), keys(now)}, {"points: a grid or random draws", m.Draws > 0, now.Draws > 0},
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
