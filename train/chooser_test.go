package train

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// choosy is a loss that learns from the rows 0, 2 and 4.
type choosy struct{ fakeLoss }

func (c choosy) Chosen() []int { return []int{0, 2, 4} }

func newChoosy() choosy {
	return choosy{func(g *blas32.General, z features.Set, _ *features.Set) float64 {
		clear(g.Data)
		for i := 0; i < 6; i += 2 {
			g.Data[i*g.Stride] = 1
		}
		return 1
	}}
}

// Observers and metrics receive the rows that a Chooser selects, and a Chooser must be the only term.
func TestChoosersAreHeard(t *testing.T) {
	dir := t.TempDir()
	b := newBed(t, dir, func(c *Config) {
		c.Terms, c.Groups, c.Filter, c.Bank, c.Steps, c.Validate = []Term{{Name: "choosy", Loss: newChoosy(),
			Weight: 1}}, c.Groups[:1], nil, nil, 3, nil
	})
	if _, err := b.trainer(t).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, f := range b.facts {
		if !slices.Equal(f.Kept, []int{0, 2, 4}) {
			t.Errorf("step %d: kept %v", f.Number, f.Kept)
		}
	}
	if text := string(read(t, dir, MetricsFile)); strings.Count(text, `"rows":24,"kept":3,"kept_share":0.125`) != 3 {
		t.Errorf("metrics:\n%s", text)
	}
	b = newBed(t, "", func(c *Config) { c.Terms[0].Loss = newChoosy() })
	if _, err := New(b.cfg); err == nil || !strings.Contains(err.Error(),
		"train: a loss that chooses its rows must be the only term, without filter and bank: found 4 terms, a "+
			"filter: true, a bank: true") {
		t.Error(err)
	}
}

// A group moves as usual until its Stop step and keeps its weights afterwards.
func TestGroupsStop(t *testing.T) {
	run := func(stop int) (after map[int]float32, rates map[int]float64) {
		after, rates = map[int]float32{}, map[int]float64{}
		b, e := newDeepBed(t, "", func(c *Config) { c.Groups[0].Stop = stop; c.Groups[0].Start = 1 })
		b.cfg.Observe = Together(b.cfg.Observe, On(func(s Step) {
			after[s.Number], rates[s.Number] = e.b.Data[0], s.BackboneLR
		}))
		if _, err := must(New(b.cfg)).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return after, rates
	}
	whole, _ := run(0)
	cut, rates := run(20)
	if cut[20] != whole[20] || cut[21] != cut[20] || cut[45] != cut[20] || whole[45] == whole[20] ||
		cut[19] == cut[20] {
		t.Errorf("a weight after steps 19, 20, 21, 45: %v, %v, %v, %v; without a stop after 20, 45: %v, %v", cut[19],
			cut[20], cut[21], cut[45], whole[20], whole[45])
	}
	if rates[20] == 0 || rates[21] != 0 {
		t.Errorf("rates %v, %v", rates[20], rates[21])
	}
}

// The solver uses the schedule's beta1: the weights equal those of an Adam solver whose beta1 is changed by hand
// between two steps, as in torch.
func TestBeta1ChangesWithTheSchedule(t *testing.T) {
	const steps = 12
	gradient := func(step int) float32 { return float32(step%5) - 1.3 }
	g := group{Group: Group{Start: 1, Schedule: must(NewSchedule(ScheduleConfig{Name: "linear", Hold: 0.5, Beta1: 0.1},
		1e-2, steps, 3)), Solver: must(NewSolver(DefaultSolver("adam")))}}
	p := features.NewParam("w", 1, 600)
	g.Params, g.encoder = []*features.Param{p}, []*features.Param{p}
	var x, m, v, b1, b2 = 0.0, 0.0, 0.0, 0.9, 0.999

	for step := 1; step <= steps; step++ {
		for i := range p.Grad {
			p.Grad[i] = gradient(step)
		}
		must(0, g.stepGroup(step))
		lr := 1e-2
		if e := (step - 1) / 3; e >= 2 {
			b1, lr = 0.1, 1e-2*float64(4-e)/2
		}
		d := float64(gradient(step))
		m, v = b1*m+(1-b1)*d, b2*v+(1-b2)*d*d
		x -= lr * (m / (1 - math.Pow(b1, float64(step)))) / (math.Sqrt(v/(1-math.Pow(b2, float64(step)))) + 1e-8)
		for _, i := range []int{0, 599} {
			if far := float64(p.Data[i]) - x; far > 1e-6 || far < -1e-6 {
				t.Fatalf("step %d: weight %v, expected %v", step, p.Data[i], x)
			}
		}
	}
}
