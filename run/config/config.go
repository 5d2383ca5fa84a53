// Package config is the configuration of a training run: what a person may set, with defaults, read
// strictly from YAML and from key=value settings, checked whole, and written down resolved.
//
// Precedence: defaults ← file ← settings given on the command line. A key that does not exist is an error
// that says which do. It builds nothing: cmd does that with the values found here.
package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"winnow/filters"
	"winnow/head"
	"winnow/train"
)

// Run is everything that can be set about a training run.
type Run struct {
	Seed         uint64             `yaml:"seed"`
	Method       string             `yaml:"method"` // metric: losses and a filter; or one of the packages peers and selective
	Data         Data               `yaml:"data"`
	Head         head.Config        `yaml:"head"` // in is taken from the features
	Losses       []Loss             `yaml:"losses"`
	Bank         Bank               `yaml:"bank"`
	Filter       Filter             `yaml:"filter"`
	SelfPaced    SelfPaced          `yaml:"selfpaced"`     // weights of the samples
	Correct      Correct            `yaml:"correct"`       // labels that the filter drops for long
	PaperVariant bool               `yaml:"paper_variant"` // losses, filter and weights as their papers print them, errata and all
	Peers        Peers              `yaml:"peers"`         // of package peers' methods; these have no losses, bank and filter
	Selective    Selective          `yaml:"selective"`     // of package selective's; neither have these
	Sampler      Sampler            `yaml:"sampler"`
	Length       Span               `yaml:"length"`
	Solver       train.SolverConfig `yaml:"solver"`
	Schedule     Schedule           `yaml:"schedule"`
	LossSolver   train.SolverConfig `yaml:"loss_solver"`   // of a loss's own parameters
	LossSchedule Schedule           `yaml:"loss_schedule"` // of a loss's own parameters

	Finetune         Finetune           `yaml:"finetune"`
	BackboneSolver   train.SolverConfig `yaml:"backbone_solver"`   // of the backbone's trained weights
	BackboneSchedule Schedule           `yaml:"backbone_schedule"` // of the same; it begins where finetune.start says

	Clip       float64    `yaml:"clip"`      // largest norm of the gradient of head and backbone together; 0: none
	StepIdle   bool       `yaml:"step_idle"` // step the solver where no loss was active, too
	Validation Validation `yaml:"validation"`
	Checkpoint Span       `yaml:"checkpoint"` // how often; 0: only at the end and when stopped
	LogEvery   int        `yaml:"log_every"`  // steps between two lines of metrics

	Diagnostics Diagnostics `yaml:"diagnostics"`
	Scores      Scores      `yaml:"scores"` // of the samples, for audits
}

// Data says what the run trains on.
type Data struct {
	Manifest string `yaml:"manifest"`
	Root     string `yaml:"root"`     // folder that the manifest's paths start from
	Features string `yaml:"features"` // feature store
	Model    string `yaml:"model"`    // the backbone, by name or file; fine-tuning alone needs it
}

// Loss is one term of what is minimised.
type Loss struct {
	Name     string         `yaml:"name"`
	Weight   float64        `yaml:"weight"`
	Against  string         `yaml:"against"` // batch or bank
	Start    Span           `yaml:"start"`   // the term is 0 before
	Settings map[string]any `yaml:"settings"`
}

// What a loss compares a batch with.
const (
	AgainstBatch = "batch"
	AgainstBank  = "bank"
)

func (l *Loss) setDefaults() { *l = Loss{Weight: 1, Against: AgainstBatch} }

// Term is the loss's name in the metrics.
func (l Loss) Term() string {
	if l.Against == AgainstBank {
		return l.Name + ":bank"
	}
	return l.Name
}

// Bank is the memory of embeddings.
type Bank struct {
	Size int `yaml:"size"` // vectors; 0: none
}

// NoFilter as a scorer keeps every row.
const NoFilter = "none"

// Filter is [filters.Config] with its lengths as spans.
type Filter struct {
	filters.Config `yaml:",inline" hide:"rate warm_up avgsim_steps"`

	Rate   Rate `yaml:"rate"`    // share to drop: the estimated noise rate
	WarmUp Span `yaml:"warm_up"` // keep everything so long
	AvgSim Span `yaml:"avgsim"`  // vmf: AvgSim judges so long
}

// In is the filter's own configuration for epochs of so many steps. A rate that is still to be estimated is none.
func (f Filter) In(stepsPerEpoch int) filters.Config {
	c := f.Config
	c.Rate, c.WarmUp, c.AvgSimSteps = float64(f.Rate), f.WarmUp.In(stepsPerEpoch), f.AvgSim.In(stepsPerEpoch)
	return c
}

// Schedule is [train.ScheduleConfig] with its lengths as spans.
type Schedule struct {
	train.ScheduleConfig `yaml:",inline" hide:"warmup milestones"`

	WarmUp     Span   `yaml:"warm_up"`
	Milestones []Span `yaml:"milestones"`
}

// In is the schedule's own configuration for epochs of so many steps.
func (s Schedule) In(stepsPerEpoch int) train.ScheduleConfig {
	c := s.ScheduleConfig
	c.Warmup, c.Milestones = s.WarmUp.In(stepsPerEpoch), nil
	for _, m := range s.Milestones {
		c.Milestones = append(c.Milestones, m.In(stepsPerEpoch))
	}
	return c
}

// Validation says how the best state is chosen; without a validation split the last one is.
type Validation struct {
	Every    Span   `yaml:"every"`
	Measure  string `yaml:"measure"`  // what the best is best at: p@1 or nearest-class-mean
	Patience int    `yaml:"patience"` // validations without a new best before the run stops; 0: never
}

// Diagnostics says how often the filter is looked into.
type Diagnostics struct {
	Every Span `yaml:"every"` // 0: never
}

// What validation measures.
const (
	MeasureP1        = "p@1"                // an image's nearest other is of its class
	MeasureClassMean = "nearest-class-mean" // the nearest mean of the train split's classes is its own: these must be validation's
)

// Default is a linear head, started from whitening, trained with PRISM: memory contrastive loss and
// vMF-Sim at a noise rate of one half. The learning rate is small on purpose: a whitened start is
// worth more than what a careless rate leaves of it. On made-up clusters with half the labels wrong (100
// steps, mean P@1 of unseen classes over 3 seeds; whitened 0.616) Adam gave 0.619 at 1e-5, 0.627 at 3e-4,
// 0.662 at 1e-3, 0.700 at 3e-3, 0.673 at 1e-2, and at 1e-1 nothing better than the start; real
// runs are ten times longer and drift as much at a tenth of the rate.
func Default() Run {
	c := Run{
		Seed:   1,
		Method: Metric,
		Head:   head.Default(),
		Losses: []Loss{
			{Name: "contrastive", Weight: 1, Against: AgainstBatch},
			{Name: "contrastive", Weight: 1, Against: AgainstBank},
		},
		Bank:       Bank{Size: 8192},
		Filter:     Filter{Config: filters.Default(), Rate: Rate(filters.Default().Rate), AvgSim: Epochs(2)},
		SelfPaced:  defaultSelfPaced(),
		Correct:    defaultCorrect(),
		Peers:      defaultPeers(Metric),
		Sampler:    DefaultSampler(Groups),
		Length:     Epochs(20),
		Solver:     train.DefaultSolver("adam"),
		LossSolver: train.DefaultSolver("adam"),
		Finetune:   defaultFinetune(),

		BackboneSolver: train.DefaultSolver("adam"),

		Validation: Validation{Every: Epochs(1), Measure: MeasureP1},
		Checkpoint: Epochs(1),
		LogEvery:   1,

		Diagnostics: Diagnostics{Every: Epochs(1)},
		Scores:      defaultScores(),
	}
	c.Head.Out = 512
	c.Solver.LR = 3e-4
	c.LossSolver.LR, c.BackboneSolver.LR = 1e-2, 1e-5
	c.Schedule.Name, c.LossSchedule.Name, c.BackboneSchedule.Name = "cosine", "constant", "cosine"
	return c
}

// ParseLoss reads a loss as a flag gives it: NAME, NAME:bank for against the memory bank, NAME:0.5 or NAME:bank:0.5
// with a weight.
func ParseLoss(text string) (Loss, error) {
	var l Loss
	l.setDefaults()
	parts := strings.Split(text, ":")
	l.Name, parts = parts[0], parts[1:]
	if l.Name == "" {
		return l, fmt.Errorf("config: loss %q: found no name, expected NAME, NAME:bank, NAME:WEIGHT or NAME:bank:WEIGHT", text)
	}
	if len(parts) > 0 && (parts[0] == AgainstBank || parts[0] == AgainstBatch) {
		l.Against, parts = parts[0], parts[1:]
	}
	if len(parts) > 0 {
		w, err := strconv.ParseFloat(parts[0], 64)
		if err != nil || !(w > 0) || math.IsInf(w, 0) || len(parts) > 1 {
			return l, fmt.Errorf("config: loss %q: found %q behind the name, expected %s, a weight above 0, or %[3]s:WEIGHT", text, strings.Join(parts, ":"), AgainstBank)
		}
		l.Weight = w
	}
	return l, nil
}
