// Package correction relabels images whose label has looked wrong for several visits: they get the label that
// their neighbourhood suggests and take part in training again.
//
// A filter drops an image at a visit if its given label looks wrong. The visit is a vote for class k if k is
// not the given class, is the likeliest class under von Mises-Fisher distributions over the memory bank (those
// of vMF-Sim, with its uniform prior), and
//
//	P(k | z) = f_k(z)/Σ_j f_j(z) ≥ Confidence
//
// A visit that keeps the image, or votes for no class, resets the count; a vote for another class starts a
// count for that class. After Visits votes in a row, but not before step After, the image's label becomes k.
// From then on the filter judges the image by that label like any other. An image that is dropped again can be
// corrected again, even back to its given label. Every class keeps at least [least] images.
//
// The package sees given labels only, stores its observations of every image, and imports only features and
// filters.
// Source: ours, after the outlook of PRISM (001), section VI: dropped samples could rejoin under corrected
// labels.
package correction

import (
	"fmt"

	"winnow/features"
	"winnow/filters"
)

// Config sets when a label is corrected.
type Config struct {
	After      int     // steps before the first correction; visits count from the start
	Visits     int     // votes in a row, ≥ 1
	Confidence float64 // least posterior that makes a visit a vote, in (0, 1]
}

// least is the least number of images left in a class.
const least = 2

// Validate checks every field.
func (c Config) Validate() error {
	switch {
	case c.After < 0:
		return fmt.Errorf("correction: after: found %d, expected 0 or more steps", c.After)
	case c.Visits < 1:
		return fmt.Errorf("correction: visits: found %d, expected 1 or more", c.Visits)
	case !(c.Confidence > 0 && c.Confidence <= 1):
		return fmt.Errorf("correction: confidence: found %v, expected a probability above 0 and up to 1", c.Confidence)
	}
	return nil
}

// Correction is one label that was changed.
type Correction struct {
	Row        int // of the training set
	From, To   int // classes
	Step       int // after which the new label holds
	Confidence float64
}

// Corrector holds the current labels of a training set.
type Corrector struct {
	config Config
	given  []int // of each row; negative: none
	labels []int // the current ones
	sizes  []int // of the classes, by current labels
	vote   []int // class that the row's latest visits voted for
	votes  []int // how many of them in a row
	list   []Correction
	judge  filters.VMF
	inKept []bool // scratch
	last   []int  // step of the row's last visit; a row that occurs twice in a batch visits once
}

// New returns a Corrector with a copy of the given labels.
func New(c Config, labels []int, classes int) (*Corrector, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := len(labels)
	r := &Corrector{config: c, given: append([]int(nil), labels...), labels: append([]int(nil), labels...),
		sizes: make([]int, classes),
		vote:  make([]int, n), votes: make([]int, n), last: make([]int, n),
		judge: filters.VMF{Kappa: filters.KappaBanerjee}}
	for i, y := range labels {
		if y >= classes {
			return nil, fmt.Errorf("correction: row %d: label %d, expected one of %d classes", i, y, classes)
		}
		if y >= 0 {
			r.sizes[y]++
		}
	}
	return r, nil
}

// Label returns the current label of a row.
func (r *Corrector) Label(row int) int { return r.labels[row] }

// Given returns the given label of a row.
func (r *Corrector) Given(row int) int { return r.given[row] }

// LabelsAfter returns all labels as they were after the given step.
func (r *Corrector) LabelsAfter(step int) []int {
	labels := append([]int(nil), r.given...)
	for _, c := range r.list {
		if c.Step <= step {
			labels[c.Row] = c.To
		}
	}
	return labels
}

// Corrections lists all changes in order.
func (r *Corrector) Corrections() []Correction { return r.list }

// Observe records a batch: rows of the training set, embedded with their current labels, the positions that the
// filter kept, in rising order, and the bank that it judged by. Corrections take effect at the next step.
func (r *Corrector) Observe(step int, rows []int, z features.Set, kept []int, bank *features.Bank) {
	r.inKept = append(r.inKept[:0], make([]bool, z.Len())...)
	for _, i := range kept {
		r.inKept[i] = true
	}
	var at []int // dropped: positions in the batch
	for i, row := range rows[:z.Len()] {
		if r.last[row] == step {
			continue
		}
		r.last[row] = step
		if r.inKept[i] {
			r.votes[row] = 0
			continue
		}
		at = append(at, i)
	}
	if len(at) == 0 {
		return
	}
	best, confidence := r.judge.Best(z.Rows(at), bank)
	for k, i := range at {
		r.countVote(step, rows[i], best[k], confidence[k])
	}
}

// countVote records a dropped row's vote, and corrects its label after enough of them.
func (r *Corrector) countVote(step, row, class int, confidence float64) {
	if class < 0 || class == r.labels[row] || confidence < r.config.Confidence {
		r.votes[row] = 0
		return
	}
	if r.votes[row] == 0 || r.vote[row] != class {
		r.vote[row], r.votes[row] = class, 0
	}
	r.votes[row]++
	from := r.labels[row]
	if r.votes[row] < r.config.Visits || step <= r.config.After || r.sizes[from] <= least {
		return
	}
	r.applyCorrection(Correction{Row: row, From: from, To: class, Step: step, Confidence: confidence})
	r.votes[row] = 0
}

// applyCorrection applies a correction.
func (r *Corrector) applyCorrection(c Correction) {
	r.sizes[c.From]--
	r.sizes[c.To]++
	r.labels[c.Row] = c.To
	r.list = append(r.list, c)
}
