package runner

import (
	"cmp"
	"context"
	"math"
	"slices"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/papers/studies"
)

// judgements lists the measures of how well wrong labels are found. The measures after mended need scores that are
// probabilities.
//
//	auroc, ap  AUROC and average precision of the ranking
//	found      share of wrong labels among the n most suspect, if n labels are wrong: precision, recall and F1 at once
//	found-1    share of wrong labels among the most suspect 1 % of the images; found-5 likewise
//	mended     share of the wrong labels whose suggested label is the true label
//	expected   mean of 1 - score: the share of wrong labels expected from the scores
//	error      mean |mean score - share of right labels| over ten bins of equal size
//	chosen     share of the images flagged at an expected precision of .9
//	precision  share of wrong labels among the flagged labels
var judgements = []string{
	auroc, "ap", "found", "found-1", "found-5", "mended", "expected", "error", "chosen", "precision",
}

// judgeLabels scores the training labels and compares the scores with the true labels. It leaves out images that are
// the only ones with their label.
func (r *reproduction) judgeLabels(
	ctx context.Context,
	o *studies.Outcome,
	t training,
	z features.Set,
	asked audit.Options,
) error {
	d := t.labels.data
	given, truth := make([]int, z.Len()), make([]int, z.Len())
	wrong, n := make([]bool, z.Len()), 0
	for row, id := range z.IDs {
		given[row], truth[row] = d.Samples[id].Label, d.Samples[id].True
		if wrong[row] = given[row] != truth[row]; wrong[row] {
			n++
		}
	}
	rate := min((float64(n)+0.5)/float64(z.Len()), 0.99) // flags n labels
	asked.Classes, asked.Seed, asked.Rate, asked.JustRank = len(t.data.Classes), o.Seed, &rate, true
	asked.MaxMem = eval.DefaultMaxMem / 4
	if f := filters.Default(); audit.Named(asked.Scorer).Kind == audit.ByFilter {
		f.Scorer, asked.Filter = asked.Scorer, &f
	}
	result, err := audit.Run(ctx, z, asked)
	if err != nil {
		return err
	}
	result.Suspects = slices.DeleteFunc(result.Suspects, func(s suspects.Suspect) bool { return s.Alone })
	found, err := result.Measure(given, truth)
	if err != nil {
		return err
	}
	mended := 0.0
	for _, s := range result.Suspects {
		if wrong[s.Row] && t.data.ClassIDs[s.SuggestedClass] == truth[s.Row] {
			mended++
		}
	}
	o.Measures[auroc], o.Measures["ap"], o.Measures["found"] = found.AUROC, found.AP, found.Precision
	o.Measures["mended"] = mended / max(float64(n), 1)
	o.Measures["found-1"], o.Measures["found-5"] = found.Found1, found.Found5
	if audit.Named(asked.Scorer).Probability {
		compareReliability(o.Measures, result.Suspects, wrong)
	}
	return nil
}

// compareReliability fills in the measures that compare probabilities with the true labels.
func compareReliability(to map[string]float64, list []suspects.Suspect, wrong []bool) {
	list = slices.Clone(list) // most suspect first
	const aim, bins = 0.9, 10
	var expected, real, chosen, right, off float64
	for k, s := range list {
		if expected += 1 - s.Score; wrong[s.Row] {
			real++
		}
		if expected >= aim*float64(k+1) {
			chosen, right = float64(k+1), real
		}
	}
	n := float64(len(list))
	to["expected"], to["chosen"] = expected/n, chosen/n
	if chosen > 0 {
		to["precision"] = right / chosen
	}
	slices.SortStableFunc(list, func(a, b suspects.Suspect) int { return cmp.Compare(a.Score, b.Score) })
	for k := range bins {
		var sum float64
		for _, s := range list[k*len(list)/bins : (k+1)*len(list)/bins] {
			if sum += s.Score; !wrong[s.Row] {
				sum--
			}
		}
		off += math.Abs(sum) / n
	}
	to["error"] = off
}
