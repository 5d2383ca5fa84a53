package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/catalog"
)

// SolverConfig names a solver and its settings, with torch's meaning. A setting that the solver does not have
// must be zero or its default. Start from [DefaultSolver]: zero means zero.
type SolverConfig struct {
	Name string `yaml:"name" json:"name"` // sgd | adam | adamw | rmsprop
	// the schedule's base rate; Step receives the scheduled rate
	LR          LearningRate `yaml:"lr" json:"lr"`
	WeightDecay float64      `yaml:"weight_decay" json:"weight_decay"`
	Momentum    float64      `yaml:"momentum" json:"momentum"`
	Dampening   float64      `yaml:"dampening" json:"dampening"`
	Nesterov    bool         `yaml:"nesterov" json:"nesterov"`
	Beta1       float64      `yaml:"beta1" json:"beta1"`
	Beta2       float64      `yaml:"beta2" json:"beta2"`
	AMSGrad     bool         `yaml:"amsgrad" json:"amsgrad"`
	Alpha       float64      `yaml:"alpha" json:"alpha"`
	Centered    bool         `yaml:"centered" json:"centered"`
	Eps         float64      `yaml:"eps" json:"eps"`
}

// LearningRate is a given rate ≥ 0, or the choice of a rate that the run makes and records before the first step.
// Solvers need a given rate.
type LearningRate struct {
	Value  float64
	Choose Choice
}

// Choice names a way in which a run chooses a rate.
type Choice string

// The choices. The zero value means that the rate is given.
const (
	ByTest Choice = "auto"  // by a range test
	Usual  Choice = "usual" // the usual rate for the kind of parameters that are trained
)

// GivenLR returns a rate that is given.
func GivenLR(rate float64) LearningRate { return LearningRate{Value: rate} }

// UnmarshalText parses a number, "auto" or "usual".
func (r *LearningRate) UnmarshalText(text []byte) error {
	if c := Choice(text); c == ByTest || c == Usual {
		*r = LearningRate{Choose: c}
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("found %q, expected a finite number from 0, or %s", text, ByTest)
	}
	*r = GivenLR(v)
	return nil
}

// Given returns the rate; ok is false if the run has yet to choose one.
func (r LearningRate) Given() (rate float64, ok bool) { return r.Value, r.Choose == "" }

// String returns the rate as written in a file.
func (r LearningRate) String() string {
	if r.Choose != "" {
		return string(r.Choose)
	}
	return strconv.FormatFloat(r.Value, 'g', -1, 64)
}

// DefaultSolver returns torch's defaults, with rate 0.01 for sgd, for which torch has no default. It does not check
// the name; validateSolver does.
func DefaultSolver(name string) SolverConfig {
	c := SolverConfig{Name: name, LR: GivenLR(1e-3), Beta1: 0.9, Beta2: 0.999, Alpha: 0.99, Eps: 1e-8}
	switch name {
	case "sgd", "rmsprop":
		c.LR = GivenLR(1e-2)
	case "adamw":
		c.WeightDecay = 1e-2
	}
	return c
}

// HasBeta1 reports whether the configured solver has a β₁.
func (c SolverConfig) HasBeta1() bool { return c.Name == "adam" || c.Name == "adamw" }

// validateSolver returns an error for the first invalid setting, in one line.
func (c SolverConfig) validateSolver() error {
	if err := catalog.Check("train: solver", c.Name, "adam", "adamw", "rmsprop", "sgd"); err != nil {
		return err
	}
	check := catalog.Checker{Where: "train: solver " + c.Name}
	_, given := c.LR.Given()
	check.That(given && c.LR.Value >= 0 && c.LR.Value <= 1e6, "lr", c.LR, "a number from 0")
	check.That(c.WeightDecay >= 0 && c.WeightDecay <= 1e6, "weight_decay", c.WeightDecay, "a number from 0")
	check.That(c.Dampening >= 0 && c.Dampening <= 1, "dampening", c.Dampening, "a share from 0 to 1")
	check.That(c.Eps >= 0 && c.Eps <= 1 && (c.Name == "sgd" || c.Eps > 0), "eps", c.Eps,
		"a number above 0, at most 1 (start from DefaultSolver: an all-zero gradient would give 0/0)")
	for _, s := range []struct {
		name, of         string
		value, otherwise float64
	}{{"momentum", "sgd and rmsprop", c.Momentum, 0}, {"beta1", "adam and adamw", c.Beta1, 0.9},
		{"beta2", "adam and adamw", c.Beta2, 0.999}, {"alpha", "rmsprop", c.Alpha, 0.99},
		{"dampening", "sgd", c.Dampening, 0}} {
		check.That(s.value >= 0 && (s.value < 1 || s.name == "dampening"), s.name, s.value, "a share below 1")
		mine := slices.Contains(strings.Fields(s.of), c.Name)
		check.That(mine || s.value == 0 || s.value == s.otherwise, s.name, s.value, "0: it is a setting of "+s.of)
	}
	check.That(!c.AMSGrad || c.HasBeta1(), "amsgrad", c.AMSGrad, "false: it is a setting of adam and adamw")
	check.That(!c.Centered || c.Name == "rmsprop", "centered", c.Centered, "false: it is a setting of rmsprop")
	check.That(!c.Nesterov || c.Name == "sgd", "nesterov", c.Nesterov, "false: it is a setting of sgd")
	check.That(!c.Nesterov || c.Momentum > 0 && c.Dampening == 0, "nesterov", c.Nesterov,
		"false, or a momentum above 0 and dampening 0")
	return check.Err
}

// bufferNames names the values that the solver keeps for every weight, in the order of [ParamState].
func (c SolverConfig) bufferNames() []string {
	var names []string
	add := func(when bool, name string) {
		if when {
			names = append(names, name)
		}
	}
	switch c.Name {
	case "adam", "adamw":
		names = append(names, "mean", "square")
		add(c.AMSGrad, "largest square")
	case "rmsprop":
		names = append(names, "square")
		add(c.Centered, "mean")
	}
	add(c.Momentum > 0, "velocity")
	return names
}
