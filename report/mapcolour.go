package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/report/atlas"
)

// What the colours of a map show.
const (
	ColourLabel   = "label"
	ColourTrue    = "true"
	ColourSplit   = "split"
	ColourScore   = "score"
	ColourSuspect = "suspect" // called wrong by an audit, or not
	ColourClass   = "class="  // followed by a label: that class against all others
)

// Score is an audit's judgement of a label.
type Score struct {
	Value float64
	Wrong bool // called wrong
}

// groupPoints colours the points by the group that colour stands for.
func groupPoints(m *atlas.Map, o MapOptions, d *datasets.Dataset) error {
	names := d.Classes
	name := func(p atlas.Point) string { return p.Label }
	if class, ok := strings.CutPrefix(o.Colour, ColourClass); ok {
		if !slices.Contains(d.Classes, class) {
			return fmt.Errorf("map: colour %s: the manifest has no label %q, expected one of its %d",
				o.Colour, class, len(d.Classes))
		}
		const others = "all others"
		names = []string{class, others}
		name = func(p atlas.Point) string {
			if p.Label != class && p.Label != "" {
				return others
			}
			return p.Label
		}
	}
	switch o.Colour {
	case ColourSuspect:
		names = []string{"called wrong", "not called wrong"}
		name = func(p atlas.Point) string {
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
		name = func(p atlas.Point) string { return p.True }
	case ColourSplit:
		names = nil
		for _, s := range d.Count() {
			names = append(names, s.Split)
		}
		name = func(p atlas.Point) string { return p.Split }
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
		return fmt.Errorf("map: colour %s: unknown for all %d images", o.Colour, len(m.Points))
	}
	return nil
}

// scaleByScore colours the points by their scores: on a scale from 0 to 1 if all are within it, else from the
// lowest to the highest.
func scaleByScore(m *atlas.Map, file string) error {
	low, high, n := math.Inf(1), math.Inf(-1), 0
	for _, p := range m.Points {
		if !math.IsNaN(p.Score) {
			low, high, n = min(low, p.Score), max(high, p.Score), n+1
		}
	}
	if n == 0 {
		return hint.With(
			fmt.Errorf("map: colour score: %s has no score for any of the %d images", file, len(m.Points)),
			"winnow audit judges the train split: map that one")
	}
	if low >= 0 && high <= 1 {
		low, high = 0, 1
	}
	if low == high {
		high = low + 1
	}
	m.Scale = &atlas.Scale{Name: "score of the label (low: looks wrong)", Low: low, High: high}
	return nil
}

// ReadScores reads the scores by path from an audit's CSV file. It returns nil if path is "".
func ReadScores(path string) (map[string]Score, error) {
	if path == "" {
		return nil, nil
	}
	f, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("map: scores: %w", err)
	}
	defer f.Close()
	in := csv.NewReader(f)
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("map: scores: %s: %w", path, err)
	}
	at, score := slices.Index(header, "path"), slices.Index(header, "score")
	if at < 0 || score < 0 {
		return nil, hint.With(
			fmt.Errorf("map: scores: %s: found the columns %.200q, expected path and score among them",
				path, strings.Join(header, ",")),
			"make the file: winnow audit writes it")
	}
	scores, unjudged, wrong := map[string]Score{}, slices.Index(header, "unjudged"), slices.Index(header, "dropped")
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return scores, nil
		}
		if err != nil {
			return nil, fmt.Errorf("map: scores: %s: %w", path, err)
		}
		if unjudged >= 0 && record[unjudged] == "true" { // its score means nothing
			continue
		}
		v, err := strconv.ParseFloat(record[score], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			line, _ := in.FieldPos(score)
			return nil, fmt.Errorf("map: scores: %s:%d: score %q is not a number", path, line, record[score])
		}
		scores[suspects.Unquoted(header, record, at)] = Score{Value: v, Wrong: wrong >= 0 && record[wrong] == "true"}
	}
}
