package runner

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/filters/noiserate"
	"winnow/head"
	"winnow/papers/studies"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/samples"
)

// judgements are the measures of how well wrong labels are found. Those after mended need scores that are
// probabilities.
//
//	auroc, ap  of the order
//	found      share of wrong labels among the n most suspect, if n labels are wrong: precision, recall and F1 in one
//	found-1    share of wrong labels among the most suspect 1 % of the images; found-5 likewise
//	mended     share of the wrong labels for which the true label is suggested
//	expected   mean of 1 - score: the share of wrong labels expected from the scores
//	error      mean |score - share right| over ten bins of equal size
//	chosen     share of the images called wrong at an expected precision of .9
//	precision  share of wrong labels among these
var judgements = []string{
	auroc, "ap", "found", "found-1", "found-5", "mended", "expected", "error", "chosen", "precision",
}

// judgeLabels scores the training labels and compares the scores with the truth. Images alone with their label are left
// out.
func (r *reproduction) judgeLabels(
	ctx context.Context,
	o *studies.Outcome,
	t training,
	z features.Set,
	asked audit.Options,
	by audit.Auditor,
) error {
	d := t.labels.data
	truth := func(row int) (given, true int) { s := d.Samples[z.IDs[row]]; return s.Label, s.True }
	wrong, n := make([]bool, z.Len()), 0
	for row := range wrong {
		given, true := truth(row)
		if wrong[row] = given != true; wrong[row] {
			n++
		}
	}
	rate := min((float64(n)+0.5)/float64(z.Len()), 0.99) // calls n labels wrong
	asked.Classes, asked.Seed, asked.Rate, asked.JustRank = len(t.data.Classes), o.Seed, &rate, true
	asked.MaxMem = eval.DefaultMaxMem / 4
	if f := filters.Default(); audit.Named(asked.Scorer).Kind == audit.ByFilter {
		f.Scorer, asked.Filter = asked.Scorer, &f
	}
	result, err := by.Run(ctx, z, asked)
	if err != nil {
		return err
	}
	result.Suspects = slices.DeleteFunc(result.Suspects, func(s suspects.Suspect) bool { return s.Alone })
	found, err := result.Measure(wrong)
	if err != nil {
		return err
	}
	mended := 0.0
	for _, s := range result.Suspects {
		if _, true := truth(s.Row); wrong[s.Row] && t.data.ClassIDs[s.SuggestedClass] == true {
			mended++
		}
	}
	o.Measures[auroc], o.Measures["ap"], o.Measures["found"] = found.AUROC, found.AP, found.Precision
	o.Measures["mended"] = mended / max(float64(n), 1)
	o.Measures["found-1"], o.Measures["found-5"] = found.Found1, found.Found5
	if by.Given == nil && audit.Named(asked.Scorer).Probability {
		compareReliability(o.Measures, result.Suspects, wrong)
	}
	return nil
}

// judgeBySamples ranks by the training's record of its samples; vMF-Sim on the final embedding suggests labels.
func (r *reproduction) judgeBySamples(ctx context.Context, o *studies.Outcome, t training, z features.Set,
	list []samples.Sample, by string) error {
	scores, orders, ok := samples.Rank(list, by)
	given, rows := &audit.Given{Name: by}, []int(nil)
	for i := range list {
		if ok[i] {
			rows = append(rows, i)
			given.Score, given.Order = append(given.Score, scores[i]), append(given.Order, orders[i])
		}
	}
	asked := audit.Options{Scorer: filters.Default().Scorer}
	return r.judgeLabels(ctx, o, t, z.Rows(rows), asked, audit.Auditor{Given: given})
}

// compareReliability compares probabilities with the true labels.
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

// estimates are the measures of an estimated noise rate: the rate, its error, and whether its interval contains the
// true rate.
var estimates = []string{"rate", "rate-error", "rate-inside"}

func estimateRate(ctx context.Context, o *studies.Outcome, t training, method string) error {
	z, err := head.WhitenSet(ctx, t.data.Train, head.Widest)
	if err != nil {
		return err
	}
	e, err := noiserate.NewEstimate(ctx, z, len(t.data.Classes), method, train.Rand(o.Seed, "noise rate", 0))
	if err != nil {
		return err
	}
	o.Measures["rate"], o.Measures["rate-error"] = e.Rate, math.Abs(e.Rate-o.NoiseRate)
	o.Measures["rate-inside"] = 0
	if e.Low <= o.NoiseRate && o.NoiseRate <= e.High {
		o.Measures["rate-inside"] = 1
	}
	return nil
}

// isCorrection reports whether a measure is about corrected labels:
//
//	corrected             share of the images whose label was corrected
//	correction-precision  share of these that got their true label
//	correction-spoiled    share of these that had their true label
//	correction-mended     share of the wrong labels that were mended
func isCorrection(name string) bool {
	return name == "corrected" ||
		slices.Contains([]string{"correction-precision", "correction-spoiled", "correction-mended"}, name)
}

// compareCorrections compares a run's corrections with the truth; the last one of an image counts.
func compareCorrections(o *studies.Outcome, dir string, t training) error {
	list, err := folder.ReadCorrections(dir)
	if err != nil {
		return fmt.Errorf("reproduce: %w", err)
	}
	final := map[string][]string{} // path: given, corrected
	for _, line := range list {
		final[line[0]] = line[1:]
	}
	d := t.labels.data
	var images, wrong, right, spoiled float64
	for _, i := range d.Select(datasets.Train) {
		s := d.Samples[i]
		images++
		if s.Label != s.True {
			wrong++
		}
		if words, ok := final[s.Path]; ok && s.True != datasets.Unlabelled {
			if words[1] == d.Classes[s.True] {
				right++
			}
			if words[0] == d.Classes[s.True] {
				spoiled++
			}
		}
	}
	n := float64(len(final))
	o.Measures["corrected"], o.Measures["correction-precision"] = n/images, right/max(n, 1)
	o.Measures["correction-spoiled"], o.Measures["correction-mended"] = spoiled/max(n, 1), right/max(wrong, 1)
	return nil
}
