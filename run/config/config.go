// Package config is the configuration of a training run: all settings with their defaults, read strictly from YAML and
// from key=value settings, validated, and written with every choice made.
//
// A file overrides the defaults, and settings on the command line override the file. An unknown key is an error that
// lists the known keys. Package run builds the training from a configuration.
package config

import (
	"winnow/audit/judges"
	"winnow/head"
	"winnow/train"
)

// Run holds all settings of a training run.
type Run struct {
	Seed           uint64             `yaml:"seed"`
	Method         string             `yaml:"method"` // metric, or one of packages peers and selective
	Data           Data               `yaml:"data"`
	Head           head.Config        `yaml:"head"` // Head.In is the dimension of the features
	MetricLearning `yaml:",inline"`   // settings of the method metric; audits also read its filter
	Peers          Peers              `yaml:"peers"`     // settings of the methods of package peers
	Selective      Selective          `yaml:"selective"` // settings of the methods of package selective
	Sampler        Sampler            `yaml:"sampler"`
	Length         Length             `yaml:"length"`
	Solver         train.SolverConfig `yaml:"solver"`
	Schedule       Schedule           `yaml:"schedule"`
	LossSolver     train.SolverConfig `yaml:"loss_solver"` // solver of the losses' parameters
	LossSchedule   Schedule           `yaml:"loss_schedule"`

	Finetune         Finetune           `yaml:"finetune"`
	BackboneSolver   train.SolverConfig `yaml:"backbone_solver"`   // solver of the backbone's trained weights
	BackboneSchedule Schedule           `yaml:"backbone_schedule"` // starts at finetune.start

	Clip       float64    `yaml:"clip"`   // largest norm of the gradient of head and backbone together; 0: none
	Screen     string     `yaml:"screen"` // audit scorer whose flagged labels are left out of training; or none
	Validation Validation `yaml:"validation"`
	Checkpoint Span       `yaml:"checkpoint"` // interval; 0: only at the end and when stopped
	LogEvery   int        `yaml:"log_every"`  // steps between two lines of metrics

	Diagnostics Diagnostics `yaml:"diagnostics"`
}

// Data holds the paths of the run's data.
type Data struct {
	Manifest string `yaml:"manifest"`
	Root     string `yaml:"root"`     // folder to which the manifest's paths are relative
	Features string `yaml:"features"` // feature store; "": the run computes the features
	Model    string `yaml:"model"`    // name or file of the backbone; "": the run chooses one
}

// Schedule is a [train.ScheduleConfig] whose lengths are spans.
type Schedule struct {
	train.ScheduleConfig `yaml:",inline" hide:"warmup milestones"`

	WarmUp     Span   `yaml:"warm_up"`
	Milestones []Span `yaml:"milestones"`
}

// In returns the schedule with spans converted to steps.
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

// Values of Run.Screen: none, and the default for runs with a filter.
const (
	NoScreen    = "none"
	usualScreen = judges.Default
)

// Validation holds the settings for choosing the best state. Without a validation split, the last state is kept.
type Validation struct {
	Every    Span   `yaml:"every"`
	Measure  string `yaml:"measure"`  // p@1 or nearest-class-mean
	Patience int    `yaml:"patience"` // validations without a new best before the run stops; 0: never

	// HoldOut is about the share of the training images that becomes the validation split if the manifest has none
	// ([datasets.Dataset.WithValidation]); 0: none. [AutoHoldOut] is the default.
	HoldOut float64 `yaml:"hold_out"`
}

// AutoHoldOut is the default of HoldOut for trainings without a recipe or a configuration file. It holds out
// UsualHoldOut, or SmallHoldOut if that is too few images to choose a state. A head is trained on all images if
// the manifest has labelled images in another split, which show what the training is worth. Sweeps hold out
// UsualHoldOut.
const (
	AutoHoldOut  = -1
	UsualHoldOut = 0.1
	SmallHoldOut = 0.25
)

// Share returns the share of the training images to hold out. It is 0 if validation compares with class means, because
// held-out classes have no mean in the train split.
func (v Validation) Share() float64 {
	if v.Measure != MeasureP1 {
		return 0
	} else if v.HoldOut == AutoHoldOut {
		return UsualHoldOut
	}
	return v.HoldOut
}

// Diagnostics holds the interval at which the filter's decisions are recorded.
type Diagnostics struct {
	Every Span `yaml:"every"` // 0: never
}

// Measures of validation.
const (
	MeasureP1 = "p@1" // share of images whose nearest neighbour has the same class
	// MeasureClassMean is the share of images whose nearest class mean of the train split is that of their class.
	MeasureClassMean = "nearest-class-mean"
)

// Default returns the settings for a linear head that starts from whitening and is trained with PRISM: memory
// contrastive loss and vMF-Sim at an estimated noise rate, on screened labels. The learning rate is small, because a
// high rate destroys the whitened start. On synthetic clusters with half the labels wrong (100 steps, mean P@1 of
// unseen classes over 3 seeds; whitened 0.616), Adam reached 0.619 at 1e-5, 0.627 at 3e-4, 0.662 at 1e-3, 0.700 at
// 3e-3, 0.673 at 1e-2, and no improvement at 1e-1. Real runs are ten times longer, and drift as far at a tenth of the
// rate.
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

		Validation: Validation{Every: Epochs(1), Measure: MeasureP1, HoldOut: AutoHoldOut},
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
