package studies

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"winnow/report/page"
)

// Cell is one training of a row on a column for a seed. Trainings with the same key, even of different studies, give
// the same bits and share one file.
type Cell struct {
	Row, Column int
	Seed        uint64
	Key         string // letters and digits
	Choice      int    // number, from 1, of the row's choice of settings; 0: the row has no choices
}

// Trace holds a value recorded over the steps of a run: Y[i] after step X[i].
type Trace struct {
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

// Spread is the distribution of values after a step: the five numbers of a box plot, or counts between edges.
type Spread struct {
	Step      int       `json:"step"`
	From      int       `json:"from,omitempty"`          // the first step whose scores are counted
	Judge     string    `json:"judge,omitempty"`         // the scorer of the last step
	Threshold *float64  `json:"threshold,omitempty"`     // the threshold of the last step
	Box       []float64 `json:"box,omitempty"`           // lower whisker, quartiles, upper whisker
	Right     Counts    `json:"right,omitzero"`          // scores of right labels
	Wrong     Counts    `json:"wrong,omitzero"`          // scores of wrong labels
	Unknown   int       `json:"nothing_known,omitempty"` // rows that the filter could not score
}

// Counts is a histogram: N[i] values lie between Edges[i] and Edges[i+1].
type Counts struct {
	Edges []float64 `json:"edges"`
	N     []int     `json:"n"`
}

// Outcome is the result of a cell.
type Outcome struct {
	Study, Row, Column string
	Seed               uint64
	Data               string             // a description of the data
	NoiseRate          float64            // actual share of wrong labels
	Measures           map[string]float64 // shares in [0, 1], except notShares
	// Last holds the measures of the last state if Measures belong to the state that validation chose.
	Last    map[string]float64  `json:",omitempty"`
	Traces  map[string]Trace    `json:",omitempty"`
	Spreads map[string][]Spread `json:",omitempty"`
	Steps   int
	// Score is the validation score of the measured state, if the study chooses settings by this score.
	Score    float64           `json:",omitempty"`
	Choice   int               `json:"-"` // see [Cell]
	Settings map[string]string // the whole configuration
	Inputs   map[string]string // SHA-256 of the features, and of paths, splits and labels
	Seconds  float64           // time of training and measuring
	Version  string
}

// Spread records the distribution of values after a step.
func (o *Outcome) Spread(name string, s Spread) {
	if o.Spreads == nil {
		o.Spreads = map[string][]Spread{}
	}
	o.Spreads[name] = append(o.Spreads[name], s)
}

// Whole reports whether an outcome that was read from a file has its required parts.
func (o Outcome) Whole() bool { return o.Seed > 0 && len(o.Measures) > 0 }

// Results holds the outcomes of a study's finished cells.
type Results struct {
	Study   *Study
	Command string // the winnow command that made the results
	Data    string // a description of the study's data
	StandIn bool   // the data are not the paper's, so that the paper's numbers are not shown

	// Additional content of the page: sentences at the top, warnings, charts and small print.
	Lead, Warnings []string
	Drawings       []page.Drawing
	Facts          []page.Fact

	outcomes map[[2]int]map[int]Outcome
}

// NewResults returns the results of a study without outcomes.
func NewResults(s *Study, data string, standIn bool) *Results {
	return &Results{Study: s, Command: "reproduce", Data: data, StandIn: standIn,
		outcomes: map[[2]int]map[int]Outcome{}}
}

// Add adds the outcome of a cell. Of outcomes that differ only in their choice, Results keeps the one with the best
// validation score (ties: the first).
func (r *Results) Add(c Cell, o Outcome) {
	at := [2]int{c.Row, c.Column}
	if r.outcomes[at] == nil {
		r.outcomes[at] = map[int]Outcome{}
	}
	o.Choice = c.Choice
	if other, ok := r.outcomes[at][int(c.Seed)]; ok && c.Choice > 0 &&
		cmp.Or(cmp.Compare(other.Score, o.Score), cmp.Compare(o.Choice, other.Choice)) > 0 {
		return
	}
	r.outcomes[at][int(c.Seed)] = o
}

// collectOutcomes returns the outcomes of a row on a column by seed.
func (r *Results) collectOutcomes(row, column int) map[int]Outcome {
	return r.outcomes[[2]int{row, column}]
}

// Len returns the number of outcomes.
func (r *Results) Len() int {
	n := 0
	for _, all := range r.outcomes {
		n += len(all)
	}
	return n
}

// LastState is the suffix of the name of a measure of the trainings' last states.
const LastState = ", last state"

// listMeasures returns the study's measures and, if validation chose states, the first measure of the last states.
func (r *Results) listMeasures() []string {
	for _, all := range r.outcomes {
		for _, o := range all {
			if len(o.Last) > 0 {
				return append(slices.Clone(r.Study.Measures), r.Study.Measures[0]+LastState)
			}
		}
	}
	return r.Study.Measures
}

// collectValues returns the values of a measure for a row and a column by seed. For a ratio they are the values of one
// row divided by those of the other.
func (r *Results) collectValues(row, column int, measure string) map[int]float64 {
	out := map[int]float64{}
	if ratio := r.Study.Rows[row].Ratio; ratio != nil {
		of := r.collectValues(r.Study.findRowIndex(ratio.Of), column, measure)
		to := r.collectValues(r.Study.findRowIndex(ratio.To), column, measure)
		for seed, v := range of {
			if w, ok := to[seed]; ok && w != 0 {
				out[seed] = v / w
			}
		}
		return out
	}
	name, last := strings.CutSuffix(measure, LastState)
	for seed, o := range r.collectOutcomes(row, column) {
		from := o.Measures
		if last {
			from = o.Last
		}
		if v, ok := from[name]; ok {
			out[seed] = v
		}
	}
	return out
}

// listSortedKeys returns the keys of values, seeds or steps, in order.
func listSortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// computePrintScale returns the factor from a measure to its printed value.
func (s *Study) computePrintScale(measure string) float64 {
	if _, other := notShares[measure]; s.Unit == "percent" && !other {
		return 100
	}
	return 1
}

// notShares lists the measures that are not shares, with their number of printed decimal places.
var notShares = map[string]int{
	"seconds": 1, "kept_classes": 4, "maw": 4, "sdaw": 4, "silhouette": 3, "worst silhouette": 3, Hits10: 2,
	Seconds5000: 2, RMSE: 1, Bias: 1,
}

// Hits10 is the mean number of images of the same class among a test image's 10 nearest images. Images without another
// image of their class are left out.
const Hits10 = "hits@10"

// Measures that are the only ones of their studies: the time of steps, and measures on drawn data.
const (
	Seconds5000 = "seconds of 5000 steps"
	RMSE        = "rmse"
	Bias        = "bias"
)
