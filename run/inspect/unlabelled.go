package inspect

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/features"
	"winnow/internal/text"
)

// Unlabelled is an image without a label, and the classes that it may be of, the likeliest first.
type Unlabelled struct {
	Path   string   `json:"path"`
	Likely []Likely `json:"likely"`
}

// Likely is a class that an image may be of.
type Likely struct {
	Label       string  `json:"label"`
	Probability float64 `json:"probability"` // if all classes are equally frequent
}

// Likely returns the classes that an image may be of, for people.
func (a *Report) Likely(u Unlabelled) string {
	var list []string
	for i, l := range u.Likely {
		if i == 0 || l.Probability >= leastLikely {
			list = append(list, fmt.Sprintf("%s (%s)", a.showClassName(l.Label), text.Chance(l.Probability)))
		}
	}
	return strings.Join(list, ", ")
}

// leastLikely is the probability of a class from which it is shown beside the likeliest.
const leastLikely = 0.05

// suggestClasses finds the nearest classes of the images without a label, by the stored features. Labels that people
// decided stand for the given ones. It finds none in a run, by probabilities alone, or if only a sample was looked at.
func (a *Report) suggestClasses(ctx context.Context, in Input) error {
	if a.data == nil || in.Run != nil || a.Blind || a.Sampled > 0 {
		return nil
	}
	d := a.data
	if in.Checks != nil {
		m, err := in.Checks.Match(d)
		if err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		d = m.Relabelled(d)
	}
	some := false
	paths := make([]string, len(a.ids))
	set := features.Set{Labels: make([]int, len(a.ids)), IDs: a.ids}
	for row, id := range a.ids {
		paths[row], set.Labels[row] = d.Samples[id].Path, features.Unlabelled
		if y := d.Samples[id].Label; y != datasets.Unlabelled {
			set.Labels[row] = y
		} else if a.data.Samples[id].Label == datasets.Unlabelled { // else people found that it is of no class
			some = true
		}
	}
	if !some {
		return nil
	}
	var err error
	if set.X, err = a.readFirstVectors(ctx, in, paths); err != nil || set.X.Rows < len(paths) {
		return err
	}
	list, err := audit.Guesses(ctx, set, len(d.Classes))
	if err != nil {
		return fmt.Errorf("audit: images without a label: %w", err)
	}
	for _, g := range list {
		id := a.ids[g.Row]
		if a.data.Samples[id].Label != datasets.Unlabelled {
			continue
		}
		u := Unlabelled{Path: d.Samples[id].Path}
		for _, l := range g.Classes {
			u.Likely = append(u.Likely, Likely{Label: d.Classes[l.Class], Probability: l.Probability})
		}
		a.Unlabelled = append(a.Unlabelled, u)
	}
	return nil
}

// unlabelledFile returns the name of the table of images without a label, next to that of the others.
func unlabelledFile(out string) string {
	return strings.TrimSuffix(out, filepath.Ext(out)) + ".unlabelled.csv"
}

// writeUnlabelled writes a row for each class that an image without a label may be of; sheet makes it safe for
// spreadsheets.
func (a *Report) writeUnlabelled(w io.Writer, sheet bool) error {
	name := func(s string) string { return s }
	out := csv.NewWriter(w)
	header := []string{"path", "rank", "suggested_label", "suggested_probability"}
	var mark []string
	if sheet {
		name, header, mark = suspects.Cell, append(header, suspects.SheetColumn), []string{suspects.SheetMark}
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for _, u := range a.Unlabelled {
		for i, l := range u.Likely {
			err := out.Write(append([]string{name(u.Path), strconv.Itoa(i + 1), name(l.Label),
				strconv.FormatFloat(l.Probability, 'g', 6, 64)}, mark...))
			if err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}
