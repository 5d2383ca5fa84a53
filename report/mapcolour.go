package report

import (
	"fmt"
	"strings"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/internal/hint"
	"winnow/report/page"
)

// Values of [MapOptions.Colour]: what the colours of a map show.
const (
	ColourLabel   = "label"
	ColourTrue    = "true"
	ColourSplit   = "split"
	ColourSuspect = "suspect" // flagged by an audit, or not
)

// Score is an audit's result for one label.
type Score struct {
	Value float64
	Wrong bool // flagged
}

// groupPoints assigns every point to the group that o.Colour selects.
func groupPoints(m *page.Map, o MapOptions, d *datasets.Dataset) error {
	names := d.Classes
	name := func(p page.Point) string { return p.Label }
	switch o.Colour {
	case ColourSuspect:
		names = []string{"flagged", "not flagged"}
		name = func(p page.Point) string {
			s, judged := o.Scores[p.Path]
			switch {
			case !judged:
				return ""
			case s.Wrong:
				return names[0]
			}
			return names[1]
		}
	case ColourTrue:
		name = func(p page.Point) string { return p.True }
	case ColourSplit:
		names = nil
		for _, s := range d.Count() {
			names = append(names, s.Split)
		}
		name = func(p page.Point) string { return p.Split }
	}
	there := map[string]bool{}
	for _, p := range m.Points {
		there[name(p)] = true
	}
	numbers := map[string]int{}
	for _, n := range names {
		if there[n] && n != "" {
			numbers[n], m.Groups = len(m.Groups), append(m.Groups, n)
		}
	}
	for i, p := range m.Points {
		n, ok := numbers[name(p)]
		if m.Points[i].Group = n; !ok {
			m.Points[i].Group = -1
		}
	}
	if len(m.Groups) == 0 {
		return fmt.Errorf("map: --color %s: not known for any of the %d images", o.Colour, len(m.Points))
	}
	return nil
}

// ReadScores reads an audit's list and returns its scores by image path, and a note for the user if rows of the list
// were edited. It returns nil if path is "".
func ReadScores(path string) (scores map[string]Score, note string, err error) {
	if path == "" {
		return nil, "", nil
	}
	scores, changed := map[string]Score{}, 0
	_, err = suspects.Each(path, func(e suspects.Suspect) error {
		if e.Changed {
			changed++
		}
		if !e.Unjudged { // the score of an unscored label is meaningless
			scores[strings.Clone(e.Path)] = Score{Value: e.Score, Wrong: e.Flagged}
		}
		return nil
	})
	if err != nil {
		return nil, "", hint.With(fmt.Errorf("map: scores: %w", err), "make the file with winnow audit --out")
	}
	return scores, suspects.Warning(path, changed), nil
}
