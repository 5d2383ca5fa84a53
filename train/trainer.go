package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters"
)

// Config describes a whole run. Steps are counted from 1, and all lengths are in steps: an epoch is
// Sampler.Batches() steps.
type Config struct {
	Encoder   Encoder
	Sampler   *Sampler
	Terms     []Term
	Filter    *filters.Filter // nil: every row is kept
	Trusted   map[int]bool    // IDs of rows that the filter never drops; may be nil
	Bank      *features.Bank  // nil: no memory
	SelfPaced *SelfPaced      // nil: the losses weight all samples equally
	Refit     *Refit          // nil: the head is not restarted
	Steps     int             // length of the run

	Groups []Group // each parameter of the encoder and the losses is in exactly one group
	// Clip limits the global gradient norm of all encoder parameters in running groups. A larger gradient is
	// scaled down to this norm. 0 means no limit.
	Clip float64

	Validate      func(context.Context) (score float64, err error) // larger is better; nil: no validation
	ValidateEvery int                                              // steps; also before the first and after the last
	// Patience is the number of validations without a new best score after which the run stops; 0: never.
	Patience int

	// SaveHead is called with best = true while the encoder holds a new best state, and with best = false while it
	// holds the state that a checkpoint saves. Without validation the last state is the best.
	SaveHead func(best bool) error

	Dir             string            // folder of the metrics, event files and checkpoint; "": write no files
	CheckpointEvery int               // steps; 0: only when the run ends or is interrupted
	LogEvery        int               // steps; 0 means 1
	DiagnoseEvery   int               // steps between two diagnoses of the filter; 0: none
	Identity        map[string]string // resolved settings; Resume rejects a checkpoint with other settings
	Now             func() time.Time  // for the event files
	Clock           *Clock            // set to each step, for components that draw random numbers; may be nil

	Observe Observer // may be nil
}

// Step describes what happened in one training step.
type Step struct {
	Epoch, Number int     // counted from 1
	Loss          float64 // Σ weight·term
	// PairLoss is Loss with each term that sums over pairs divided by its number of pairs ([losses.Pairs]), so
	// that values stay comparable while the memory bank fills. It equals Loss if no term sums over pairs.
	PairLoss float64
	Terms    []float64 // before weighting, in the order of Config.Terms
	IDs      []int     // of the rows of the batch
	// Kept lists the positions in the batch, rising, of the rows that the filter kept or a Chooser selected.
	Kept   []int
	Scores []float64 // the filter's score of each row; nil without a filter
	// Unjudged marks the rows that the filter could not score, so that their scores are meaningless; nil without
	// a filter.
	Unjudged     []bool
	Judge        string  // the filter's scorer that gave the scores; "" without a filter
	Threshold    float64 // scores above it were kept
	HasThreshold bool    // false without a filter, or if the filter kept all rows without a threshold
	LR           float64 // the head's rate
	LossLR       float64 // rate of the losses' own parameters; 0: no such parameters, or not stepped
	BackboneLR   float64 // 0: no backbone, or it rests or was not stepped
	PeerLR       float64 // rate of the second network; 0: no such network, or it rests or was not stepped
	GradientNorm float64 // norm before clipping, over the encoder's parameters that the step moves
	Bank         int     // number of members after the step
	Skipped      bool    // no term was active and the solver did not step
}

// KeptShare returns the share of the batch that was kept.
func (s *Step) KeptShare() float64 { return float64(len(s.Kept)) / float64(max(len(s.IDs), 1)) }

// Validation is the validation score after a step.
type Validation struct {
	Epoch, Step int
	Score       float64
	Best        bool // the score is better than all earlier ones
}

// NonFinite is the error that stops a run at the step in which a number is not finite.
type NonFinite struct {
	Step, Epoch int
	What        string // what is not finite
	Value       float64
	IDs         []int // IDs of the rows that caused it
}

func (e *NonFinite) Error() string {
	list, more := e.IDs, ""
	if len(list) > 16 {
		list, more = list[:16], fmt.Sprintf(", … (%d in all)", len(e.IDs))
	}
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
	return fmt.Sprintf("train: step %d (epoch %d): %s is %v; samples %s%s", e.Step, e.Epoch, e.What,
		e.Value, text, more)
}

// Clock holds the current step for components that draw random numbers.
type Clock struct{ step int }

// Step returns the current step, counted from 1, or 0 before the first step.
func (c *Clock) Step() int { return c.step }

// Source returns a function that makes a new random source from seed, purpose and the current step at each call.
func (c *Clock) Source(seed uint64, purpose string) func() *rand.Rand {
	return func() *rand.Rand { return Rand(seed, purpose, c.step) }
}

// SourceAhead is Source for components that draw in advance. Its argument is the number of steps until the draw is
// used: 0 for the current step, 1 for the next.
func (c *Clock) SourceAhead(seed uint64, purpose string) func(ahead int) *rand.Rand {
	return func(ahead int) *rand.Rand { return Rand(seed, purpose, c.step+ahead) }
}

// Trainer trains as a Config describes. It allocates its buffers once and reuses them.
type Trainer struct {
	Config
	params    []*features.Param // of the encoder
	state     []*features.Param // of the encoder, not stepped
	groups    []group
	place     features.Place // of the backbone's weights; nil: they are in Data
	held      bool           // holdWeights has been called
	ahead     bool           // the weights in the place are newer than Data
	objective *objective
	chooser   Chooser // the Chooser among the losses, or nil
	progress  Progress
	best      [][]float32 // values of params, then of state, at the best validation; nil before the first
	weights   []float64   // sample weights by ID, as given to the losses; nil unless SelfPaced

	epoch   int          // epoch of draw; -1 before the first
	draw    func() []int // returns the next batch of the epoch
	drawn   int          // number of batches drawn in the epoch
	last    []int        // the last batch drawn
	all     []int        // 0 … batch-1
	kept    features.Set
	both    []int // kept by the filter, or trusted
	dKept   blas32.General
	dz      blas32.General
	fact    Step
	judged  []judged             // since the last diagnosis
	kappas  []filters.ClassKappa // memory of the last diagnosis
	journal *journal
}

// New checks a Config for consistency.
func New(cfg Config) (*Trainer, error) {
	t := &Trainer{Config: cfg, params: cfg.Encoder.Params(), objective: newObjective(cfg.Terms), epoch: -1,
		all: features.AllRows(cfg.Sampler.Size())}
	if s, ok := cfg.Encoder.(Stateful); ok {
		t.state = s.State()
	}
	t.progress.Validated = -1
	t.progress.BestStep = -1
	for _, term := range cfg.Terms {
		if c, ok := term.Loss.(Chooser); ok {
			t.chooser = c
		}
	}
	t.LogEvery = cmp.Or(t.LogEvery, 1)
	if t.Clock == nil {
		t.Clock = new(Clock)
	}
	if t.Now == nil {
		t.Now = time.Now
	}
	if err := t.checkTrainer(); err != nil {
		return t, err
	}
	if t.SelfPaced != nil {
		t.spreadWeights()
	}
	var err error
	if p, ok := cfg.Encoder.(Placed); ok {
		t.place = p.Place()
	}
	t.groups, err = newGroups(cfg.Groups, t.params, t.objective.params, t.place, t.Steps)
	if !slices.ContainsFunc(t.groups, func(g group) bool { return g.placed != nil }) {
		t.place = nil
	}
	return t, err
}

func (t *Trainer) checkTrainer() error {
	names := map[string]bool{}
	for _, term := range t.Terms {
		switch {
		case names[term.Name]:
			return fmt.Errorf("train: two terms are named %q, expected different names", term.Name)
		case term.Bank && t.Bank == nil:
			return fmt.Errorf("train: term %q needs a memory bank, found none: give it a size",
				term.Name)
		case !(term.Weight > 0) || math.IsInf(term.Weight, 0):
			return fmt.Errorf("train: term %q: weight is %v, expected a positive number", term.Name, term.Weight)
		}
		names[term.Name] = true
	}
	owned := map[string]bool{}
	for _, p := range slices.Concat(t.params, t.state, t.objective.params) {
		if owned[p.Name] {
			return fmt.Errorf("train: two parameters are named %q, expected different names", p.Name)
		}
		owned[p.Name] = true
	}
	if t.SelfPaced != nil {
		if err := t.SelfPaced.checkWeighing(t.Terms); err != nil {
			return err
		}
	}
	switch {
	case len(t.Terms) == 0:
		return fmt.Errorf("train: found no loss, expected at least one")
	case t.chooser != nil && (len(t.Terms) > 1 || t.Filter != nil || t.Bank != nil):
		return fmt.Errorf("train: a loss that chooses its rows must be the only term, without filter and bank: "+
			"found %d terms, a filter: %v, a bank: %v",
			len(t.Terms), t.Filter != nil, t.Bank != nil)
	case t.Steps < 1:
		return fmt.Errorf("train: length is %d steps, expected at least 1", t.Steps)
	case t.Filter != nil && t.Filter.NeedsBank() && t.Bank == nil:
		return fmt.Errorf("train: filter %q needs a memory bank, found none: give it a size",
			t.Filter.Config().Scorer)
	case t.Validate != nil && t.ValidateEvery < 1:
		return fmt.Errorf("train: validation every %d steps, expected at least 1", t.ValidateEvery)
	case t.Patience > 0 && t.Validate == nil:
		return fmt.Errorf("train: early stopping needs a validation split, found none")
	case !(t.Clip >= 0):
		return fmt.Errorf("train: clip is %v, expected a norm, or 0 for none", t.Clip)
	}
	return nil
}
