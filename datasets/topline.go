package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// toplineLeast is how many images a class keeps if it has that many: a single image makes no pair.
const toplineLeast = 2

// Topline returns the data that remain at a label noise p if every wrong label were known and dropped: of each true
// class of n images of the split
//
//	max(2, ⌊(1-p)·n + 1/2⌋)
//
// drawn by rng, all with their true labels; a class of one image keeps it. With the same random source, the images
// kept at a higher rate are a subset of those kept at a lower one. If the split has true labels, every labelled
// image needs one; if it has none, the given labels count as true. Images without a given label, other splits and
// the order are unchanged.
// Source: 000 section 6.1, "only 1-p clean random data samples"; it does not say which ones, see METHODS 000-13.
func (d *Dataset) Topline(split string, rate float64, rng *rand.Rand) (*Dataset, ToplineReport, error) {
	r := ToplineReport{Split: split, Rate: rate}
	if err := CheckRate(rate); err != nil {
		return nil, r, err
	}
	rows := d.Labelled(split)
	if len(rows) == 0 {
		return nil, r, fmt.Errorf("datasets: split %s has no image with a label", split)
	}
	labels, err := d.trueLabels(split, rows, &r)
	if err != nil {
		return nil, r, err
	}
	drop := make([]bool, len(d.Samples))
	for class, members := range membersOf(labels, len(d.Classes)) {
		n := len(members)
		if n == 0 {
			continue
		}
		keep := min(n, max(toplineLeast, halfUp((1-rate)*float64(n)+1e-9)))
		r.countKept(d.Classes[class], n, keep)
		for _, k := range chooseItems(members, n, rng)[keep:] {
			drop[rows[k]] = true
		}
	}
	out := &Dataset{Classes: d.Classes, Columns: d.Columns, Samples: slices.Clone(d.Samples)}
	for k, i := range rows {
		out.Samples[i].Label = labels[k]
	}
	at := 0
	out.Samples = slices.DeleteFunc(out.Samples, func(Sample) bool { at++; return drop[at-1] })
	return out, r, nil
}

// ToplineReport counts what a topline keeps of a split.
type ToplineReport struct {
	Split     string   `json:"split"`
	Rate      float64  `json:"rate"`
	Truth     bool     `json:"truth"`     // true labels are known; else the given ones count as true
	Images    int      `json:"images"`    // with a label
	Kept      int      `json:"kept"`      // of the images
	Relabeled int      `json:"relabeled"` // images whose given label was wrong, kept or not
	Classes   int      `json:"classes"`
	Smallest  int      `json:"smallest"` // images of the smallest and largest kept class
	Largest   int      `json:"largest"`
	Raised    int      `json:"raised"` // classes that keep more than their share, to have two images
	Lone      []string `json:"lone"`   // classes of one image, which have no positive pair
}

// trueLabels returns the true class ids of the rows.
func (d *Dataset) trueLabels(split string, rows []int, r *ToplineReport) ([]int, error) {
	labels := make([]int, len(rows))
	unknown := 0
	for k, i := range rows {
		s := d.Samples[i]
		if labels[k] = s.True; s.True == Unlabelled {
			unknown++
			labels[k] = s.Label
		} else if s.True != s.Label {
			r.Relabeled++
		}
	}
	if unknown > 0 && unknown < len(rows) {
		return nil, fmt.Errorf("datasets: split %s: the true label of %d of %d images is not known, expected of "+
			"all or of none", split, unknown, len(rows))
	}
	r.Truth, r.Images, r.Lone = unknown == 0, len(rows), []string{}
	return labels, nil
}

// countKept adds a class of n images of which keep are kept.
func (r *ToplineReport) countKept(name string, n, keep int) {
	r.Classes++
	r.Kept += keep
	if r.Classes == 1 || keep < r.Smallest {
		r.Smallest = keep
	}
	r.Largest = max(r.Largest, keep)
	switch {
	case n == 1:
		r.Lone = append(r.Lone, name)
	case keep > halfUp((1-r.Rate)*float64(n)+1e-9):
		r.Raised++
	}
}
