package eval

import (
	"fmt"
	"maps"
	"slices"
)

// Result is the result of a metric: a Retrieval, Clustering, Accuracy, Probed or Detection. Its JSON contains all
// measured values.
type Result interface {
	Shown() []Value // the numbers listed in the metric's entry, in order; Recall@K once for each K
}

// Value is one number of a result.
type Value struct {
	Key, Label string
	Value      float64
}

// pairNumbers combines values with the names of an entry's numbers.
func pairNumbers(numbers []Number, values ...float64) []Value {
	out := make([]Value, len(numbers))
	for i, n := range numbers {
		out[i] = Value{n.Key, n.Label, values[i]}
	}
	return out
}

// Shown implements Result. Recall@1 is shown as P@1 only.
func (r Retrieval) Shown() []Value {
	n := retrievalEntry.Numbers
	out := pairNumbers(n[:1], r.PrecisionAt1)
	for _, k := range slices.Sorted(maps.Keys(r.Recall)) {
		if k != 1 {
			out = append(out, Value{fmt.Sprintf("%s@%d", n[1].Key, k), fmt.Sprintf("R@%d", k), r.Recall[k]})
		}
	}
	return append(out, pairNumbers(n[2:], r.RPrecision, r.MAPAtR)...)
}

// Shown implements Result.
func (c Clustering) Shown() []Value {
	return pairNumbers(
		clusteringEntry.Numbers,
		c.NMI,
		c.NMIGeometric,
		c.AMI,
		c.ARI,
		c.F1,
		c.PairPrecision,
		c.PairRecall,
	)
}

// Shown implements Result.
func (a Accuracy) Shown() []Value { return pairNumbers(classMeanEntry.Numbers, a.Accuracy) }

// Shown implements Result.
func (p Probed) Shown() []Value {
	return pairNumbers(probeEntry.Numbers, p.Accuracy.Accuracy, p.FitAccuracy)
}

// Shown implements Result.
func (d Detection) Shown() []Value {
	return pairNumbers(
		detectionEntry.Numbers,
		d.AUROC,
		d.AP,
		d.Precision,
		d.Recall,
		d.F1,
		d.FilterAccuracy,
		d.KeepRecall,
		d.Found1,
		d.Found5,
		d.FoundAll,
	)
}
