package config

import (
	"winnow/train"
	"winnow/train/peers"
)

// Peers is a [peers.Config] whose lengths are spans.
type Peers struct {
	peers.Config `yaml:",inline" hide:"method epoch rate gradual warm_up first_stage"`

	Rate       Rate `yaml:"rate"`        // share of wrong labels
	Gradual    Span `yaml:"gradual"`     // co-teaching: span in which the share left out grows; whole epochs
	WarmUp     Span `yaml:"warm_up"`     // co-teaching-plus: span of plain co-teaching at the start; whole epochs
	FirstStage Span `yaml:"first_stage"` // f-correction, estimated: span of cross entropy at the start
}

// In returns the configuration of a method with spans converted to steps.
func (p Peers) In(method string, stepsPerEpoch int) peers.Config {
	c := p.Config
	whole := func(s Span) int { return (s.In(stepsPerEpoch) + stepsPerEpoch - 1) / stepsPerEpoch }
	c.Method, c.Epoch, c.FirstStage = method, stepsPerEpoch, p.FirstStage.In(stepsPerEpoch)
	c.Rate, c.Gradual, c.WarmUp = p.Rate.getShareOrUnknown(), whole(p.Gradual), whole(p.WarmUp)
	return c
}

// defaultPeers returns the defaults of a method, with the noise rate of the default filter.
func defaultPeers(method string) Peers {
	c := peers.Default(method)
	p := Peers{Config: c, Rate: Rate{Auto: true}, Gradual: Epochs(float64(c.Gradual)),
		WarmUp: Epochs(float64(c.WarmUp)), FirstStage: Epochs(float64(c.FirstStage))}
	p.Config.Rate, p.Config.Method, p.Config.Epoch = 0, "", 0 // In sets these
	p.Config.Gradual, p.Config.WarmUp, p.Config.FirstStage = 0, 0, 0
	return p
}

// setMethod sets the defaults of a method other than metric: no losses, bank or filter, and shuffled batches. Methods
// of package peers get the published solver and schedule of Co-teaching.
func (c *Run) setMethod(method string) {
	c.Method, c.Selective = method, defaultSelective(method)
	c.Losses, c.Bank.Size, c.Filter.Scorer = nil, 0, NoFilter
	c.Sampler = DefaultSampler(Shuffle)
	if c.IsSelective() {
		c.setSelective(method)
		return
	}
	c.Peers = defaultPeers(method)
	c.Solver = train.DefaultSolver("adam")
	c.Schedule.Name, c.Schedule.Hold, c.Schedule.Beta1 = "linear", 0.4, 0.1
}
