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

// LearningRate is a rate ≥ 0, [AutoLR] or [UsualLR].
type LearningRate float64

// AutoLR means that a range test chooses the rate before the first step; the run uses and records the result.
// Solvers do not accept it.
const AutoLR LearningRate = -1

// UsualLR means the usual rate for what is trained; the run uses and records a number. Solvers do not accept
// it.
const UsualLR LearningRate = -2

// Text forms of AutoLR and UsualLR.
const (
	autoWord  = "auto"
	usualWord = "usual"
)

// UnmarshalText reads a rate.
func (r *LearningRate) UnmarshalText(text []byte) error {
	if string(text) == autoWord {
		*r = AutoLR
		return nil
	}
	if string(text) == usualWord {
		*r = UsualLR
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("found %q, expected a finite number from 0, or %s", text, autoWord)
	}
	*r = LearningRate(v)
	return nil
}

// String returns the rate as written in a file.
func (r LearningRate) String() string {
	switch r {
	case AutoLR:
		return autoWord
	case UsualLR:
		return usualWord
	}
	return strconv.FormatFloat(float64(r), 'g', -1, 64)
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
	c := SolverConfig{Name: name, LR: 1e-3, Beta1: 0.9, Beta2: 0.999, Alpha: 0.99, Eps: 1e-8}
	switch name {
	case "sgd", "rmsprop":
		c.LR = 1e-2
	case "adamw":
		c.WeightDecay = 1e-2
	}
	return c
}

// HasBeta1 reports whether the configured solver has a β₁.
func (c SolverConfig) HasBeta1() bool { return slices.Contains(solvers[c.Name], "beta1") }

// validate returns an error for the first invalid setting, in one line.
func (c SolverConfig) validate() error {
	if err := catalog.Check("train: solver", c.Name, slices.Sorted(maps.Keys(solvers))...); err != nil {
		return err
	}
	has := solvers[c.Name]
	for _, s := range c.settings() {
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

func (c SolverConfig) settings() []solverSetting {
	one := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	below1 := math.Nextafter(1, 0)
	return []solverSetting{
		{name: "lr", value: float64(c.LR), most: 1e6, everywhere: true},
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

// buffers names the values that the solver keeps for every weight, in the order of [ParamState].
func (c SolverConfig) buffers() []string {
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
