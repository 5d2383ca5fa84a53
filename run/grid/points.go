package grid

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/train"
)

// mostTrainings is the largest number of trainings of a sweep; more are probably a mistake in a list.
const mostTrainings = 10_000

// Point holds a value for each axis.
type Point []string

// describePoint returns a point as text: "lr=0.001, loss=triplet".
func (s *Sweep) describePoint(p Point) string {
	parts := make([]string, len(p))
	for i, value := range p {
		parts[i] = s.Axes[i].Key + "=" + value
	}
	return strings.Join(parts, ", ")
}

// cell is a training, defined by a point and a seed.
type cell struct {
	point int
	seed  uint64
	name  string // name of its folder
	asked config.Asked
	cfg   config.Run
}

// nameCellFolder returns the name of a cell's folder: its settings, shortened with a hash if they are long or contain
// unusual characters.
func (s *Sweep) nameCellFolder(p Point, seed uint64) string {
	text := strings.ReplaceAll(s.describePoint(p), ", ", "_")
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._=+-", r) {
			return r
		}
		return '-'
	}, text)
	if plain != text || len(plain) > 100 {
		sum := sha256.Sum256([]byte(text))
		plain = plain[:min(len(plain), 80)] + "-" + hex.EncodeToString(sum[:3])
	}
	return fmt.Sprintf("%s_seed=%d", plain, seed)
}

// listPoints returns all combinations of values. The first axis varies slowest.
func (s *Sweep) listPoints() ([]Point, error) {
	points := []Point{nil}
	for _, a := range s.Axes {
		if a.Range != nil {
			return nil, newMisuse("vary", "%s: a range needs draws: expected a number of draws, or a list of values",
				a.Key)
		}
		if len(points)*len(a.Values) > mostTrainings {
			return nil, newMisuse("vary", "the grid has more than %d points: expected fewer values, or a number of "+
				"draws", mostTrainings)
		}
		var longer []Point
		for _, p := range points {
			for _, v := range a.Values {
				longer = append(longer, append(slices.Clone(p), v))
			}
		}
		points = longer
	}
	return points, nil
}

// drawPoints draws distinct points. The first points do not depend on the number of draws.
func (s *Sweep) drawPoints() (points []Point, err error) {
	seen := map[string]bool{}
	for i := 0; len(points) < s.Draws && i < 1000+100*s.Draws; i++ {
		rng := train.Rand(s.Seed, "sweep", i)
		p := make(Point, len(s.Axes))
		for k, a := range s.Axes {
			p[k] = a.drawValue(rng)
		}
		if words := s.describePoint(p); !seen[words] {
			seen[words] = true
			points = append(points, p)
		}
	}
	if len(points) < s.Draws {
		return nil, newMisuse("draws", "found %d, but the values have only %d different points", s.Draws, len(points))
	}
	return points, nil
}

// planCells makes the cells and checks their configurations. It orders them by seed, so that a stopped sweep has all
// points for some seeds.
func (s *Sweep) planCells() (err error) {
	points := s.listPoints
	if s.Draws > 0 {
		points = s.drawPoints
	}
	if s.Points, err = points(); err != nil {
		return err
	}
	if n := len(s.Points) * len(s.Seeds); n > mostTrainings {
		return hint.Misused("sweep: found %d trainings, expected at most %d", n, mostTrainings)
	}
	same := map[string]Point{}
	tunes := false
	for _, seed := range s.Seeds {
		for i, p := range s.Points {
			c := cell{point: i, seed: seed, name: s.nameCellFolder(p, seed),
				asked: s.Asked.With("seed", fmt.Sprint(seed))}
			for k, value := range p {
				c.asked = c.asked.With(s.Axes[k].Key, value)
			}
			if c.cfg, err = s.configureCell(c, p); err != nil {
				return err
			}
			tunes = tunes || c.cfg.Finetune.On()
			s.cells = append(s.cells, c)
			if seed != s.Seeds[0] {
				continue
			}
			sum := hashSettings(c.cfg)
			if first, twice := same[sum]; twice {
				return hint.Misused("sweep: %s and %s are the same settings: another flag or setting overrides them",
					s.describePoint(first), s.describePoint(p))
			}
			same[sum] = p
		}
	}
	if !tunes {
		return s.Asked.NeedsBackbone()
	}
	return nil
}

// configureCell returns the configuration of a cell.
func (s *Sweep) configureCell(c cell, p Point) (config.Run, error) {
	cfg, err := c.asked.Config("")
	if err == nil {
		return cfg, config.Needs(cfg)
	}
	if _, alone := s.Asked.Config(""); alone != nil {
		return cfg, err // an error in the shared settings
	}
	return cfg, newMisuse("vary", "%s: %w", s.describePoint(p), err)
}

// hashSettings returns a hash of all settings.
func hashSettings(cfg config.Run) string {
	h := sha256.New()
	flat := config.Flatten(cfg)
	for _, key := range slices.Sorted(maps.Keys(flat)) {
		fmt.Fprintf(h, "%s=%q\n", key, flat[key])
	}
	return hex.EncodeToString(h.Sum(nil))
}
