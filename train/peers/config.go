// Package peers contains the classifier baselines of PRISM's tables: networks that learn to predict the given
// labels and allow for label noise in one of two ways. Co-teaching trains two networks; each learns from the
// rows of a batch with the smallest loss in the other network. Forward correction trains one network, and passes its
// prediction through a model of the noise before comparing it with the given label.
//
// A network is a head (package head) and a classifier of the head's rows:
//
//	x → head → y (n×D, not of unit length) → logits (n×C)      retrieval: z = y/‖y‖ of the first network
//	linear: logits = y·Wᵀ + b          cosine: logits = ŷ·Ŵᵀ/t, rows divided by their norms
//
// The trainer (package train) sees all networks as one Encoder, whose rows are the networks' logits side by
// side, and the method as a loss on these rows. The package therefore uses the trainer's samplers, solvers,
// schedules, checkpoints, metrics and observers, and a resumed run repeats an uninterrupted run bit for bit.
//
// Logits are float32; softmax, losses and choices are float64. The package never sees true labels, and does not
// depend on the backbone that made the features. It may import train, features, head and losses.
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
	// Rate is the expected fraction of wrong labels: R of Co-teaching, p of F-correction's known matrix.
	Rate       float64 `yaml:"rate"`
	Exponent   float64 `yaml:"exponent"`   // co-teaching: c of R(e)
	Gradual    int     `yaml:"gradual"`    // co-teaching: T_k of R(e), in epochs
	WarmUp     int     `yaml:"warm_up"`    // co-teaching-plus: epochs of plain Co-teaching before disagreement is used
	Transition string  `yaml:"transition"` // f-correction: symmetric, inclusive, pair or estimated
	// FirstStage is the number of cross-entropy steps before f-correction with transition estimated estimates T.
	FirstStage int `yaml:"first_stage"`
	// Percentile restricts the anchors of f-correction with transition estimated to rows below this percentile
	// of each class's probabilities; 0: all rows.
	Percentile float64 `yaml:"percentile"`
	Epoch      int     `yaml:"epoch"` // steps per epoch
}

// Default returns a method's published settings (METHODS 12), for a noise rate of one half and epochs of one step.
// The papers do not give the length of the estimate's first stage; here it is ten epochs. The warm-up of Co-teaching+
// is the published value for CIFAR-100, the published data set with the most classes.
func Default(method string) Config {
	c := Config{Method: method, Classifier: Linear, Temperature: 0.05, Rate: 0.5, Exponent: 1, Gradual: 10, WarmUp: 5,
		Transition: Symmetric, FirstStage: 10, Epoch: 1}
	if method == CoTeachingTemperature {
		c.Classifier = Cosine
	}
	return c
}

// exchangesRows reports whether the method trains two networks that choose rows for each other.
func (c Config) exchangesRows() bool {
	return c.Method == CoTeaching || c.Method == CoTeachingPlus || c.Method == CoTeachingTemperature
}

// Estimates reports whether the method first trains an extra network to estimate the transition matrix.
func (c Config) Estimates() bool { return c.Method == FCorrection && c.Transition == Estimated }

// newForgetPlan returns the plan that computes R(e).
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
		"at least 1 step to train the network that estimates the matrix")
	check.That(c.Percentile >= 0 && c.Percentile <= 100, "percentile", c.Percentile, "a number from 0 to 100")
	return check.Err
}
