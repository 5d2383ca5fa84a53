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
	"winnow/filters/correction"
	"winnow/train/samples"
)

// Config is everything that a run consists of. Steps are counted from 1, and all lengths are in steps: an
// epoch is Sampler.Batches() of them.
type Config struct {
	Encoder Encoder
	Sampler *Sampler
	Terms   []Term
	Filter  *filters.Filter // nil: every row is kept
	Bank    *features.Bank  // nil: no memory
	// what batches have shown, kept or not, for a filter that judges by that; nil: it judges by Bank
	Shown     *features.Bank
	SelfPaced *SelfPaced // nil: the losses weigh all samples alike
	Refit     *Refit     // nil: the head goes on as it began
	// of labels that the filter drops for long; nil: labels stay as given. Its rows are the encoder's
	Corrector *correction.Corrector
	Samples   *samples.Record // of what the run sees of each sample, for an audit; nil: nothing is kept
	// judges the batches for Samples, by the bank, and drops nothing; nil: the filter does
	Watch *filters.Filter
	Steps int // length of the run

	Groups []Group // who steps which parameters: each of the encoder's and the losses' in one
	// the gradient of all encoder parameters of running groups is scaled down to this common norm; 0: never
	Clip     float64
	StepIdle bool // step the solvers even of what no gradient moves: momentum and weight decay then go on
	// steps that a moving average of the encoder's weights reaches back; 0: none. It is validated beside the last state
	Average int

	Validate      func(context.Context) (score float64, err error) // larger is better; nil: none
	ValidateEvery int                                              // steps; also before the first and after the last
	// stop after so many validations without a new best; 0: never
	Patience int

	// SaveHead is called while the encoder holds a new best (best), or the state that goes into a checkpoint.
	// Without validation the last state is the best, or its average where there is one.
	SaveHead func(best bool) error

	Dir             string            // of the metrics, the event files and the checkpoint; "": nothing is written
	CheckpointEvery int               // steps; 0: only when the run ends or is stopped
	LogEvery        int               // steps; 0 means 1
	DiagnoseEvery   int               // steps between two diagnoses of the filter; 0: none
	Identity        map[string]string // resolved settings: a checkpoint of a run with others is refused
	Now             func() time.Time  // for the event files
	Clock           *Clock            // told every step, for those who draw in it; may be nil

	Stepped   func(Step) // observers are told facts and return nothing; slices are theirs until they return
	Validated func(Validation)
	Diagnosed func(Diagnosis)
	Weighed   func(Weighing)
	Written   func(Metric) // a line of metrics.jsonl
}

// Step describes what happened in one training step.
type Step struct {
	Epoch, Number int       // counted from 1
	Loss          float64   // Σ weight·term
	Terms         []float64 // before weighting, in the order of Config.Terms
	Pulls         []float64 // ‖weight·∂term/∂z‖ of each term, in the same order: what it asks of the embedding
	Pull          float64   // ‖∂loss/∂z‖ of all: of two terms (Pull² - p² - q²)/2pq is their cosine
	IDs           []int     // of the rows of the batch
	// positions in the batch, rising: what the filter kept, or what a loss that is a Chooser chose
	Kept   []int
	Scores []float64 // the filter's, of all rows; nil without a filter
	// of the rows: nothing was known of the label, and its score says nothing; nil without a filter
	Unjudged     []bool
	Judge        string  // the scorer of the filter that gave them; "" without a filter
	Threshold    float64 // scores above it were kept
	HasThreshold bool    // false without a filter, and where it kept everything
	LR           float64 // of the head
	LossLR       float64 // of the losses' own parameters; 0: none, or not stepped
	BackboneLR   float64 // 0: none, resting, or not stepped
	PeerLR       float64 // of the second network; 0: none, resting, or not stepped
	GradientNorm float64 // of the encoder's parameters that the step moves, before clipping
	Bank         int     // members after the step
	Corrected    int     // corrections of labels so far, those of this step included
	Skipped      bool    // no term was active and the solver did not step
}

// KeptShare returns the share of the batch that was kept.
func (s *Step) KeptShare() float64 { return float64(len(s.Kept)) / float64(max(len(s.IDs), 1)) }

// Validation is the score of the state after a step.
type Validation struct {
	Epoch, Step  int
	Score        float64  // of the weights that learn
	Averaged     *float64 // of their average; nil without one and before the first step
	Best         bool     // one of the two is better than all before
	BestAveraged bool     // and it is the average
}

// Top returns the better of its scores.
func (v *Validation) Top() float64 {
	if v.Averaged != nil {
		return max(v.Score, *v.Averaged)
	}
	return v.Score
}

// NonFinite stops a run at the step whose numbers left the numbers.
type NonFinite struct {
	Step, Epoch int
	What        string // what is not finite
	Value       float64
	IDs         []int // of the rows it came from
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

// Clock tells the step that runs to those who draw in it.
type Clock struct{ step int }

// Step returns the running step, from 1; 0 before the first.
func (c *Clock) Step() int { return c.step }

// Source gives, at each call, a fresh random source that is a function of (seed, purpose, running step).
func (c *Clock) Source(seed uint64, purpose string) func() *rand.Rand {
	return func() *rand.Rand { return Rand(seed, purpose, c.step) }
}

// SourceAhead is Source for those who draw before the step in which it is used: that of the running step (0), of the next
// one (1), and so on.
func (c *Clock) SourceAhead(seed uint64, purpose string) func(ahead int) *rand.Rand {
	return func(ahead int) *rand.Rand { return Rand(seed, purpose, c.step+ahead) }
}

// Trainer runs a Config. Its buffers are made once.
type Trainer struct {
	Config
	params    []*features.Param // of the encoder
	state     []*features.Param // of the encoder, not stepped
	groups    []group
	objective *objective
	chooser   Chooser // the one among the losses, or nil
	progress  Progress
	best      [][]float32 // values of params, then of state, at the best validation; nil before it
	average   [][]float32 // of the same; nil without Average
	weights   []float64   // of samples by ID, as the losses have them; nil unless SelfPaced

	epoch   int          // of draw
	draw    func() []int // gives its batches, one after the other
	drawn   int          // batches so far
	last    []int        // of them
	all     []int        // 0 … batch-1
	kept    features.Set
	labels  []int // of the batch, corrected
	dKept   blas32.General
	dz      blas32.General
	fact    Step
	judged  []Judged             // since the last diagnosis
	drift   *Drift               // of the next diagnosis
	kappas  []filters.ClassKappa // memory of the last diagnosis
	witness witness
}

// New checks what a Config must hold together.
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
	if err := t.check(); err != nil {
		return t, err
	}
	if t.SelfPaced != nil {
		t.spread()
	}
	var err error
	if err = t.openSamples(); err != nil {
		return t, err
	}
	if t.Average > 0 {
		t.startAverage()
	}
	t.groups, err = newGroups(cfg.Groups, t.params, t.objective.params, t.Steps)
	return t, err
}

func (t *Trainer) check() error {
	names := map[string]bool{}
	for _, term := range t.Terms {
		switch {
		case names[term.Name]:
			return fmt.Errorf("train: two terms are named %q, expected different names", term.Name)
		case term.Bank && t.Bank == nil:
			return fmt.Errorf("train: term %q compares with the memory bank, and there is none: give it a size",
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
		if err := t.SelfPaced.check(t.Terms); err != nil {
			return err
		}
	}
	switch {
	case len(t.Terms) == 0:
		return fmt.Errorf("train: no loss is given")
	case t.chooser != nil && (len(t.Terms) > 1 || t.Filter != nil || t.Bank != nil):
		return fmt.Errorf("train: a loss that chooses its rows stands alone: found %d terms, a filter: %v, a bank: %v",
			len(t.Terms), t.Filter != nil, t.Bank != nil)
	case t.Corrector != nil && (t.Filter == nil || t.Bank == nil):
		return fmt.Errorf("train: labels are corrected where a filter drops them, by the memory bank: found a "+
			"filter: %v, a bank: %v", t.Filter != nil, t.Bank != nil)
	case t.Watch != nil && (t.Samples == nil || t.Bank == nil):
		return fmt.Errorf("train: a filter watches what is kept of samples, by the memory bank: found "+
			"samples: %v, a bank: %v", t.Samples != nil, t.Bank != nil)
	case t.Steps < 1:
		return fmt.Errorf("train: length is %d steps, expected at least 1", t.Steps)
	case t.Filter != nil && t.Filter.NeedsBank() && t.Bank == nil:
		return fmt.Errorf("train: filter %q judges by the memory bank, and there is none: give it a size",
			t.Filter.Config().Scorer)
	case (t.Filter != nil && t.Filter.NeedsAll()) != (t.Shown != nil):
		return fmt.Errorf("train: a bank of all that is shown is there for filters that judge by it: found a bank: "+
			"%v, such a filter: %v", t.Shown != nil, t.Shown == nil)
	case t.Validate != nil && t.ValidateEvery < 1:
		return fmt.Errorf("train: validation every %d steps, expected at least 1", t.ValidateEvery)
	case t.Patience > 0 && t.Validate == nil:
		return fmt.Errorf("train: early stopping needs a validation split, and there is none")
	case t.Average < 0 || t.Average == 1:
		return fmt.Errorf("train: average: over %d steps, expected at least 2, or 0 for none", t.Average)
	case !(t.Clip >= 0):
		return fmt.Errorf("train: clip is %v, expected a norm, or 0 for none", t.Clip)
	}
	return nil
}
