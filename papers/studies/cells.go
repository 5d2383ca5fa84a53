package studies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Cell is one training: a row on a column for a seed. Key tells it from every other training, of any study: two with
// the same key are the same to the bit, and share one file.
type Cell struct {
	Row, Column int
	Seed        uint64
	Key         string // of letters and digits
	Choice      int    // which of the row's choices it is trained with, from 1; 0: there is nothing to choose
}

// Trace is what a run recorded over its steps: Y[i] after step X[i].
type Trace struct {
	X []float64 `json:"x"`
	Y []float64 `json:"y"`
}

// Spread is how values lie after a step: in the five numbers of a box plot, or in counts between edges.
type Spread struct {
	Step      int       `json:"step"`
	From      int       `json:"from,omitempty"`          // the first step whose scores are counted
	Judge     string    `json:"judge,omitempty"`         // the scorer of the last
	Threshold *float64  `json:"threshold,omitempty"`     // and its threshold
	Box       []float64 `json:"box,omitempty"`           // lower whisker, quartiles, upper whisker
	Right     Counts    `json:"right,omitzero"`          // scores of right labels
	Wrong     Counts    `json:"wrong,omitzero"`          // and of wrong ones
	Unknown   int       `json:"nothing_known,omitempty"` // of classes of which the filter had seen nothing
}

// Counts are numbers of values in bins: N[i] between Edges[i] and Edges[i+1].
type Counts struct {
	Edges []float64 `json:"edges"`
	N     []int     `json:"n"`
}

// Points are the images of the test split as points of a plane: X[i], Y[i] is one of class Class[i], a place in Classes.
type Points struct {
	X       []float64 `json:"x"`
	Y       []float64 `json:"y"`
	Class   []int     `json:"class"`
	Classes []string  `json:"classes"`
}

// Query is an image of the test split with the images nearest to it, the nearest first.
type Query struct {
	Path    string `json:"path"`
	Class   string `json:"class"`
	Nearest []Near `json:"nearest"`
}

// Near is an image that a query found.
type Near struct {
	Path       string  `json:"path"`
	Class      string  `json:"class"`
	Similarity float32 `json:"similarity"`
	Hit        bool    `json:"hit"` // it is of the query's class
}

// Outcome is what came of a cell.
type Outcome struct {
	Study, Row, Column string
	Seed               uint64
	Data               string              // what it was trained on, in words
	NoiseRate          float64             // realised
	Measures           map[string]float64  // shares
	Last               map[string]float64  `json:",omitempty"` // the measures of the last state, where Measures are of the one that validation chose
	Traces             map[string]Trace    `json:",omitempty"`
	Spreads            map[string][]Spread `json:",omitempty"`
	Points             *Points             `json:",omitempty"` // where the study's chart is a map
	Queries            []Query             `json:",omitempty"` // where it shows neighbours
	Steps              int
	Score              float64           `json:",omitempty"` // of the state that is measured, on the validation split, where settings are chosen by it
	Choice             int               `json:"-"`          // see [Cell]
	Untrained          bool              `json:",omitempty"` // the state measured is the one before the first step, which validation found best
	Settings           map[string]string // the whole configuration, as it was run
	Inputs             map[string]string // sha256 of the features and of paths, splits and labels
	Seconds            float64           // of training and measuring
	Version            string
}

// Spread notes how values lie after a step.
func (o *Outcome) Spread(name string, s Spread) {
	if o.Spreads == nil {
		o.Spreads = map[string][]Spread{}
	}
	o.Spreads[name] = append(o.Spreads[name], s)
}

// Whole reports whether what was read can be all that came of a cell.
func (o Outcome) Whole() bool { return o.Seed > 0 && len(o.Measures) > 0 }

// Results are the outcomes of a study's cells so far.
type Results struct {
	Study    *Study
	Data     string              // what the study was run on, in words
	StandIn  bool                // it is not the paper's data: its numbers are not put beside ours
	Pictures []map[string][]byte // by column, small ones by path as PNG or JPEG; none of those that are not at hand
	outcomes map[[2]int]map[int]Outcome
}

// NewResults begins without any.
func NewResults(s *Study, data string, standIn bool) *Results {
	return &Results{Study: s, Data: data, StandIn: standIn, outcomes: map[[2]int]map[int]Outcome{}}
}

// Add notes what came of a cell. Of those that differ in a choice alone the one counts whose validation is best, the first of
// equals.
func (r *Results) Add(c Cell, o Outcome) {
	at := [2]int{c.Row, c.Column}
	if r.outcomes[at] == nil {
		r.outcomes[at] = map[int]Outcome{}
	}
	o.Choice = c.Choice
	if other, ok := r.outcomes[at][int(c.Seed)]; ok && c.Choice > 0 && cmp.Or(cmp.Compare(other.Score, o.Score), cmp.Compare(o.Choice, other.Choice)) > 0 {
		return
	}
	r.outcomes[at][int(c.Seed)] = o
}

// notes are the study's, and what its trainings chose.
func (r *Results) notes() []string {
	var chosen []string
	for i, row := range r.Study.Rows {
		choices := r.Study.Choices(row)
		counts := make([]int, len(choices))
		for j := range r.Study.Columns {
			for _, o := range r.Of(i, j) {
				if o.Choice > 0 {
					counts[o.Choice-1]++
				}
			}
		}
		var list []string
		for k, n := range counts {
			if n > 0 {
				end := ""
				if k == 0 || k == len(choices)-1 {
					end = ", the end of the list"
				}
				list = append(list, fmt.Sprintf("%s (%d%s)", strings.Join(choices[k], " "), n, end))
			}
		}
		if len(list) > 0 {
			chosen = append(chosen, row.Name+": "+strings.Join(list, ", "))
		}
	}
	if len(chosen) == 0 {
		return r.Study.Notes
	}
	return append(slices.Clone(r.Study.Notes), "Settings that each training chose by its validation split, and how many did: "+strings.Join(chosen, "; ")+".")
}

// Of returns the outcomes of a row on a column by seed.
func (r *Results) Of(row, column int) map[int]Outcome { return r.outcomes[[2]int{row, column}] }

// Len returns the number of outcomes.
func (r *Results) Len() int {
	n := 0
	for _, all := range r.outcomes {
		n += len(all)
	}
	return n
}

// lastState is what the name of a measure ends in that is of the last state of trainings.
const lastState = ", last state"

// measures are the study's and, where validation chose states, the first of them of the last states.
func (r *Results) measures() []string {
	for _, all := range r.outcomes {
		for _, o := range all {
			if len(o.Last) > 0 {
				return append(slices.Clone(r.Study.Measures), r.Study.Measures[0]+lastState)
			}
		}
	}
	return r.Study.Measures
}

// values returns a measure of a row on a column by seed; of a ratio's row that of one row over the other's.
func (r *Results) values(row, column int, measure string) map[int]float64 {
	out := map[int]float64{}
	if ratio := r.Study.Rows[row].Ratio; ratio != nil {
		of, to := r.values(r.Study.row(ratio.Of), column, measure), r.values(r.Study.row(ratio.To), column, measure)
		for seed, v := range of {
			if w, ok := to[seed]; ok && w != 0 {
				out[seed] = v / w
			}
		}
		return out
	}
	name, last := strings.CutSuffix(measure, lastState)
	for seed, o := range r.Of(row, column) {
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

// sorted returns the keys of values, seeds or steps, in order.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// scale returns what turns a measure into what is printed.
func (s *Study) scale(measure string) float64 {
	if _, other := notShares[measure]; s.Unit == "percent" && !other {
		return 100
	}
	return 1
}

// notShares are measures that are no shares, with the digits that are printed of them.
var notShares = map[string]int{"seconds": 1, "kept_classes": 4, "maw": 4, "sdaw": 4, "silhouette": 3, "worst silhouette": 3, Hits10: 2, Seconds5000: 2, AddedMillis: 3, RMSE: 1, Bias: 1}

// Hits10 is how many of the 10 nearest images of a test image are of its class, in the mean over all that have another one to find.
const Hits10 = "hits@10"

// Measures of what is drawn.
const (
	Seconds5000 = "seconds of 5000 steps"
	Added       = "added"    // share of the time of a step without a filter
	AddedMillis = "added ms" // a step
	RMSE        = "rmse"
	Bias        = "bias"
)
