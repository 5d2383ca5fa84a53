// Package samples records what a training observed about each sample, for an audit: the loss, the filter's
// score, and how often a label that was believed was doubted again. It sees given labels and never the truth;
// it imports features and filters.
//
// A visit to a sample is a step whose batch contains it. Losses and scores are averaged over the last part of
// the training, from step Config.From on, when the network knows the clean labels but has not learned all wrong
// ones. Visits, forgettings and beliefs are counted from the first step.
//
// The record of a sample takes at most 56 bytes, whatever the length of the run. It depends on the steps only:
// a run that continues from a checkpoint ends with the same bits.
package samples

import (
	"fmt"
	"math"

	"winnow/filters"
)

// Config describes what can be recorded.
type Config struct {
	IDs    []int // of the training rows, as in their sets
	Labels []int // given labels of the training rows; negative: none, and then nothing is recorded
	From   int   // first step, counted from 1, of the averaged part of the training
}

// Record is the record of a training. Only one goroutine may use it at a time.
type Record struct {
	cfg     Config
	members *members // of the bank; nil: there is none
	judge   string   // the scorer whose scores are averaged

	// Per row: judged visits, those that believed the label, changes from belief to doubt.
	visits, right, forgotten []uint32
	believed                 []uint32 // 1: at the last judged visit
	seen, kept               []uint32 // visits in the averaged part, and those at which the filter kept the row
	scored                   []uint32 // of seen, those judged by judge
	p                        []float64
	// Class + 1 that leads the vote for the class that fits the row best, and its lead; 0: none.
	best, lead []uint32
	lossed     []uint32 // visits of seen with a loss
	loss       []float64
}

// New returns an empty record.
func New(cfg Config) (*Record, error) {
	if len(cfg.IDs) != len(cfg.Labels) {
		return nil, fmt.Errorf("samples: found %d ids and %d labels, expected equal numbers", len(cfg.IDs),
			len(cfg.Labels))
	}
	if cfg.From < 1 {
		return nil, fmt.Errorf("samples: averages begin with step %d, expected 1 or more", cfg.From)
	}
	r := &Record{cfg: cfg}
	n := len(cfg.IDs)
	for _, list := range r.listCounts() {
		*list.of = make([]uint32, n)
	}
	for _, list := range r.listSums() {
		*list.of = make([]float64, n)
	}
	return r, nil
}

// Visit describes what one step did with the labelled rows of its batch.
type Visit struct {
	Step     int
	Rows     []int             // of the training set
	Labels   []int             // as used in the step; if different from the given label, the run has corrected it
	Judge    string            // the source of the verdicts; "": none
	Verdicts []filters.Verdict // of all rows, with their own vectors left out; empty without a judge
	Kept     []int             // positions in Rows of those the step learned from
	Losses   []float64         // each row's own term; NaN: it had none; empty: the loss has no terms
	Lossed   []int             // positions in Rows that Losses belong to
}

// Add records a step. A label that the run has corrected counts as doubted: P is 0 and the class that fits the
// row best is the new label. Its loss is that of the new label and is left out.
func (r *Record) Add(v Visit) {
	late := v.Step >= r.cfg.From
	if late && len(v.Verdicts) > 0 && v.Judge != r.judge {
		r.judge = v.Judge // the scale differs: discard the other scorer's results, as the filter discards its window
		clear(r.scored)
		clear(r.p)
	}
	for i, verdict := range v.Verdicts {
		if row := v.Rows[i]; v.Labels[i] != r.cfg.Labels[row] {
			r.recordVerdict(row, filters.Verdict{Odds: math.Inf(-1), Best: v.Labels[i]}, late)
		} else if verdict.Known() {
			r.recordVerdict(row, verdict, late)
		}
	}
	if !late {
		return
	}
	for _, row := range v.Rows {
		r.seen[row]++
	}
	for _, at := range v.Kept {
		r.kept[v.Rows[at]]++
	}
	for j, loss := range v.Losses {
		at := v.Lossed[j]
		if row := v.Rows[at]; !math.IsNaN(loss) && v.Labels[at] == r.cfg.Labels[row] {
			r.lossed[row]++
			r.loss[row] += loss
		}
	}
}

// recordVerdict records one verdict on a given label. The label is believed if no class fits the row better, and
// forgotten if the previous verdict believed it and this one does not.
// Source: Toneva et al., An Empirical Study of Example Forgetting during Deep Neural Network Learning, ICLR
// 2019, definitions of forgetting and learning events, with "the class fits the vector best, the image itself
// left out" in place of "classified correctly".
func (r *Record) recordVerdict(row int, v filters.Verdict, late bool) {
	believes := v.Best == r.cfg.Labels[row]
	r.visits[row]++
	switch {
	case believes:
		r.right[row]++
		r.believed[row] = 1
	case r.believed[row] == 1:
		r.forgotten[row]++
		r.believed[row] = 0
	}
	if !late {
		return
	}
	r.scored[row]++
	r.p[row] += v.P()
	r.recordVote(row, uint32(v.Best+1))
}

// recordVote is a step of the Boyer-Moore majority vote: a class that is best at more than half of the visits leads
// at the end.
func (r *Record) recordVote(row int, class uint32) {
	switch {
	case r.lead[row] == 0:
		r.best[row], r.lead[row] = class, 1
	case r.best[row] == class:
		r.lead[row]++
	default:
		r.lead[row]--
	}
}

// namedCounts and namedSums name the lists in a checkpoint.
type namedCounts struct {
	name string
	of   *[]uint32
}

type namedSums struct {
	name string
	of   *[]float64
}

func (r *Record) listCounts() []namedCounts {
	return []namedCounts{{"visits", &r.visits}, {"right", &r.right}, {"forgotten", &r.forgotten},
		{"believed", &r.believed},
		{"seen", &r.seen}, {"kept", &r.kept}, {"scored", &r.scored}, {"best", &r.best}, {"lead", &r.lead},
		{"lossed", &r.lossed}}
}

func (r *Record) listSums() []namedSums {
	return []namedSums{{"p", &r.p}, {"loss", &r.loss}}
}
