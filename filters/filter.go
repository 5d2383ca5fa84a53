// Package filters says which given labels look right. A score is P_clean in [0, 1] or a similarity: larger
// is cleaner. It imports only features; the truth about a label cannot reach it.
//
// A [Scorer] judges a batch against the memory bank, a [Cutoff] turns the scores of a batch into the rows
// kept, a [Filter] is both with the order of events of PRISM's Algorithm 1. The catalog of scorers is
// [Catalog]; a [Config] names one of them with its settings, and [New] builds the filter.
//
// Symbols: z a unit vector with given label y, C classes, class k with M_k members v in the bank,
// T(z,k) = 1/M_k Σ_v z·v the mean similarity of z to class k. Products are float32 (blas32), everything
// from the similarity on is float64. A class without members says nothing: P = 1, which [Filter.Unjudged] tells from
// a probability so near to 1 that it is rounded.
//
// Source: Liu, Yu, Li, Shen, Gao, Ren, Xie, Cui, "Noise-resistant Deep Metric Learning with Probabilistic Instance
// Filtering", the journal version of PRISM (CVPR 2021).
package filters

import (
	"fmt"
	"math"
	"slices"

	"winnow/features"
)

// Scorer judges the given labels of z against ref, the vectors seen before. If own is true every row of z
// is also a member of ref (same vector, same label) and is left out of its own judgement; that is how an
// audit scores a whole training set against itself. dst is reused if it has room; the scores are returned.
//
// A scorer keeps scratch memory between calls: one goroutine at a time.
type Scorer interface {
	Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64
}

// Cutoff decides which of a batch's scores are kept; it returns positions in rising order, and may carry
// a window over past batches. [Quantile] is given log odds, or similarities, with [Unjudged] rows marked; the published
// ones, [TopR] and [Fixed], are given what a Scorer returns.
type Cutoff interface {
	Keep(scores []float64) []int
	// Threshold is the bar of the last Keep: scores above it were kept. It is -Inf if there was none.
	Threshold() float64
	// Window is a copy of what the cutoff remembers, oldest first; SetWindow replaces it (nil forgets).
	Window() []float64
	SetWindow(window []float64)
}

// Filter is a scorer and a cutoff in the order of PRISM's Algorithm 1. Per batch: score against the bank
// before this batch, cut; the caller then trains on the kept rows and pushes them into the bank.
//
//   - Nothing seen yet (the bank is empty): every row is kept and the window stays untouched.
//   - The first WarmUp iterations keep every row, too.
//   - vMF-Sim begins with AvgSim for AvgSimSteps iterations, as its estimates need members, and falls back
//     to it in a batch before which no class has two members. The two have different scales: when one
//     takes over from the other the window is forgotten.
type Filter struct {
	scorer, early Scorer // early: AvgSim ahead of vMF-Sim, nil for the other scorers
	cutoff        Cutoff
	earlyCutoff   Cutoff // beside early; the same as cutoff unless that is fixed
	entry         Entry
	config        Config

	byOdds bool // the cutoff is given log odds

	iteration int
	isEarly   bool    // which scorer judged last
	seen      []bool  // classes met so far; counts only without a bank
	threshold float64 // of the last Keep

	judge    Scorer    // of the last Keep
	unjudged []bool    // of the last Keep
	order    []float64 // scratch: what the cutoff is given, if that is not the scores
	rest     []float64 // scratch: a class's sum without some members
}

// Keep judges the rows of z, which are not in the bank yet, and returns the positions kept, in rising
// order, with the scores of all rows. The bank may be nil where [Filter.NeedsBank] is false. Every call
// is one iteration.
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
	scorer, cutoff := f.turn(iteration, bank)
	f.judge = scorer
	f.order = orders(scorer, f.order, z, bank)
	first := bank != nil && bank.Len() == 0
	if bank == nil {
		first = f.meet(z.Labels, f.order)
	}
	scores = f.tell(f.order)
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
		f.threshold = probability(f.threshold)
	}
	return kept, scores
}

// tell notes the rows of which nothing is known and turns an order into what is told: probabilities, or similarities.
func (f *Filter) tell(order []float64) []float64 {
	scores := slices.Clone(order)
	f.unjudged = features.Grow(f.unjudged, len(order))
	for i, o := range order {
		f.unjudged[i] = o == Unjudged
	}
	if f.entry.Probability {
		return probabilities(scores)
	}
	return similarities(scores)
}

// Unjudged tells of each row of the last Keep whether nothing was known of its label, such as of the first ones of a
// class: its score is 1 and it was kept, by whatever bar but a fixed one. Valid until the next Keep.
func (f *Filter) Unjudged() []bool { return f.unjudged }

// turn chooses who judges this iteration, and forgets the window when that changes.
func (f *Filter) turn(iteration int, bank *features.Bank) (Scorer, Cutoff) {
	if f.early == nil {
		return f.scorer, f.cutoff
	}
	early := iteration < f.config.AvgSimSteps || !hasSpread(bank, f.scorer.(*VMF).least())
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

// meet stands in for the bank where there is none: it notes the labels, reports whether they are the first
// ones, and marks ProxySim's judgement of classes never met before.
func (f *Filter) meet(labels []int, order []float64) (first bool) {
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

// NeedsBank says that Keep must be given a bank.
func (f *Filter) NeedsBank() bool { return f.entry.NeedsBank }

// NeedsAll says that Keep must be given a bank of all rows shown, the dropped ones too.
func (f *Filter) NeedsAll() bool { return f.entry.NeedsAll }

// Scorer returns the scorer that an audit uses: the one named in the configuration, warm-up or not.
func (f *Filter) Scorer() Scorer { return f.scorer }

// Config returns the resolved configuration.
func (f *Filter) Config() Config { return f.config }

// Threshold returns the bar of the last Keep; -Inf if it kept everything without one.
func (f *Filter) Threshold() float64 { return f.threshold }

func scale(byOdds bool) string {
	if byOdds {
		return "log odds"
	}
	return "scores"
}

// State is what a filter carries from batch to batch, for a checkpoint.
type State struct {
	Iteration int
	Early     bool      // AvgSim judged last, ahead of vMF-Sim
	Window    []float64 // oldest first
	Seen      []int     // classes met, in rising order; only where there is no bank
	ByOdds    bool      `json:",omitempty"` // the window holds log odds, or similarities, for [Quantile]
}

// State copies the filter's memory into plain data.
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

// SetState makes the filter go on where the one that gave the state stopped. A state that cannot have come
// from a filter of this configuration is an error and changes nothing.
func (f *Filter) SetState(s State) error {
	if s.Iteration < 0 {
		return fmt.Errorf("filters: state: iteration is %d, expected 0 or more", s.Iteration)
	}
	if s.Early && f.early == nil {
		return fmt.Errorf("filters: state: AvgSim judged last, but scorer %q never begins with it", f.entry.Name)
	}
	if len(s.Window) > f.config.Window {
		return fmt.Errorf("filters: state: window holds %d thresholds, expected at most %d", len(s.Window),
			f.config.Window)
	}
	if s.ByOdds != f.byOdds && len(s.Window) > 0 {
		return fmt.Errorf("filters: state: window holds thresholds of %s, expected those of %s: it is of a version "+
			"of the program whose threshold %q was another",
			scale(s.ByOdds), scale(f.byOdds), f.config.Threshold)
	}
	for i, q := range s.Window {
		if math.IsNaN(q) || math.IsInf(q, 0) {
			return fmt.Errorf("filters: state: threshold %d of the window is %v, expected a finite number", i, q)
		}
	}
	seen := make([]bool, len(f.seen))
	for _, k := range s.Seen {
		if k < 0 || k >= len(seen) {
			return fmt.Errorf("filters: state: class %d was met, expected 0 to %d", k, len(seen)-1)
		}
		seen[k] = true
	}
	f.iteration, f.isEarly, f.seen = s.Iteration, s.Early, seen
	f.setWindow(s.Window)
	return nil
}
