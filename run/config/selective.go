package config

import (
	"slices"

	"winnow/train"
	"winnow/train/selective"
)

// Selective is a [selective.Config] whose lengths are spans. It is empty for methods of other packages.
type Selective struct {
	selective.Config `yaml:",inline" hide:"method epoch warm_up queue_start second_stage"`

	WarmUp      Span `yaml:"warm_up"`      // span in which sel-cl uses no labels and tcl trusts all; whole epochs
	SecondStage Span `yaml:"second_stage"` // sel-cl: start of the second stage of Sel-CL+; whole epochs; 0: never
	QueueStart  Span `yaml:"queue_start"`  // sel-cl: span in which the queue of mixed rows only fills; whole epochs
}

// In returns the configuration of a method with spans converted to steps.
func (s Selective) In(method string, stepsPerEpoch int) selective.Config {
	c := s.Config
	whole := func(s Span) int { return (s.In(stepsPerEpoch) + stepsPerEpoch - 1) / stepsPerEpoch }
	c.Method, c.Epoch = method, stepsPerEpoch
	c.WarmUp, c.QueueStart, c.SecondStage = whole(s.WarmUp), whole(s.QueueStart), whole(s.SecondStage)
	return c
}

// HasPeers reports whether the method belongs to package peers.
func (c *Run) HasPeers() bool { return c.Method != Metric && !c.IsSelective() }

// IsSelective reports whether the method belongs to package selective.
func (c *Run) IsSelective() bool { return slices.Contains(selective.Methods(), c.Method) }

// defaultSelective returns the defaults of a method; the zero value for a method of another package.
func defaultSelective(method string) Selective {
	if !slices.Contains(selective.Methods(), method) {
		return Selective{}
	}
	c := selective.Default(method)
	s := Selective{Config: c, WarmUp: Epochs(float64(c.WarmUp))}
	if c.QueueStart > 0 {
		s.QueueStart = Epochs(float64(c.QueueStart))
	}
	s.Config.Method, s.Config.Epoch = "", 0 // In sets these
	s.Config.WarmUp, s.Config.QueueStart, s.Config.SecondStage = 0, 0, 0
	return s
}

// setSelective sets the published length, embedding, batch, solver and schedule of a method of package selective
// (METHODS 13). The schedule of TCL comes from its released settings.
func (c *Run) setSelective(method string) {
	c.Solver, c.Schedule = train.DefaultSolver("sgd"), Schedule{}
	c.Solver.Momentum = 0.9
	if method == selective.SelCL {
		c.Length, c.Head.Out, c.Sampler.Rows = LastsEpochs(250), 128, 128
		c.Solver.LR, c.Solver.WeightDecay = train.GivenLR(0.1), 1e-4
		c.Schedule.Name, c.Schedule.Gamma, c.Schedule.Milestones = "multistep", 0.1, []Span{Epochs(125), Epochs(200)}
		return
	}
	c.Length, c.Head.Out, c.Sampler.Rows = LastsEpochs(200), 256, 256
	c.Solver.LR, c.Solver.WeightDecay = train.GivenLR(0.03), 1e-3
	c.Schedule.Name, c.Schedule.Min = "cosine", 0.01
}
