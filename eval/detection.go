package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"winnow/features"
)

// Detection measures how well scores find the wrong labels. The positive class is "the given label is wrong"; a lower
// score is more suspect. Ties count half (AUROC) or as one step (AP), as in scikit-learn.
type Detection struct {
	Samples   int     `json:"samples"`
	Wrong     int     `json:"wrong"`
	AUROC     float64 `json:"auroc"` // 0.5, in JSON null, if all labels are right or all are wrong
	AP        float64 `json:"ap"`
	Removed   int     `json:"removed"`   // samples not kept
	Precision float64 `json:"precision"` // share of wrong labels among the removed
	// Recall is the share of the wrong labels that were removed. In JSON it is null if no label is wrong; so are AP and
	// the recalls at a budget.
	Recall         float64 `json:"recall"`
	F1             float64 `json:"f1"`              // harmonic mean of Precision and Recall
	FilterAccuracy float64 `json:"filter_accuracy"` // share of clean labels among the kept (PRISM, Fig. 2)
	KeepRecall     float64 `json:"keep_recall"`     // share of the clean labels that were kept
	Found1         float64 `json:"recall_at_1_percent"`
	// Found5 is the share of the wrong labels that are among the most suspect 5 % of the samples.
	Found5   float64 `json:"recall_at_5_percent"`
	FoundAll float64 `json:"recall_at_wrong"` // the share among the n most suspect, n = number of wrong labels
	// LeftOut counts samples that are not measured: duplicates whose true labels contradict each other.
	LeftOut int `json:"contradicting_duplicates"`
}

// MarshalJSON writes null for measures that are undefined because all labels are right or all are wrong.
func (d Detection) MarshalJSON() ([]byte, error) {
	type plain Detection // a type without this method
	out := struct {
		plain
		AUROC    *float64 `json:"auroc"`
		AP       *float64 `json:"ap"`
		Recall   *float64 `json:"recall"`
		Found1   *float64 `json:"recall_at_1_percent"`
		Found5   *float64 `json:"recall_at_5_percent"`
		FoundAll *float64 `json:"recall_at_wrong"`
	}{plain: plain(d)}
	if d.Wrong > 0 && d.Wrong < d.Samples {
		out.AUROC = &d.AUROC
	}
	if d.Wrong > 0 {
		out.AP, out.Recall, out.Found1, out.Found5, out.FoundAll = &d.AP, &d.Recall, &d.Found1, &d.Found5, &d.FoundAll
	}
	return json.Marshal(out)
}

// Detect compares scores (higher: more likely right) and the decisions to keep samples with the truth.
func Detect(scores []float64, wrong, kept []bool) (Detection, error) {
	if len(scores) != len(wrong) || len(scores) != len(kept) {
		return Detection{}, fmt.Errorf("eval: detection: %d scores, %d truths, %d decisions, expected equal "+
			"numbers", len(scores), len(wrong), len(kept))
	}
	d := Detection{Samples: len(scores), AUROC: 0.5}
	var both, clean float64
	for i, bad := range wrong {
		if math.IsNaN(scores[i]) {
			return Detection{}, fmt.Errorf("eval: score of sample %d is NaN", i)
		}
		if bad {
			d.Wrong++
		}
		if !kept[i] {
			d.Removed++
		}
		if bad && !kept[i] {
			both++
		}
		if !bad && kept[i] {
			clean++
		}
	}
	d.Precision, d.Recall = shareOfWhole(both, d.Removed), shareOfWhole(both, d.Wrong)
	if d.Precision+d.Recall > 0 {
		d.F1 = 2 * d.Precision * d.Recall / (d.Precision + d.Recall)
	}
	d.FilterAccuracy = shareOfWhole(clean, len(kept)-d.Removed)
	d.KeepRecall = shareOfWhole(clean, d.Samples-d.Wrong)
	if d.Wrong > 0 {
		d.Found1, d.Found5, d.FoundAll = budgetShare(
			scores,
			wrong,
			d.Samples/100,
		), budgetShare(
			scores,
			wrong,
			d.Samples/20,
		),
			budgetShare(
				scores,
				wrong,
				d.Wrong,
			)
	}
	if d.Wrong > 0 && d.Wrong < d.Samples {
		d.AUROC, d.AP = walkCurves(scores, wrong, d.Wrong)
	} else if d.Wrong > 0 {
		d.AP = 1
	}
	return d, nil
}

func shareOfWhole(part float64, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return part / float64(whole)
}

// budgetShare returns the share of the wrong samples that are among the n most suspect samples. n is raised to at least
// 1. Samples tied at the limit are counted in proportion.
func budgetShare(scores []float64, wrong []bool, n int) float64 {
	n = max(n, 1)
	bar := slices.Sorted(slices.Values(scores))[n-1]
	var below, bad, tied, badTied, all float64
	for i, s := range scores {
		one := 0.0
		if wrong[i] {
			one = 1
		}
		all += one
		switch {
		case s < bar:
			below, bad = below+1, bad+one
		case s == bar:
			tied, badTied = tied+1, badTied+one
		}
	}
	return (bad + badTied*(float64(n)-below)/tied) / all
}

// walkCurves computes AUROC and AP in one pass from the most to the least suspect sample, by groups of equal scores.
func walkCurves(scores []float64, wrong []bool, total int) (auroc, ap float64) {
	order := features.AllRows(len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	var found, passed float64 // wrong and right labels so far
	for from := 0; from < len(order); {
		to, bad := from, 0.0
		for ; to < len(order) && scores[order[to]] == scores[order[from]]; to++ {
			if wrong[order[to]] {
				bad++
			}
		}
		good := float64(to-from) - bad
		auroc += good * (found + bad/2) // pairs with an earlier wrong label; ties count half
		found += bad
		passed += good
		ap += bad / float64(total) * found / (found + passed)
		from = to
	}
	return auroc / (float64(total) * float64(len(scores)-total)), ap
}
