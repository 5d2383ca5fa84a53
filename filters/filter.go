// Package filters judges which given labels look right. A score is P_clean in [0, 1] or a similarity: larger is
// cleaner. The package imports only features; the truth about a label cannot reach it.
//
// A [Scorer] judges a batch against the memory bank. A [Cutoff] turns the scores of a batch into the kept rows.
// A [Filter] combines both in the order of PRISM's Algorithm 1. [Catalog] lists the scorers; a [Config] names
// one with its settings, and [New] builds the filter.
//
// Symbols: z a unit vector with given label y, C classes, class k with M_k members v in the bank, T(z,k) = 1/M_k
// Σ_v z·v the mean similarity of z to class k. Products are float32 (blas32), everything computed from
// similarities is float64. About a class without members nothing is known: P = 1. [Filter.Unjudged] distinguishes
// this from a probability that rounds to 1.
//
// Source: Liu, Yu, Li, Shen, Gao, Ren, Xie, Cui, "Noise-resistant Deep Metric Learning with Probabilistic
// Instance Filtering", the journal version of PRISM (CVPR 2021).
package filters

import (
	"fmt"
	"math"
	"slices"

	"winnow/features"
)

// Scorer judges the given labels of z against ref, the vectors seen before. If own is true, every row of z is
// also a member of ref (same vector, same label) and is left out of its own judgement; an audit uses this to
// score a whole training set against itself. dst is reused if it has room; the scores are returned.
//
// A scorer keeps scratch memory between calls, so only one goroutine may use it at a time.
type Scorer interface {
	Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64
}

// Cutoff decides which of a batch's scores are kept. It returns positions in rising order, and may keep a
// window over past batches. [Quantile] receives log odds, or similarities, with [Unjudged] rows marked; the
// published ones, [TopR] and [Fixed], receive what a Scorer returns.
type Cutoff interface {
	Keep(scores []float64) []int
	// Threshold returns the bar of the last Keep: scores above it were kept. It is -Inf if there was none.
	Threshold() float64
	// Window returns a copy of the stored thresholds, oldest first; SetWindow replaces them (nil clears).
	Window() []float64
	SetWindow(window []float64)
}

// Filter is a scorer and a cutoff in the order of PRISM's Algorithm 1. For every batch it scores the rows
// against the bank as it was before the batch, and cuts; the caller then trains on the kept rows and pushes
// them into the bank.
//
//   - If the bank is empty, every row is kept and the window does not change.
//   - The first WarmUp iterations also keep every row.
//   - vMF-Sim starts with AvgSim for AvgSimSteps iterations, because its estimates need members, and returns
//     to it for a batch when no class has two members. The scales differ, so a change between the two clears
//     the window.
type Filter struct {
	scorer, early Scorer // early: AvgSim before vMF-Sim; nil for other scorers
	cutoff        Cutoff
	earlyCutoff   Cutoff // for early; the same as cutoff unless that is fixed
	entry         Entry
	config        Config

	byOdds bool // the cutoff receives log odds

	iteration int
	isEarly   bool    // early judged last
	seen      []bool  // classes seen so far; used only without a bank
	threshold float64 // of the last Keep

	unjudged []bool    // of the last Keep
	order    []float64 // scratch: what the cutoff receives, if not the scores
}

// Keep judges the rows of z, which are not in the bank yet. It returns the positions kept, in rising order, and
// the scores of all rows. The bank may be nil if [Filter.NeedsBank] returns false. Every call is one iteration.
func (f *Filter) Keep(z features.Set, bank *features.Bank) (kept []int, scores []float64) {
	if bank == nil && f.entry.NeedsBank {
		panic(fmt.Sprintf("filters: scorer %q is used without a bank", f.entry.Name))
	}
	iteration := f.iteration
	f.iteration++
	f.threshold = math.Inf(-1)
	if z.Len() == 0 {
		f.unjudged = f.unjudged[:0]
		return nil, nil
	}
	scorer, cutoff := f.selectScorer(iteration, bank)
	f.order = scoreOrders(scorer, f.order, z, bank)
	first := bank != nil && bank.Len() == 0
	if bank == nil {
		first = f.startBank(z.Labels, f.order)
	}
	scores = f.convertOrder(f.order)
	if first || iteration < f.config.WarmUp {
		return features.AllRows(z.Len()), scores
	}
	if !f.byOdds {
		kept = cutoff.Keep(scores)
		f.threshold = cutoff.Threshold()
		return kept, scores
	}
	kept = cutoff.Keep(f.order)
	if f.threshold = cutoff.Threshold(); f.entry.Probability && !math.IsInf(f.threshold, -1) {
		f.threshold = oddsToProb(f.threshold)
	}
	return kept, scores
}

// convertOrder notes the rows about which nothing is known, and converts an order into probabilities or similarities.
func (f *Filter) convertOrder(order []float64) []float64 {
	scores := slices.Clone(order)
	f.unjudged = features.Grow(f.unjudged, len(order))
	for i, o := range order {
		f.unjudged[i] = o == Unjudged
	}
	if f.entry.Probability {
		return oddsToProbs(scores)
	}
	return replaceUnjudged(scores)
}

// Unjudged reports for each row of the last Keep whether nothing was known about its label, as for the first
// rows of a class. Such a row has score 1 and is kept by every threshold but a fixed one. The result is valid
// until the next Keep.
func (f *Filter) Unjudged() []bool { return f.unjudged }

// selectScorer selects the scorer of this iteration, and clears the window when it changes.
func (f *Filter) selectScorer(iteration int, bank *features.Bank) (Scorer, Cutoff) {
	if f.early == nil {
		return f.scorer, f.cutoff
	}
	early := iteration < f.config.AvgSimSteps || !hasSpread(bank)
	if early != f.isEarly {
		f.isEarly = early
		f.setWindow(nil)
	}
	if early {
		return f.early, f.earlyCutoff
	}
	return f.scorer, f.cutoff
}

func (f *Filter) setWindow(window []float64) {
	if f.isEarly {
		f.earlyCutoff.SetWindow(window)
	} else {
		f.cutoff.SetWindow(window)
	}
}

// startBank replaces the bank if there is none: it records the labels, reports whether they are the first, and marks
// ProxySim's scores for classes not seen before.
func (f *Filter) startBank(labels []int, order []float64) (first bool) {
	first = !slices.Contains(f.seen, true)
	for i, k := range labels {
		if f.entry.NeedsProxy && !f.seen[k] {
			order[i] = Unjudged
		}
	}
	for _, k := range labels {
		f.seen[k] = true
	}
	return first
}

// NeedsBank reports whether Keep needs a bank.
func (f *Filter) NeedsBank() bool { return f.entry.NeedsBank }

// Scorer returns the scorer for an audit: the one in the configuration, even during the warm-up.
func (f *Filter) Scorer() Scorer { return f.scorer }

// Config returns the resolved configuration.
func (f *Filter) Config() Config { return f.config }

// Threshold returns the bar of the last Keep, or -Inf if it kept everything without one.
func (f *Filter) Threshold() float64 { return f.threshold }

// State is the memory of a filter between batches, for a checkpoint.
type State struct {
	Iteration int
	Early     bool      // AvgSim judged last, in place of vMF-Sim
	Window    []float64 // oldest first
	Seen      []int     // classes seen, in rising order; only without a bank
	ByOdds    bool      // the window holds log odds or similarities, for [Quantile]
}

// State returns a copy of the filter's memory.
func (f *Filter) State() State {
	s := State{Iteration: f.iteration, Early: f.isEarly, Window: f.cutoff.Window(), ByOdds: f.byOdds}
	if f.isEarly {
		s.Window = f.earlyCutoff.Window()
	}
	for k, met := range f.seen {
		if met {
			s.Seen = append(s.Seen, k)
		}
	}
	return s
}

// SetState makes the filter continue from a saved state. A state that cannot come from a filter of this
// configuration is an error and changes nothing.
func (f *Filter) SetState(s State) error {
	seen := make([]bool, len(f.seen))
	bad := s.Early && f.early == nil || len(s.Window) > f.config.Window || s.ByOdds != f.byOdds
	for _, k := range s.Seen {
		if bad = bad || k < 0 || k >= len(seen); !bad {
			seen[k] = true
		}
	}
	if bad {
		return fmt.Errorf("filters: the state is not of a filter %q with the threshold %q", f.entry.Name,
			f.config.Threshold)
	}
	f.iteration, f.isEarly, f.seen = s.Iteration, s.Early, seen
	f.setWindow(s.Window)
	return nil
}
