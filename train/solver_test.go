package train

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/features"
)

// solverCases returns all solvers, each with every setting that changes its arithmetic.
func solverCases() map[string]SolverConfig {
	with := func(name string, change func(*SolverConfig)) SolverConfig {
		c := DefaultSolver(name)
		change(&c)
		return c
	}
	return map[string]SolverConfig{
		"sgd":           DefaultSolver("sgd"),
		"sgd decay":     with("sgd", func(c *SolverConfig) { c.WeightDecay = 0.1 }),
		"sgd momentum":  with("sgd", func(c *SolverConfig) { c.Momentum = 0.9; c.WeightDecay = 1e-2 }),
		"sgd dampening": with("sgd", func(c *SolverConfig) { c.Momentum = 0.8; c.Dampening = 0.3 }),
		"sgd nesterov": with("sgd",
			func(c *SolverConfig) { c.Momentum = 0.9; c.Nesterov = true; c.WeightDecay = 1e-3 }),
		"adam":              DefaultSolver("adam"),
		"adam decay":        with("adam", func(c *SolverConfig) { c.WeightDecay = 5e-2 }),
		"adam amsgrad":      with("adam", func(c *SolverConfig) { c.AMSGrad = true }),
		"adamw":             with("adamw", func(c *SolverConfig) { c.WeightDecay = 0.1 }),
		"adamw amsgrad":     with("adamw", func(c *SolverConfig) { c.AMSGrad = true }),
		"rmsprop":           DefaultSolver("rmsprop"),
		"rmsprop decay":     with("rmsprop", func(c *SolverConfig) { c.WeightDecay = 1e-2 }),
		"rmsprop momentum":  with("rmsprop", func(c *SolverConfig) { c.Momentum = 0.9; c.Alpha = 0.9 }),
		"rmsprop centered":  with("rmsprop", func(c *SolverConfig) { c.Centered = true; c.Momentum = 0.5 }),
		"rmsprop small eps": with("rmsprop", func(c *SolverConfig) { c.Eps = 1e-30 }),
	}
}

// slowSolver follows torch's documentation literally for one weight and the list of its gradients. It returns the last
// weight, and in reach the largest absolute value of the weight.
func slowSolver(c SolverConfig, x float64, gradients []float64, lr float64) (last, reach float64) {
	var v, m, sq, top float64
	for i, g := range gradients {
		reach = max(reach, math.Abs(x))
		t := float64(i + 1)
		if c.Name == "adamw" {
			x = x - lr*c.WeightDecay*x
		} else {
			g = g + c.WeightDecay*x
		}
		switch c.Name {
		case "sgd":
			if c.Momentum != 0 {
				if i == 0 {
					v = g
				} else {
					v = c.Momentum*v + (1-c.Dampening)*g
				}
				if c.Nesterov {
					g = g + c.Momentum*v
				} else {
					g = v
				}
			}
			x -= lr * g
		case "adam", "adamw":
			m = c.Beta1*m + (1-c.Beta1)*g
			sq = c.Beta2*sq + (1-c.Beta2)*g*g
			top = math.Max(top, sq)
			use := sq
			if c.AMSGrad {
				use = top
			}
			mHat, vHat := m/(1-math.Pow(c.Beta1, t)), use/(1-math.Pow(c.Beta2, t))
			x -= lr * mHat / (math.Sqrt(vHat) + c.Eps)
		case "rmsprop":
			sq = c.Alpha*sq + (1-c.Alpha)*g*g
			use := sq
			if c.Centered {
				m = c.Alpha*m + (1-c.Alpha)*g
				use -= m * m
			}
			r := g / (math.Sqrt(math.Max(use, 0)) + c.Eps)
			if c.Momentum != 0 {
				v = c.Momentum*v + r
				r = v
			}
			x -= lr * r
		}
	}
	return x, max(reach, math.Abs(x))
}

// fixedGradients returns gradients that do not depend on the weights, so that each weight can be computed separately.
func fixedGradients(n, steps int) [][]float32 {
	rng := rand.New(rand.NewPCG(3, 4))
	out := make([][]float32, steps)
	for s := range out {
		out[s] = make([]float32, n)
		for i := range out[s] {
			switch i % 7 {
			case 0: // this weight's gradient is always 0
			case 1:
				out[s][i] = float32(rng.NormFloat64() * 1e-12)
			case 2:
				out[s][i] = float32(rng.NormFloat64() * 1e6)
			default:
				out[s][i] = float32(rng.NormFloat64())
			}
		}
	}
	return out
}

// train32 runs a solver over the gradients.
func train32(t testing.TB, s Solver, p *features.Param, gradients [][]float32, lr float64) {
	t.Helper()
	for _, g := range gradients {
		copy(p.Grad, g)
		s.Step([]*features.Param{p}, lr)
	}
}

func testParam(n int) *features.Param {
	p := features.NewParam("w", 1, n)
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range p.Data {
		p.Data[i] = float32(rng.NormFloat64())
	}
	return p
}

func mustSolver(t testing.TB, c SolverConfig) Solver {
	t.Helper()
	s, err := NewSolver(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// offLoops returns the largest difference, relative to reach, between a solver with rate lr and slowSolver with rate
// believed.
func offLoops(t *testing.T, c SolverConfig, lr, believed float64) (worst float64) {
	const n, steps = 1111, 6
	gradients := fixedGradients(n, steps)
	p, start := testParam(n), testParam(n)
	train32(t, mustSolver(t, c), p, gradients, lr)
	for i := range n {
		history := make([]float64, steps)
		for s := range history {
			history[s] = float64(gradients[s][i])
		}
		want, reach := slowSolver(c, float64(start.Data[i]), history, believed)
		d := math.Abs(float64(p.Data[i])-want) / reach
		if math.IsNaN(d) {
			return math.Inf(1)
		}
		worst = max(worst, d)
	}
	return worst
}

func TestSolverAgainstLoops(t *testing.T) {
	for name, c := range solverCases() {
		if d := offLoops(t, c, 0.01, 0.01); d > 3e-6 {
			t.Errorf("%s: differs by %.3g", name, d)
		}
		if d := offLoops(t, c, 0.01, 0.01001); d < 3e-6 {
			t.Errorf("%s: a relative error of 1/1000 in the rate goes unnoticed (%.3g)", name, d)
		}
	}
}

// Vector instructions and the scalar loop give the same numbers.
func TestFastUpdateAgreesWithScalar(t *testing.T) {
	const n = 3*blockWeights + 5
	gradients := fixedGradients(n, 5)
	for name, c := range solverCases() {
		if !c.isVectorised() {
			continue
		}
		fast, slow := testParam(n), testParam(n)
		bufs := [2][][]float32{}
		for k := range bufs {
			bufs[k] = newSolverSlot(len(c.bufferNames()), n).buffers
		}
		for s, g := range gradients {
			u := c.prepareUpdate(0.01, s+1, false)
			fastUpdate(u, fast.Data, g, bufs[0])
			applyUpdate(u, slow.Data, g, bufs[1])
		}
		for i := range fast.Data {
			if d := math.Abs(float64(fast.Data[i]) - float64(slow.Data[i])); !(d <= 1e-6) {
				t.Fatalf("%s: weight %d: %v by vector code, %v by scalar code", name, i, fast.Data[i], slow.Data[i])
			}
		}
	}
}

func TestSolverDoesNotDependOnCores(t *testing.T) {
	const n = 3*blocksPerCore*blockWeights + 77
	gradients := fixedGradients(n, 2)
	for name, c := range solverCases() {
		var first []float32
		for _, cores := range []int{1, 2, 3} {
			old := runtime.GOMAXPROCS(cores)
			p := testParam(n)
			train32(t, mustSolver(t, c), p, gradients, 0.01)
			runtime.GOMAXPROCS(old)
			if first == nil {
				first = p.Data
			} else if !slices.Equal(first, p.Data) {
				t.Errorf("%s: different weights with %d cores", name, cores)
			}
		}
	}
}

func TestSolverStateGoesOnExactly(t *testing.T) {
	const n = 700
	gradients := fixedGradients(n, 6)
	for name, c := range solverCases() {
		whole := testParam(n)
		train32(t, mustSolver(t, c), whole, gradients, 0.01)
		part, first := testParam(n), mustSolver(t, c)
		train32(t, first, part, gradients[:3], 0.01)
		data, err := json.Marshal(first.State())
		if err != nil {
			t.Fatal(err)
		}
		var state SolverState
		if err := json.Unmarshal(data, &state); err != nil {
			t.Fatal(err)
		}
		second := mustSolver(t, c)
		if err := second.SetState(state, []*features.Param{part}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(state, second.State()); diff != "" {
			t.Errorf("%s: the state changed when it was copied: %s", name, diff)
		}
		for i := range state.Params {
			for _, b := range state.Params[i].Buffers {
				clear(b) // SetState must have copied the state
			}
		}
		train32(t, second, part, gradients[3:], 0.01)
		if !slices.Equal(whole.Data, part.Data) {
			t.Errorf("%s: a resumed run ends with different weights", name)
		}
		fresh, forgetful := testParam(n), mustSolver(t, c)
		train32(t, mustSolver(t, c), fresh, gradients[:3], 0.01)
		train32(t, forgetful, fresh, gradients[3:], 0.01)
		if len(c.bufferNames()) > 0 && slices.Equal(whole.Data, fresh.Data) {
			t.Errorf("%s: a lost state goes unnoticed", name)
		}
	}
}

func TestSolverTreatsParametersApart(t *testing.T) {
	c := DefaultSolver("adamw")
	c.WeightDecay = 0.5
	s := mustSolver(t, c)
	weight, bias := testParam(3), testParam(3)
	weight.Name, bias.Name, bias.NoDecay = "weight", "bias", true
	before := slices.Clone(bias.Data)
	s.Step([]*features.Param{weight, bias}, 0.1) // without gradients only weight decay changes parameters
	if !slices.Equal(bias.Data, before) {
		t.Errorf("decay moved a parameter without decay: %v, was %v", bias.Data, before)
	}
	if want := before[0] * 0.95; math.Abs(float64(weight.Data[0]-want)) > 1e-7 {
		t.Errorf("weight after decay %v, expected %v", weight.Data[0], want)
	}
	names := []string{}
	for _, p := range s.State().Params {
		names = append(names, fmt.Sprint(p.Name, p.Steps))
	}
	if diff := cmp.Diff([]string{"bias1", "weight1"}, names); diff != "" {
		t.Error(diff)
	}
}
