// Package config is the configuration of a training run: all settings with their defaults, read strictly from YAML and
// from key=value settings, validated, and written with every choice made.
//
// Precedence: defaults ← file ← settings given on the command line. An unknown key is an error that lists the known
// ones. The package builds nothing: package run does.
package config

import (
	"winnow/audit/judges"
	"winnow/head"
	"winnow/train"
)

// Run has all settings of a training run.
type Run struct {
	Seed           uint64             `yaml:"seed"`
	Method         string             `yaml:"method"` // metric, or one of packages peers and selective
	Data           Data               `yaml:"data"`
	Head           head.Config        `yaml:"head"` // in is taken from the features
	MetricLearning `yaml:",inline"`   // of the method metric; audits also read the filter's settings
	Peers          Peers              `yaml:"peers"`     // of the methods of package peers
	Selective      Selective          `yaml:"selective"` // of the methods of package selective
	Sampler        Sampler            `yaml:"sampler"`
	Length         Length             `yaml:"length"`
	Solver         train.SolverConfig `yaml:"solver"`
	Schedule       Schedule           `yaml:"schedule"`
	LossSolver     train.SolverConfig `yaml:"loss_solver"` // of parameters of the losses
	LossSchedule   Schedule           `yaml:"loss_schedule"`

	Finetune         Finetune           `yaml:"finetune"`
	BackboneSolver   train.SolverConfig `yaml:"backbone_solver"`   // of the backbone's trained weights
	BackboneSchedule Schedule           `yaml:"backbone_schedule"` // starts at finetune.start

	Clip       float64    `yaml:"clip"`   // largest norm of the gradient of head and backbone together; 0: none
	Screen     string     `yaml:"screen"` // judge of audits; labels that it calls wrong are left out; or none
	Validation Validation `yaml:"validation"`
	Checkpoint Span       `yaml:"checkpoint"` // interval; 0: only at the end and when stopped
	LogEvery   int        `yaml:"log_every"`  // steps between two lines of metrics

	Diagnostics Diagnostics `yaml:"diagnostics"`
}

// Data says where the run's data are.
type Data struct {
	Manifest string `yaml:"manifest"`
	Root     string `yaml:"root"`     // folder that the manifest's paths start from
	Features string `yaml:"features"` // feature store; "": one is made of the images
	Model    string `yaml:"model"`    // name or file of the backbone, fine-tuned or making the features; "": choose
}

// Schedule is [train.ScheduleConfig] with its lengths as spans.
type Schedule struct {
	train.ScheduleConfig `yaml:",inline" hide:"warmup milestones"`

	WarmUp     Span   `yaml:"warm_up"`
	Milestones []Span `yaml:"milestones"`
}

// In returns the schedule's configuration for epochs of that many steps.
func (s Schedule) In(stepsPerEpoch int) train.ScheduleConfig {
	c := s.ScheduleConfig
	c.Warmup, c.Milestones = s.WarmUp.In(stepsPerEpoch), nil
	for _, m := range s.Milestones {
		c.Milestones = append(c.Milestones, m.In(stepsPerEpoch))
	}
	return c
}

// tunedRefit is the default of finetune.refit if the backbone is trained.
var tunedRefit = Epochs(1)

// Values of Screen: none, and the default if labels are filtered.
const (
	NoScreen    = "none"
	usualScreen = judges.Default
)

// Validation says how the best state is chosen; without a validation split, the last state is.
type Validation struct {
	Every    Span   `yaml:"every"`
	Measure  string `yaml:"measure"`  // p@1 or nearest-class-mean
	Patience int    `yaml:"patience"` // validations without a new best before the run stops; 0: never

	// HoldOut is about the share of the training images that becomes the validation split if the manifest has none
	// ([datasets.Dataset.WithValidation]); 0: none.
	HoldOut float64 `yaml:"hold_out"`
}

// UsualHoldOut is the default of HoldOut if the backbone is trained, and in sweeps.
const UsualHoldOut = 0.1

// Share returns the share of the training images to hold out; none to measure class means, which held-out classes lack.
func (v Validation) Share() float64 {
	if v.Measure != MeasureP1 {
		return 0
	}
	return v.HoldOut
}

// Diagnostics says how often the filter is examined.
type Diagnostics struct {
	Every Span `yaml:"every"` // 0: never
}

// Measures of validation.
const (
	MeasureP1 = "p@1" // an image's nearest neighbour has its class
	// the nearest class mean of the train split, which has the classes, is its own
	MeasureClassMean = "nearest-class-mean"
)

// Default returns a linear head that starts from whitening and is trained with PRISM: memory contrastive loss and
// vMF-Sim at an estimated noise rate, on labels that the judge of audits has screened. The learning rate is small on
// purpose, because a high one destroys the whitened start. On synthetic clusters with half the labels wrong (100 steps,
// mean P@1 of unseen classes over 3 seeds; whitened 0.616) Adam gave 0.619 at 1e-5, 0.627 at 3e-4, 0.662 at 1e-3, 0.700
// at 3e-3, 0.673 at 1e-2, and at 1e-1 nothing better than the start; real runs are ten times longer and drift as much
// at a tenth of the rate.
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

		Validation: Validation{Every: Epochs(1), Measure: MeasureP1},
		Checkpoint: Epochs(1),
		LogEvery:   1,

		Diagnostics: Diagnostics{Every: Epochs(1)},
	}
	c.Head.Out = 512
	c.Solver.LR = train.GivenLR(3e-4)
	c.LossSolver.LR, c.BackboneSolver.LR = train.GivenLR(1e-2), train.GivenLR(tunedLR)
	c.Schedule.Name, c.LossSchedule.Name, c.BackboneSchedule.Name = "cosine", "constant", "cosine"
	return c
}
