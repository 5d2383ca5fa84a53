package train

import "winnow/features"

// corrected returns the labels of a batch's rows as they are now. What the sampler draws by changes with the next
// epoch.
func (t *Trainer) corrected(rows, labels []int) []int {
	if t.Corrector == nil {
		return labels
	}
	t.labels = t.labels[:0]
	for _, row := range rows {
		t.labels = append(t.labels, t.Corrector.Label(row))
	}
	return t.labels
}

// observe lets the corrector see what the filter has judged, by the bank as it was then.
func (t *Trainer) observe(rows []int, z features.Set) {
	if t.Corrector == nil {
		return
	}
	t.Corrector.Observe(t.fact.Number, rows, z, t.fact.Kept, t.Bank)
	t.fact.Corrected = len(t.Corrector.Corrections())
}
