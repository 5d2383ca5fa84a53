package run

import (
	"context"
	"maps"
	"time"

	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// Settings of range tests.
const (
	rangeSteps = 40  // number of steps of a test
	fraction   = 0.5 // the chosen rate, as a fraction of the rate with the lowest loss
)

// findRates finds learning rates by range tests (Smith 2017, section 3.3): short trainings whose rate rises at each
// step. It first tests the head's rate with a frozen network, then the network's rate while the head trains at the rate
// just found. Each test is repeated on the same batches with the tested weights frozen. The difference of the losses is
// the effect of the rate, without the noise of easy and hard batches. The tests leave the training's state unchanged.
func (r *Training) findRates(ctx context.Context) error {
	if !r.Config.NeedsLR() {
		return nil
	}
	start, usual, moves, found := time.Now(), config.Default(), map[string]train.Schedule{}, &folder.RateTest{}
	at, end := r.options.Watch("steps of testing learning rates")
	defer end()
	tests := []rateTest{
		{train.HeadGroup, &r.Config.Solver, r.Config.Schedule, usual.Solver.LR.Value, &found.Head},
		{train.BackboneGroup, &r.Config.BackboneSolver, r.Config.BackboneSchedule, usual.BackboneSolver.LR.Value,
			&found.Backbone},
	}
	if !r.isTuned() {
		tests = tests[:1]
	}
	all := 0
	for _, t := range tests {
		if t.solver.LR.Choose == train.ByTest {
			all += 2 * rangeSteps
		}
	}
	step := func() { found.Steps++; at(found.Steps, all) }
	for _, t := range tests {
		if t.solver.LR.Choose == train.ByTest {
			curve, err := r.testRate(ctx, t, moves, step)
			if err != nil {
				return err
			}
			found.Add(t.group, curve)
			rate := max(train.FindRate(curve, fraction, t.getUsualRate()).Rate, t.schedule.Min, t.schedule.WarmupFrom)
			t.solver.LR, *t.found = train.GivenLR(rate), &rate
		}
		moves[t.group] = train.Schedule{ScheduleConfig: train.ScheduleConfig{Name: "constant"}, LR: t.solver.LR.Value,
			Total: rangeSteps, Epoch: rangeSteps}
	}
	found.Seconds = time.Since(start).Seconds()
	r.Rates, r.loop.Identity = found, r.listIdentity()
	return nil
}

// rateTest is the test of the learning rate of one parameter group.
type rateTest struct {
	group    string
	solver   *train.SolverConfig
	schedule config.Schedule
	usual    float64 // default rate of the group
	found    **float64
}

// limitRates returns the range of rates to test. Solvers other than SGD normalise their steps, so that each step moves
// a weight by about the rate; their range is lower.
func (t rateTest) limitRates() (from, to float64) {
	if t.solver.Name == "sgd" {
		return 1e-4, 10
	}
	return 1e-6, 0.1
}

// getUsualRate returns the rate to use after an inconclusive test.
func (t rateTest) getUsualRate() float64 {
	if t.solver.Name == "sgd" {
		return train.DefaultSolver(t.solver.Name).LR.Value
	}
	return t.usual
}

// testRate runs one test. The groups of moves train too, with their schedules.
func (r *Training) testRate(ctx context.Context, t rateTest, moves map[string]train.Schedule, step func()) (
	[]train.RangePoint, error) {
	from, to := t.limitRates()
	rise := train.Rising(from, to, rangeSteps)
	still, err := r.probeRates(ctx, moves, step)
	if err != nil {
		return nil, err
	}
	with := maps.Clone(moves)
	with[t.group] = rise
	losses, err := r.probeRates(ctx, with, step)
	return train.Range(rise, losses, still), err
}

// probeRates trains for one test and returns the loss of each step. It uses the run's encoder and builds all other
// parts anew. Head and network are frozen unless they are in moves.
func (r *Training) probeRates(ctx context.Context, moves map[string]train.Schedule, step func()) ([]float64, error) {
	p := *r
	p.onlyTested()
	_, networkMoves := moves[train.BackboneGroup]
	if err := p.buildConfig(); err != nil {
		return nil, err
	}
	p.loop.Steps, p.loop.Observe, p.loop.Encoder = rangeSteps, train.On(
		func(train.Step) { step() },
	), p.newVisitEncoder()
	for i := range p.loop.Terms {
		p.loop.Terms[i].Start = 1
	}
	if err := p.fillBank(ctx); err != nil {
		return nil, err
	}
	var err error
	if p.loop.Groups, err = p.buildGroups(p.encoder); err != nil {
		return nil, err
	}
	for i, g := range p.loop.Groups {
		if s, moves := moves[g.Name]; moves {
			p.loop.Groups[i].Schedule = s
		}
	}
	r.resting = func() bool { return !networkMoves }
	defer func() { r.resting = nil }()
	return train.Probe(ctx, p.loop)
}

// onlyTested changes the configuration for a test: rates are constant, and 0 for head and network. The memory bank is
// filled, because in so few steps losses between the images of a batch vary too much.
func (r *Training) onlyTested() {
	c := &r.Config
	c.Schedule, c.LossSchedule, c.BackboneSchedule = config.Schedule{}, config.Schedule{}, config.Schedule{}
	c.Solver.LR, c.BackboneSolver.LR, c.Finetune.Start = train.LearningRate{}, train.LearningRate{}, config.Span{}
	c.Bank.Fill = c.Bank.Size > 0
}
