package runner

import (
	"slices"

	"winnow/datasets"
	"winnow/filters"
)

// PaperSmoothing is the weight of the past in PRISM's Fig. 2.
const PaperSmoothing = 0.7

// Filter compares the rows that a filter keeps at each step with the true labels, which the training does not use, for
// PRISM's (001) Figures 2 and 3. An observer of the training calls Step.
// Rows without a true or a given label are ignored.
type Filter struct {
	State
	right []rightness // by position in the dataset
}

// State holds the counts of a filter's decisions so far.
type State struct {
	Steps  []Step
	Counts []Scores // at the steps given to NewFilter
}

// rightness is right, wrong or unknown, for a given label.
type rightness int8

const (
	unknownLabel rightness = iota
	rightLabel
	wrongLabel
)

// Step holds the counts of the rows of a step's batch.
type Step struct {
	Step  int
	Right int // rows with a right label
	Wrong int
	Kept  int // rows kept, right or wrong
	Clean int // kept rows with a right label
}

// Scores holds histograms of the scores of right and of wrong labels in the steps From to Step.
type Scores struct {
	Step    int
	From    int
	Judge   string // the scorer of the last step; scores of an earlier scorer are not counted
	Right   filters.Histogram
	Wrong   filters.Histogram
	Unknown int // number of rows that the filter could not score
}

// NewFilter returns a Filter for a run on d. It counts scores over the last window steps up to each step of at, because
// a single step has only one batch of scores.
func NewFilter(d *datasets.Dataset, at []int, window int) *Filter {
	t := &Filter{right: make([]rightness, len(d.Samples))}
	for i, s := range d.Samples {
		switch {
		case s.True == datasets.Unlabelled || s.Label == datasets.Unlabelled:
		case s.True == s.Label:
			t.right[i] = rightLabel
		default:
			t.right[i] = wrongLabel
		}
	}
	for _, step := range slices.Compact(slices.Sorted(slices.Values(at))) {
		t.Counts = append(t.Counts, Scores{Step: step, From: max(1, step-max(window, 1)+1)})
	}
	return t
}

// Step records a step: the batch's rows (ids, positions in the dataset), the kept rows (positions in the batch), the
// scores of the batch's rows (nil without a filter), the rows that could not be scored, and the name of the scorer.
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
	t.Steps = append(t.Steps, s)
	for i := range t.Counts {
		if c := &t.Counts[i]; number >= c.From && number <= c.Step {
			c.addScores(t.right, ids, scores, unjudged, judge)
		}
	}
}

func (c *Scores) addScores(right []rightness, ids []int, scores []float64, unjudged []bool, judge string) {
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

// Scores returns the counts at the steps given to NewFilter that the run has reached.
func (t *Filter) Scores() []Scores {
	var list []Scores
	for _, c := range t.Counts {
		if c.Right.Total()+c.Wrong.Total()+c.Unknown > 0 {
			list = append(list, c)
		}
	}
	return list
}

// Accuracy returns the filter accuracy of PRISM's Fig. 2, the share of right labels among the kept rows, for the steps
// with kept rows. It smooths by e_t = weight·e_{t-1} + (1-weight)·x_t (the paper's weight is 0.7; 0: no smoothing).
func (t *Filter) Accuracy(weight float64) (steps, share []float64) {
	for _, s := range t.Steps {
		if s.Kept > 0 {
			steps, share = append(steps, float64(s.Step)), append(share, float64(s.Clean)/float64(s.Kept))
		}
	}
	return steps, filters.Smooth(weight, share)
}

// Totals are the names of the shares that [Filter.Total] returns, over several steps:
//
//	kept-right     share of the kept rows with a right label
//	right-kept     share of the rows with a right label that are kept
//	dropped-wrong  share of the dropped rows with a wrong label
//	batch-right    share of all rows with a right label
var Totals = []string{"kept-right", "right-kept", "dropped-wrong", "batch-right"}

// Total returns the shares over all steps after the given step, by the names of [Totals]. It omits shares of zero rows.
func (t *Filter) Total(after int) map[string]float64 {
	var s Step
	for _, x := range t.Steps {
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
