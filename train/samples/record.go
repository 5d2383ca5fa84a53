// Package samples keeps what a training saw of each of its samples, for an audit: the loss, the filter's score, and how
// often a label that was believed was doubted again. It sees labels as they are given and never the truth; it imports
// features and filters.
//
// A sample is seen at visits: the steps whose batch holds it. Losses and scores are averaged over the last part of the
// training, from the step Config.From on, when the network knows the clean labels and has not learned all wrong ones;
// visits, forgettings and what is believed are counted from the first step.
//
// Everything that is kept of a sample takes at most 56 bytes, whatever the length of the run, and is a function of the
// steps alone: a run that goes on after a checkpoint ends with the same bits.
package samples

import (
	"fmt"
	"math"

	"winnow/filters"
)

// Config describes what can be recorded.
type Config struct {
	IDs    []int // of the training rows, as their sets name them
	Labels []int // of the training rows as they are given; negative: none, and then nothing is kept of the row
	From   int   // first step, counted from 1, of the part of the training that is averaged
}

// Record is what training saw. One goroutine at a time.
type Record struct {
	cfg     Config
	members *members // of the bank; nil: there is none
	judge   string   // whose scores are averaged

	// of rows: judged visits, those that believed the label, changes from belief to doubt
	visits, right, forgotten []uint32
	believed                 []uint32 // 1: at the last judged visit
	seen, kept               []uint32 // visits in the part that is averaged, and those at which the filter kept the row
	scored                   []uint32 // of seen, those judged by judge
	p                        []float64
	// class+1 ahead in the vote over what explains the row best, and its lead; 0: none
	best, lead []uint32
	lossed     []uint32 // of seen, those with a loss
	loss       []float64
}

// New makes an empty record.
func New(cfg Config) (*Record, error) {
	if len(cfg.IDs) != len(cfg.Labels) {
		return nil, fmt.Errorf("samples: found %d ids and %d labels, expected as many", len(cfg.IDs), len(cfg.Labels))
	}
	if cfg.From < 1 {
		return nil, fmt.Errorf("samples: averages begin with step %d, expected 1 or more", cfg.From)
	}
	r := &Record{cfg: cfg}
	n := len(cfg.IDs)
	for _, list := range r.counts() {
		*list.of = make([]uint32, n)
	}
	for _, list := range r.sums() {
		*list.of = make([]float64, n)
	}
	return r, nil
}

// Visit is what one step did with the labelled rows of its batch.
type Visit struct {
	Step     int
	Rows     []int             // of the training set
	Labels   []int             // as the step learned them; another than the given one: the run has corrected it
	Judge    string            // who gave the verdicts; "": none
	Verdicts []filters.Verdict // of all rows, their own vectors left out; empty without a judge
	Kept     []int             // positions in Rows of those that the step learned from
	Losses   []float64         // each row's own term; NaN: it had none; empty: the loss has no terms
	Lossed   []int             // positions in Rows that Losses are of
}

// Add takes a step in. A label that the run has corrected is one that the run doubts: P is 0, and the class that
// explains the row best is the new label; its loss is of that label and is left out.
func (r *Record) Add(v Visit) {
	late := v.Step >= r.cfg.From
	if late && len(v.Verdicts) > 0 && v.Judge != r.judge {
		r.judge = v.Judge // another scale: what another scorer said is forgotten, as the filter forgets its window
		clear(r.scored)
		clear(r.p)
	}
	for i, verdict := range v.Verdicts {
		if row := v.Rows[i]; v.Labels[i] != r.cfg.Labels[row] {
			r.judged(row, filters.Verdict{Odds: math.Inf(-1), Best: v.Labels[i]}, late)
		} else if verdict.Known() {
			r.judged(row, verdict, late)
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

// judged takes in one verdict on a given label. It is believed where no class explains the row better; forgotten where
// the last verdict believed it and this one does not.
// Source: Toneva et al., An Empirical Study of Example Forgetting during Deep Neural Network Learning, ICLR 2019,
// definitions of forgetting and learning events, with "the class explains the vector best, the image itself left out"
// in place of "classified correctly".
func (r *Record) judged(row int, v filters.Verdict, late bool) {
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
	r.vote(row, uint32(v.Best+1))
}

// vote is a step of the majority vote of Boyer and Moore: a class that is best at more than half of the visits is ahead
// in the end.
func (r *Record) vote(row int, class uint32) {
	switch {
	case r.lead[row] == 0:
		r.best[row], r.lead[row] = class, 1
	case r.best[row] == class:
		r.lead[row]++
	default:
		r.lead[row]--
	}
}

// namedCounts and namedSums tell the lists apart in a checkpoint.
type namedCounts struct {
	name string
	of   *[]uint32
}

type namedSums struct {
	name string
	of   *[]float64
}

func (r *Record) counts() []namedCounts {
	return []namedCounts{{"visits", &r.visits}, {"right", &r.right}, {"forgotten", &r.forgotten},
		{"believed", &r.believed},
		{"seen", &r.seen}, {"kept", &r.kept}, {"scored", &r.scored}, {"best", &r.best}, {"lead", &r.lead},
		{"lossed", &r.lossed}}
}

func (r *Record) sums() []namedSums {
	return []namedSums{{"p", &r.p}, {"loss", &r.loss}}
}
