// Package watch compares a filter, step by step of a training, with the truth that the training does not know: what it
// keeps, and how it scores right and wrong labels. PRISM's (001) Figures 2 and 3.
package watch

import (
	"slices"

	"winnow/datasets"
	"winnow/filters"
)

// PaperSmoothing is the weight of the past in PRISM's Fig. 2.
const PaperSmoothing = 0.7

// Filter compares, step by step, what a filter keeps with the truth that it does not know. It is fed from
// outside the training, by an observer. Rows whose true or given label is unknown do not count.
type Filter struct {
	steps  []Step
	right  []rightness // by position in the dataset
	at     []int       // steps around which scores are counted, rising
	window int
	counts []Scores
}

// rightness is what is known of a given label.
type rightness int8

const (
	unknownLabel rightness = iota
	rightLabel
	wrongLabel
)

// Step is what one step's filtering came to, in rows of the batch.
type Step struct {
	Step  int
	Right int // rows with a right label
	Wrong int
	Kept  int // of both
	Clean int // right ones among the kept
}

// Scores are the scores of right and of wrong labels in the steps From to Step.
type Scores struct {
	Step    int
	From    int
	Judge   string // the scorer of the last of them; what another said before is not counted
	Right   filters.Histogram
	Wrong   filters.Histogram
	Unknown int // rows of whose label nothing was known
}

// NewFilter makes a trace of a run on d. Scores are counted in the window steps up to each step of at (one step
// holds a batch only).
func NewFilter(d *datasets.Dataset, at []int, window int) *Filter {
	t := &Filter{right: make([]rightness, len(d.Samples)), at: slices.Sorted(slices.Values(at)), window: max(window, 1)}
	for i, s := range d.Samples {
		switch {
		case s.True == datasets.Unlabelled || s.Label == datasets.Unlabelled:
		case s.True == s.Label:
			t.right[i] = rightLabel
		default:
			t.right[i] = wrongLabel
		}
	}
	for _, step := range slices.Compact(t.at) {
		t.counts = append(t.counts, Scores{Step: step, From: max(1, step-t.window+1)})
	}
	return t
}

// Step notes a step: the rows of the batch by their positions in the dataset, which of them were kept (by their
// place in the batch), their scores (nil without a filter), of which rows nothing was known, and who judged.
func (t *Filter) Step(number int, ids, kept []int, scores []float64, unjudged []bool, judge string) {
	s := Step{Step: number}
	for _, id := range ids {
		switch t.right[id] {
		case rightLabel:
			s.Right++
		case wrongLabel:
			s.Wrong++
		}
	}
	for _, row := range kept {
		switch t.right[ids[row]] {
		case rightLabel:
			s.Clean++
			s.Kept++
		case wrongLabel:
			s.Kept++
		}
	}
	t.steps = append(t.steps, s)
	for i := range t.counts {
		if c := &t.counts[i]; number >= c.From && number <= c.Step {
			c.add(t.right, ids, scores, unjudged, judge)
		}
	}
}

func (c *Scores) add(right []rightness, ids []int, scores []float64, unjudged []bool, judge string) {
	if c.Judge != judge {
		*c = Scores{Step: c.Step, From: c.From, Judge: judge}
	}
	for i, v := range scores {
		of := &c.Right
		switch right[ids[i]] {
		case unknownLabel:
			continue
		case wrongLabel:
			of = &c.Wrong
		}
		if unjudged[i] {
			c.Unknown++
			continue
		}
		of.Add(v)
	}
}

// Steps returns all that were noted.
func (t *Filter) Steps() []Step { return t.steps }

// Scores returns the counts at the steps asked for that the run came to.
func (t *Filter) Scores() []Scores {
	var list []Scores
	for _, c := range t.counts {
		if c.Right.Total()+c.Wrong.Total()+c.Unknown > 0 {
			list = append(list, c)
		}
	}
	return list
}

// Accuracy returns the filter accuracy of PRISM's Fig. 2, the share of right labels among the kept, over the steps that
// kept any, smoothed by e_t = weight·e_{t-1} + (1-weight)·x_t (the paper's weight is 0.7; 0: not at all).
func (t *Filter) Accuracy(weight float64) (steps, share []float64) {
	for _, s := range t.steps {
		if s.Kept > 0 {
			steps, share = append(steps, float64(s.Step)), append(share, float64(s.Clean)/float64(s.Kept))
		}
	}
	return steps, filters.Smooth(weight, share)
}

// Totals are the names of what [Filter.Total] returns, shares of rows over several steps: of the kept those with a
// right label, of the right labels those kept, of the dropped those with a wrong label, and of all those with a right
// label.
var Totals = []string{"kept-right", "right-kept", "dropped-wrong", "batch-right"}

// Total returns what the steps after a given one came to together, by the names of [Totals]; none that is a share of
// nothing.
func (t *Filter) Total(after int) map[string]float64 {
	var s Step
	for _, x := range t.steps {
		if x.Step > after {
			s.Right, s.Wrong, s.Kept, s.Clean = s.Right+x.Right, s.Wrong+x.Wrong, s.Kept+x.Kept, s.Clean+x.Clean
		}
	}
	rows, shares := s.Right+s.Wrong, map[string]float64{}
	for i, of := range [][2]int{{s.Clean, s.Kept}, {s.Clean, s.Right}, {s.Wrong - (s.Kept - s.Clean), rows - s.Kept},
		{s.Right, rows}} {
		if of[1] > 0 {
			shares[Totals[i]] = float64(of[0]) / float64(of[1])
		}
	}
	return shares
}
