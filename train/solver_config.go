package train

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/catalog"
)

// SolverConfig names a solver and its settings, with torch's meaning. A setting that the solver does not have
// must be zero or its default, so that a misplaced one is an error and not ignored. Start from [DefaultSolver]:
// zero means zero.
type SolverConfig struct {
	Name string `yaml:"name" json:"name"` // sgd | adam | adamw | rmsprop
	// initial rate of the schedule; Step receives the rate of its step
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

// LearningRate is a rate ≥ 0, or one that the run chooses before the first step: it uses and records a number.
// Solvers need a number.
type LearningRate struct {
	Value  float64
	Choose Choice
}

// Choice says how a run chooses a rate.
type Choice string

// The choices; the zero value is a rate that is given.
const (
	ByTest Choice = "auto"  // by a range test
	Usual  Choice = "usual" // for what is trained
)

// GivenLR returns a rate that is given.
func GivenLR(rate float64) LearningRate { return LearningRate{Value: rate} }

// UnmarshalText reads a rate.
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

// Given returns the rate; ok is false while it is to be chosen.
func (r LearningRate) Given() (rate float64, ok bool) { return r.Value, r.Choose == "" }

// String returns the rate as written in a file.
func (r LearningRate) String() string {
	if r.Choose != "" {
		return string(r.Choose)
	}
	return strconv.FormatFloat(r.Value, 'g', -1, 64)
}

// solvers lists the settings of each solver besides lr and weight_decay.
var solvers = map[string][]string{
	"sgd":     {"momentum", "dampening", "nesterov"},
	"adam":    {"beta1", "beta2", "amsgrad", "eps"},
	"adamw":   {"beta1", "beta2", "amsgrad", "eps"},
	"rmsprop": {"alpha", "momentum", "centered", "eps"},
}

// DefaultSolver returns torch's defaults. It does not check the name; validate does. (torch has no default rate
// for sgd: 0.01 here.)
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
func (c SolverConfig) HasBeta1() bool { return slices.Contains(solvers[c.Name], "beta1") }

// validateSolver returns an error for the first invalid setting, in one line.
func (c SolverConfig) validateSolver() error {
	if err := catalog.Check("train: solver", c.Name, slices.Sorted(maps.Keys(solvers))...); err != nil {
		return err
	}
	if _, given := c.LR.Given(); !given {
		return fmt.Errorf("train: solver %s: lr: found %s, expected a number", c.Name, c.LR)
	}
	has := solvers[c.Name]
	for _, s := range c.solverSettings() {
		mine := s.everywhere || slices.Contains(has, s.name)
		if !mine && s.value != 0 && s.value != s.otherwise {
			return fmt.Errorf("train: solver %s: setting %q is unknown: known are lr, weight_decay, %s", c.Name, s.name,
				strings.Join(has, ", "))
		}
		if mine && !(s.value >= 0 && s.value <= s.most) {
			return fmt.Errorf("train: solver %s: %s: found %v, expected a number from 0 to %.4g", c.Name, s.name,
				s.value, s.most)
		}
	}
	if c.Nesterov && (c.Momentum == 0 || c.Dampening != 0) {
		return fmt.Errorf("train: solver %s: nesterov: found momentum %v and dampening %v, expected a momentum "+
			"and no dampening", c.Name, c.Momentum, c.Dampening)
	}
	if c.Name != "sgd" && c.Eps == 0 {
		return fmt.Errorf("train: solver %s: eps: found 0, expected more (start from DefaultSolver: an all-zero "+
			"gradient would give 0/0)", c.Name)
	}
	return nil
}

type solverSetting struct {
	name        string
	value, most float64
	otherwise   float64 // the default, which a solver without this setting may have
	everywhere  bool
}

func (c SolverConfig) solverSettings() []solverSetting {
	one := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	below1 := math.Nextafter(1, 0)
	return []solverSetting{
		{name: "lr", value: c.LR.Value, most: 1e6, everywhere: true},
		{name: "weight_decay", value: c.WeightDecay, most: 1e6, everywhere: true},
		{name: "momentum", value: c.Momentum, most: below1},
		{name: "dampening", value: c.Dampening, most: 1},
		{name: "nesterov", value: one(c.Nesterov), most: 1},
		{name: "beta1", value: c.Beta1, most: below1, otherwise: 0.9},
		{name: "beta2", value: c.Beta2, most: below1, otherwise: 0.999},
		{name: "amsgrad", value: one(c.AMSGrad), most: 1},
		{name: "alpha", value: c.Alpha, most: below1, otherwise: 0.99},
		{name: "centered", value: one(c.Centered), most: 1},
		{name: "eps", value: c.Eps, most: 1, otherwise: 1e-8},
	}
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
