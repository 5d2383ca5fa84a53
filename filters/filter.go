// Package filters scores the given labels of training batches, to keep the labels that look right. A score is P_clean
// in [0, 1] or a similarity: larger means more likely right. The package imports only features, so it has no access to
// true labels.
//
// A [Scorer] scores a batch using the memory bank. A [Cutoff] selects the rows to keep by the scores of a batch. A
// [Filter] combines both in the order of PRISM's Algorithm 1. [Catalog] lists the scorers; a [Config] holds a scorer's
// name and settings, and [New] builds the filter.
//
// Symbols: z is a unit vector with given label y; there are C classes; class k has M_k members v in the bank; T(z,k) =
// 1/M_k Σ_v z·v is the mean similarity of z to class k. Products are float32 (blas32), and everything computed from
// similarities is float64. A label whose class has no members cannot be scored and gets P = 1. [Filter.Unjudged]
// distinguishes it from a probability that rounds to 1.
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

// Scorer scores the given labels of z by comparison with ref, the vectors of earlier batches. If own is true, every row
// of z is also a member of ref (same vector, same label) and is left out when it is scored; an audit uses this to score
// a whole training set against itself. dst is reused if it is large enough; the scores are returned.
//
// A scorer reuses scratch memory between calls, so it is not safe for concurrent use.
type Scorer interface {
	Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64
}

// Cutoff selects the rows of a batch to keep, by their scores. Keep returns positions in ascending order, and may store
// thresholds of past batches in a window. [Quantile] receives log odds or similarities, with [Unjudged] rows marked.
// The published cutoffs, [TopR] and [Fixed], receive the values that a Scorer returns.
type Cutoff interface {
	Keep(scores []float64) []int
	// Threshold returns the bar of the last Keep: scores above it were kept. It is -Inf if there was no bar.
	Threshold() float64
	// Window returns a copy of the stored thresholds, oldest first; SetWindow replaces them (nil clears).
	Window() []float64
	SetWindow(window []float64)
}

// Filter combines a scorer and a cutoff in the order of PRISM's Algorithm 1. It scores the rows of every batch against
// the bank as it was before the batch, and applies the cutoff. The caller then trains on the kept rows and pushes them
// into the bank.
//
//   - If the bank is empty, every row is kept and the window does not change.
//   - The first WarmUp iterations also keep every row.
//   - vMF-Sim starts with AvgSim for AvgSimSteps iterations, because its estimates need members, and returns
//     to it for a batch when no class has two members. The scales differ, so a change between the two clears
//     the window.
type Filter struct {
	scorer, early Scorer // early: AvgSim, used before vMF-Sim; nil for other scorers
	cutoff        Cutoff
	earlyCutoff   Cutoff // cutoff for early; equal to cutoff unless cutoff is Fixed
	entry         Entry
	config        Config

	byOdds bool // the cutoff receives log odds

	iteration int
	isEarly   bool    // early scored the last batch
	seen      []bool  // classes seen so far; used only without a bank
	threshold float64 // from the last Keep

	unjudged []bool    // from the last Keep
	order    []float64 // scratch: input of the cutoff, if not the scores
}

// Keep scores the rows of z, which are not in the bank yet. It returns the positions to keep, in ascending order, and
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

// convertOrder records the rows that cannot be scored, and converts an order into probabilities or similarities.
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

// Unjudged reports for each row of the last Keep whether its label could not be scored, as for the first rows of a
// class. Such a row has score 1 and is kept unless the threshold is fixed. The result is valid until the next Keep.
func (f *Filter) Unjudged() []bool { return f.unjudged }

// selectScorer returns the scorer and cutoff of this iteration. If the scorer changes, it clears the window.
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

// startBank does the bank's work if there is no bank: it records the labels, reports whether they are the first, and
// marks ProxySim's scores of classes not seen before.
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

// Scorer returns the scorer for an audit: the configured scorer, even during the warm-up.
func (f *Filter) Scorer() Scorer { return f.scorer }

// Config returns the resolved configuration.
func (f *Filter) Config() Config { return f.config }

// Threshold returns the bar of the last Keep, or -Inf if it kept all rows without a bar.
func (f *Filter) Threshold() float64 { return f.threshold }

// State is the state of a filter between batches, for a checkpoint.
type State struct {
	Iteration int
	Early     bool      // AvgSim scored the last batch, in place of vMF-Sim
	Window    []float64 // oldest first
	Seen      []int     // classes seen, ascending; only without a bank
	ByOdds    bool      // the window holds log odds or similarities, for [Quantile]
}

// State returns a copy of the filter's state.
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

// SetState restores a saved state. It returns an error, and changes nothing, if the state is impossible for a filter
// with this configuration.
func (f *Filter) SetState(s State) error {
	seen := make([]bool, len(f.seen))
	bad := s.Early && f.early == nil || len(s.Window) > f.config.Window || s.ByOdds != f.byOdds
	for _, k := range s.Seen {
		if bad = bad || k < 0 || k >= len(seen); !bad {
			seen[k] = true
		}
	}
	if bad {
		return fmt.Errorf("filters: the state does not fit scorer %q with threshold %q", f.entry.Name,
			f.config.Threshold)
	}
	f.iteration, f.isEarly, f.seen = s.Iteration, s.Early, seen
	f.setWindow(s.Window)
	return nil
}
