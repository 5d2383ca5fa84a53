// Package config is the configuration of a training run: what a person may set, with defaults, read
// strictly from YAML and from key=value settings, checked whole, and written down resolved.
//
// Precedence: defaults ← file ← settings given on the command line. A key that does not exist is an error
// that says which do. It builds nothing: package run does that with the values found here.
package config

import (
	"winnow/audit/judges"
	"winnow/head"
	"winnow/train"
)

// Run is everything that can be set about a training run.
type Run struct {
	Seed           uint64             `yaml:"seed"`
	Method         string             `yaml:"method"` // metric: losses and a filter; or one of the packages peers and selective
	Data           Data               `yaml:"data"`
	Head           head.Config        `yaml:"head"` // in is taken from the features
	MetricLearning `yaml:",inline"`   // of the method metric; the others have none of it but the filter's settings, which audits read
	Peers          Peers              `yaml:"peers"`     // of package peers' methods
	Selective      Selective          `yaml:"selective"` // of package selective's
	Sampler        Sampler            `yaml:"sampler"`
	Length         Length             `yaml:"length"`
	Solver         train.SolverConfig `yaml:"solver"`
	Schedule       Schedule           `yaml:"schedule"`
	LossSolver     train.SolverConfig `yaml:"loss_solver"`   // of a loss's own parameters
	LossSchedule   Schedule           `yaml:"loss_schedule"` // of a loss's own parameters

	Finetune         Finetune           `yaml:"finetune"`
	BackboneSolver   train.SolverConfig `yaml:"backbone_solver"`   // of the backbone's trained weights
	BackboneSchedule Schedule           `yaml:"backbone_schedule"` // of the same; it begins where finetune.start says

	Clip       float64    `yaml:"clip"`      // largest norm of the gradient of head and backbone together; 0: none
	StepIdle   bool       `yaml:"step_idle"` // step the solver where no loss was active, too
	Screen     string     `yaml:"screen"`    // a judge of audits whose wrong labels take no part; none
	Average    Average    `yaml:"average"`   // of the weights
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
	Features string `yaml:"features"` // feature store; "": one is made of the images
	Model    string `yaml:"model"`    // the backbone that is fine-tuned, or that makes the features, by name or file; "": one is chosen
}

// Schedule is [train.ScheduleConfig] with its lengths as spans.
type Schedule struct {
	train.ScheduleConfig `yaml:",inline" hide:"warmup milestones"`

	WarmUp     Span   `yaml:"warm_up"`
	Milestones []Span `yaml:"milestones"`
}

// In returns the schedule's own configuration for epochs of so many steps.
func (s Schedule) In(stepsPerEpoch int) train.ScheduleConfig {
	c := s.ScheduleConfig
	c.Warmup, c.Milestones = s.WarmUp.In(stepsPerEpoch), nil
	for _, m := range s.Milestones {
		c.Milestones = append(c.Milestones, m.In(stepsPerEpoch))
	}
	return c
}

// Average says how the weights are averaged while they learn: a moving average is validated beside the last state, and
// is what the run leaves where there is no validation split.
type Average struct {
	Horizon Span `yaml:"horizon"` // it reaches back so far: a step's decay is 1 - 1/horizon, less at the beginning; 0: none
}

// The horizon unless one is given: of a head on stored features, and where the backbone is trained too.
var (
	headHorizon  = Span{}
	tunedHorizon = Span{}
)

// tunedRefit is when the head begins again unless it is said where the backbone is trained too.
var tunedRefit = Epochs(1)

// What screens labels: nobody, and whoever does unless it is said where labels are filtered.
const (
	NoScreen    = "none"
	usualScreen = judges.Default
)

// Validation says how the best state is chosen; without a validation split the last one is.
type Validation struct {
	Every    Span   `yaml:"every"`
	Measure  string `yaml:"measure"`  // what the best is best at: p@1 or nearest-class-mean
	Patience int    `yaml:"patience"` // validations without a new best before the run stops; 0: never

	// HoldOut is about the share of the training images that is validation split, and not trained on, where the manifest has none
	// ([datasets.Dataset.WithValidation]); 0: nothing is held out.
	HoldOut float64 `yaml:"hold_out"`
}

// UsualHoldOut is held out unless it is said where the backbone is trained too, and in sweeps.
const UsualHoldOut = 0.1

// Share returns the share of the training images to be held out: whole classes would have no mean to be near.
func (v Validation) Share() float64 {
	if v.Measure != MeasureP1 {
		return 0
	}
	return v.HoldOut
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

// Default returns a linear head, started from whitening, trained with PRISM: memory contrastive loss and
// vMF-Sim at an estimated noise rate, on labels that the judge of audits has screened. The learning rate is small on purpose: a whitened start is
// worth more than what a careless rate leaves of it. On made-up clusters with half the labels wrong (100
// steps, mean P@1 of unseen classes over 3 seeds; whitened 0.616) Adam gave 0.619 at 1e-5, 0.627 at 3e-4,
// 0.662 at 1e-3, 0.700 at 3e-3, 0.673 at 1e-2, and at 1e-1 nothing better than the start; real
// runs are ten times longer and drift as much at a tenth of the rate.
func Default() Run {
	c := Run{
		Seed:           1,
		Screen:         usualScreen,
		Method:         Metric,
		Head:           head.Default(),
		MetricLearning: defaultMetric(),
		Peers:          defaultPeers(Metric),
		Sampler:        DefaultSampler(Groups),
		Length:         LastsEpochs(mostEpochs),
		Solver:         train.DefaultSolver("adam"),
		LossSolver:     train.DefaultSolver("adam"),
		Finetune:       defaultFinetune(),

		BackboneSolver: train.DefaultSolver("adam"),

		Average:    Average{Horizon: headHorizon},
		Validation: Validation{Every: Epochs(1), Measure: MeasureP1},
		Checkpoint: Epochs(1),
		LogEvery:   1,

		Diagnostics: Diagnostics{Every: Epochs(1)},
		Scores:      defaultScores(),
	}
	c.Head.Out = 512
	c.Solver.LR = train.GivenLR(3e-4)
	c.LossSolver.LR, c.BackboneSolver.LR = train.GivenLR(1e-2), train.GivenLR(tunedLR)
	c.Schedule.Name, c.LossSchedule.Name, c.BackboneSchedule.Name = "cosine", "constant", "cosine"
	return c
}
