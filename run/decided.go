package run

import (
	"fmt"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/run/folder"
)

// replaceDecided replaces given labels by the labels that people decided. The images with a decision are trusted:
// neither screening nor the filter drops them.
func (r *Training) replaceDecided(d *datasets.Dataset) (*datasets.Dataset, error) {
	named := r.options.Checks
	if r.options.Resume && folder.Begun(r.options.Dir) {
		before, err := folder.ReadDecisions(r.options.Dir)
		if err != nil {
			return nil, err
		}
		if named == nil {
			r.options.Checks = before
		} else if before == nil || named.Sum() != before.Sum() {
			return nil, hint.With(fmt.Errorf("train: %s: the training in %s started with different decisions or "+
				"without any", named.File, r.options.Dir), "name no decisions to continue with those it started with "+
				"(%s), or train into another folder", folder.DecisionsFile)
		}
	}
	if r.options.Checks == nil {
		return d, nil
	}
	made, m, said, err := folder.Decide(r.options.Checks, d)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	r.options.About.Decisions = &said
	r.options.Note("%s", said)
	r.checked = m.At
	return made, nil
}

// trustRows marks as trusted the training rows that people checked, except rows without a label.
func (d *Data) trustRows(checked map[int]datasets.Checked) {
	if len(checked) == 0 {
		return
	}
	d.Trusted = map[int]bool{}
	for i, id := range d.Train.IDs {
		if _, ok := checked[id]; ok && d.Train.Labels[i] != features.Unlabelled {
			d.Trusted[id] = true
		}
	}
}
