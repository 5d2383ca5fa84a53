package studies

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"winnow/report/chart"
	"winnow/report/page"
)

// Cell is one training: a row on a column for a seed. Trainings with the same key, of any study, are the same to the
// bit and share one file.
type Cell struct {
	Row, Column int
	Seed        uint64
	Key         string // letters and digits
	Choice      int    // number of the row's choice that it is trained with, from 1; 0: nothing to choose
}

// Trace is a value recorded over the steps of a run: Y[i] after step X[i].
type Trace struct {
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

// Spread is the distribution of values after a step: the five numbers of a box plot, or counts between edges.
type Spread struct {
	Step      int       `json:"step"`
	From      int       `json:"from,omitempty"`          // the first step whose scores are counted
	Judge     string    `json:"judge,omitempty"`         // the scorer of the last step
	Threshold *float64  `json:"threshold,omitempty"`     // its threshold
	Box       []float64 `json:"box,omitempty"`           // lower whisker, quartiles, upper whisker
	Right     Counts    `json:"right,omitzero"`          // scores of right labels
	Wrong     Counts    `json:"wrong,omitzero"`          // scores of wrong labels
	Unknown   int       `json:"nothing_known,omitempty"` // scores of classes that the filter had not seen
}

// Counts are numbers of values in bins: N[i] between Edges[i] and Edges[i+1].
type Counts struct {
	Edges []float64 `json:"edges"`
	N     []int     `json:"n"`
}

// Outcome is the result of a cell.
type Outcome struct {
	Study, Row, Column string
	Seed               uint64
	Data               string             // the data, in words
	NoiseRate          float64            // realised
	Measures           map[string]float64 // shares
	// Last are the measures of the last state, if Measures are of the state that validation chose.
	Last    map[string]float64  `json:",omitempty"`
	Traces  map[string]Trace    `json:",omitempty"`
	Spreads map[string][]Spread `json:",omitempty"`
	Steps   int
	// Score is the validation score of the measured state, if settings are chosen by it.
	Score    float64           `json:",omitempty"`
	Choice   int               `json:"-"` // see [Cell]
	Settings map[string]string // the whole configuration
	Inputs   map[string]string // sha256 of the features and of paths, splits and labels
	Seconds  float64           // of training and measuring
	Version  string
}

// Spread records the distribution of values after a step.
func (o *Outcome) Spread(name string, s Spread) {
	if o.Spreads == nil {
		o.Spreads = map[string][]Spread{}
	}
	o.Spreads[name] = append(o.Spreads[name], s)
}

// Whole reports whether an outcome that was read can be complete.
func (o Outcome) Whole() bool { return o.Seed > 0 && len(o.Measures) > 0 }

// Results are the outcomes of a study's cells so far.
type Results struct {
	Study   *Study
	Command string // of winnow, that made the results
	Data    string // the study's data, in words
	StandIn bool   // Data are not the paper's: its numbers are not compared with ours

	// What the page shows besides the study's own: sentences at its head, warnings, charts and small print.
	Lead, Warnings []string
	Drawings       []chart.Drawing
	Facts          []page.Fact

	outcomes map[[2]int]map[int]Outcome
}

// NewResults returns the results of a study without outcomes.
func NewResults(s *Study, data string, standIn bool) *Results {
	return &Results{Study: s, Command: "reproduce", Data: data, StandIn: standIn,
		outcomes: map[[2]int]map[int]Outcome{}}
}

// Add adds the outcome of a cell. Among those that differ only in their choice, the one with the best validation score
// counts, the first if equal.
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

// LastState ends the name of a measure of the trainings' last states.
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

// collectValues returns a measure of a row on a column by seed; for a ratio, that of one row divided by the other's.
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

// notShares are the measures that are not shares, with their printed digits.
var notShares = map[string]int{
	"seconds": 1, "kept_classes": 4, "maw": 4, "sdaw": 4, "silhouette": 3, "worst silhouette": 3, Hits10: 2,
	Seconds5000: 2, RMSE: 1, Bias: 1,
}

// Hits10 is the mean number of images of its class among the 10 nearest of a test image. Images alone in their class
// are left out.
const Hits10 = "hits@10"

// Measures that stand alone in their studies: of the time of steps, and on drawn data.
const (
	Seconds5000 = "seconds of 5000 steps"
	RMSE        = "rmse"
	Bias        = "bias"
)
