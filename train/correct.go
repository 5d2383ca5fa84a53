package train

import "winnow/features"

// correctBatchLabels returns the current labels of a batch's rows. The sampler uses the new labels from the next epoch
// on.
func (t *Trainer) correctBatchLabels(rows, labels []int) []int {
	if t.Corrector == nil {
		return labels
	}
	t.labels = t.labels[:0]
	for _, row := range rows {
		t.labels = append(t.labels, t.Corrector.Label(row))
	}
	return t.labels
}

// observeJudged passes the filter's judgement to the corrector, with the bank as it was then.
func (t *Trainer) observeJudged(rows []int, z features.Set) {
	if t.Corrector == nil {
		return
	}
	t.Corrector.Observe(t.fact.Number, rows, z, t.fact.Kept, t.Bank)
	t.fact.Corrected = len(t.Corrector.Corrections())
}
