// Package peers contains the classifier baselines of PRISM's tables: networks that learn to predict the given
// labels, and distrust them in one of two ways. Co-teaching trains two networks, and each learns from those
// rows of a batch that the other finds easiest. Forward correction trains one network, whose prediction passes
// through a model of the noise before it is compared with the given label.
//
// A network is a head (package head) and a classifier of the head's rows:
//
//	x → head → y (n×D, not of unit length) → logits (n×C)      retrieval: z = y/‖y‖ of the first network
//	linear: logits = y·Wᵀ + b          cosine: logits = ŷ·Ŵᵀ/t, rows divided by their norms
//
// To the trainer (package train) all networks together are one Encoder whose rows are their logits side by
// side, and the method is a loss of these rows. So the trainer's samplers, solvers, schedules, checkpoints,
// metrics and observers are used, and a resumed run repeats an uninterrupted one bit for bit.
//
// Logits are float32; softmax, losses and choices are float64. Nothing here sees the truth about a label, or
// which backbone the features come from. May import train, features, head and losses.
package peers

import (
	"slices"
	"strings"

	"winnow/internal/catalog"
)

// Methods.
const (
	CoTeaching            = "co-teaching"
	CoTeachingPlus        = "co-teaching-plus"
	CoTeachingTemperature = "co-teaching-temperature"
	FCorrection           = "f-correction"
	CrossEntropy          = "cross-entropy"
)

// Methods lists the methods.
func Methods() []string {
	return []string{CoTeaching, CoTeachingPlus, CoTeachingTemperature, FCorrection, CrossEntropy}
}

// Classifiers.
const (
	Linear = "linear"
	Cosine = "cosine"
)

// Config describes a method and its settings. Epoch, in steps, is filled in when it is known.
type Config struct {
	Method      string  `yaml:"method"`
	Classifier  string  `yaml:"classifier"`  // linear or cosine
	Temperature float64 `yaml:"temperature"` // t of the cosine classifier
	// Rate is the expected share of wrong labels: R of Co-teaching, p of F-correction's known matrix.
	Rate       float64 `yaml:"rate"`
	Exponent   float64 `yaml:"exponent"`   // co-teaching: c of R(e)
	Gradual    int     `yaml:"gradual"`    // co-teaching: T_k of R(e), in epochs
	WarmUp     int     `yaml:"warm_up"`    // co-teaching-plus: epochs of plain Co-teaching before disagreement is used
	Transition string  `yaml:"transition"` // f-correction: symmetric, inclusive, pair or estimated
	// FirstStage, for f-correction with estimated, is the number of steps of cross entropy before the estimate.
	FirstStage int `yaml:"first_stage"`
	// Percentile, for f-correction with estimated, restricts anchors to rows below this percentile of each
	// class's probabilities; 0: all rows.
	Percentile float64 `yaml:"percentile"`
	Epoch      int     `yaml:"epoch"` // steps per epoch
}

// Default returns a method's published settings (METHODS 12), for a rate of one half and epochs of one step.
// The length of the estimate's first stage is not published; here it is ten epochs. The warm-up of Co-teaching+
// is that of CIFAR-100, which has the most classes among the published settings.
func Default(method string) Config {
	c := Config{Method: method, Classifier: Linear, Temperature: 0.05, Rate: 0.5, Exponent: 1, Gradual: 10, WarmUp: 5,
		Transition: Symmetric, FirstStage: 10, Epoch: 1}
	if method == CoTeachingTemperature {
		c.Classifier = Cosine
	}
	return c
}

// exchangesRows reports whether two networks choose rows for each other.
func (c Config) exchangesRows() bool {
	return c.Method == CoTeaching || c.Method == CoTeachingPlus || c.Method == CoTeachingTemperature
}

// Estimates reports whether a first network is trained to estimate the transition matrix.
func (c Config) Estimates() bool { return c.Method == FCorrection && c.Transition == Estimated }

// newForgetPlan returns R(e).
func (c Config) newForgetPlan() forgetPlan {
	return forgetPlan{Rate: c.Rate, Exponent: c.Exponent, Gradual: c.Gradual}
}

// countNetworks returns the number of networks.
func (c Config) countNetworks() int {
	if c.exchangesRows() || c.Estimates() {
		return 2
	}
	return 1
}

// Validate returns an error for the first invalid setting, in one line.
func (c Config) Validate() error {
	if err := catalog.Check("peers: method", c.Method, Methods()...); err != nil {
		return err
	}
	check := catalog.Checker{Where: "peers: " + c.Method}
	check.That(c.Classifier == Linear || c.Classifier == Cosine, "classifier", c.Classifier, Linear+" or "+Cosine)
	check.That(c.Method != CoTeachingTemperature || c.Classifier == Cosine, "classifier", c.Classifier,
		Cosine+", or the method "+CoTeaching)
	check.That(c.Temperature > 0 && c.Temperature <= 1e6, "temperature", c.Temperature, "a number above 0")
	check.That(c.Rate >= 0 && c.Rate < 1, "rate", c.Rate, "a share from 0 to below 1")
	check.That(c.Exponent > 0 && c.Exponent <= 1e3, "exponent", c.Exponent, "a number above 0")
	check.That(c.Gradual >= 0, "gradual", c.Gradual, "0 or more epochs")
	check.That(c.WarmUp >= 0, "warm_up", c.WarmUp, "0 or more epochs")
	check.That(c.Epoch >= 1, "epoch", c.Epoch, "at least 1 step")
	kinds := []string{Symmetric, Inclusive, Pair, Estimated}
	check.That(slices.Contains(kinds, c.Transition), "transition", c.Transition, strings.Join(kinds, ", "))
	check.That(!c.Estimates() || c.FirstStage >= 1, "first_stage", c.FirstStage,
		"at least 1 step, from which the matrix is estimated")
	check.That(c.Percentile >= 0 && c.Percentile <= 100, "percentile", c.Percentile, "a number from 0 to 100")
	return check.Err
}
