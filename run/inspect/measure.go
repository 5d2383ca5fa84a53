package inspect

import (
	"slices"

	"winnow/audit/suspects"
	"winnow/datasets"
)

// measureAudit compares the audit with the true labels, if the manifest has them.
func (a *Report) measureAudit(d *datasets.Dataset) error {
	wrong := make([]bool, len(a.ids))
	for row, id := range a.ids {
		wrong[row] = d.Samples[id].Label != d.Samples[id].True
	}
	for i, s := range a.Images {
		if y := d.Samples[a.ids[s.Row]].True; y != datasets.Unlabelled {
			a.Images[i].True = d.Classes[y]
		}
	}
	if !d.HasTruth(datasets.Train) {
		return nil
	}
	open := a.result // of checked labels everything is known
	open.Suspects = slices.DeleteFunc(slices.Clone(a.Images), func(e suspects.Suspect) bool { return e.Checked != "" })
	if len(open.Suspects) == 0 {
		a.Detection = nil
		return nil
	}
	detection, err := open.Measure(wrong)
	a.Detection = &detection
	return err
}
