package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"winnow/audit/judges"
	"winnow/internal/catalog"
	"winnow/train"
	"winnow/train/peers"
	"winnow/train/selective"
)

// Validate checks all values and their combinations. It also completes the settings of the losses. Package run makes
// the checks that depend on the data: dimensions, classes, the length of an epoch.
func (c *Run) Validate() error {
	for _, check := range []func() error{
		c.checkMethod, c.checkLosses, c.checkHead, c.checkFilter, c.checkSelfPaced, c.checkVariant,
		c.checkSolvers, c.Finetune.checkFinetune, c.checkRest,
	} {
		if err := check(); err != nil {
			return fmt.Errorf("config: %w", err)
		}
	}
	return nil
}

// checkMethod returns an error for an unknown method and for settings of another method.
func (c *Run) checkMethod() error {
	if known := Methods(); !slices.Contains(known, c.Method) {
		return fmt.Errorf("method: found %q%s, expected %s", c.Method, catalog.Ask(c.Method, known),
			strings.Join(known, ", "))
	}
	switch {
	case !c.HasPeers() && c.Peers != defaultPeers(Metric):
		return fmt.Errorf("peers: found settings of another method than %s, expected none: name it with method",
			c.Method)
	case !c.IsSelective() && c.Selective != Selective{}:
		return fmt.Errorf("selective: found settings of another method than %s, expected none: name it with method",
			c.Method)
	case c.Method == Metric:
		return nil
	}
	if err := c.refuseMetric(); err != nil {
		return err
	}
	if c.IsSelective() {
		return c.Selective.In(c.Method, 1).Validate()
	}
	if c.Validation.Patience > 0 && c.Method == peers.FCorrection && c.Peers.Transition == peers.Estimated {
		return fmt.Errorf("validation.patience: found %d, expected 0: the first stage of %s does not train the "+
			"validated head", c.Validation.Patience, c.Method)
	}
	return c.checkPeers()
}

// Methods lists all methods.
func Methods() []string {
	return slices.Concat([]string{Metric}, peers.Methods(), selective.Methods())
}

func (c *Run) checkPeers() error {
	p := c.Peers
	if p.FirstStage.N > 0 {
		p.FirstStage = Steps(1) // the run checks the length when it knows the data
	}
	p.Rate.Auto = false // an automatic rate is estimated from the data
	return p.In(c.Method, 1).Validate()
}

func (c *Run) checkHead() error {
	h := c.Head
	h.In = cmp.Or(h.In, 1) // the dimension of the features is unknown here
	return h.Validate()
}

func (c *Run) checkSolvers() error {
	if err := c.checkAutoLR(); err != nil {
		return err
	}
	for _, s := range []struct {
		key      string
		solver   train.SolverConfig
		schedule Schedule
	}{
		{"solver", c.Solver, c.Schedule}, {"loss_solver", c.LossSolver, c.LossSchedule},
		{"backbone_solver", c.BackboneSolver, c.BackboneSchedule},
	} {
		if _, given := s.solver.LR.Given(); !given {
			s.solver.LR = train.GivenLR(1e6) // any valid number: the run chooses the rate
		}
		if _, err := train.NewSolver(s.solver); err != nil {
			return fmt.Errorf("%s: %w", s.key, err)
		}
		if s.schedule.Beta1 > 0 && !s.solver.HasBeta1() {
			return fmt.Errorf("the schedule of %s: beta1: found %v, but %s has none: expected adam or adamw, or 0",
				s.key, s.schedule.Beta1, s.solver.Name)
		}
		schedule := s.schedule.ScheduleConfig
		schedule.Warmup, schedule.Milestones = 0, nil // the run checks lengths when it knows the data
		if _, err := train.NewSchedule(schedule, s.solver.LR.Value, 1, 1); err != nil {
			return fmt.Errorf("the schedule of %s: %w", s.key, err)
		}
	}
	return nil
}

// checkAutoLR returns an error for automatic learning rates that a range test cannot find.
func (c *Run) checkAutoLR() error {
	tested := c.Solver.LR.Choose == train.ByTest || c.BackboneSolver.LR.Choose == train.ByTest
	switch {
	case tested && c.Method != Metric:
		return fmt.Errorf("solver.lr, backbone_solver.lr: expected numbers: the objective of %s changes during "+
			"training, so a test of its first steps cannot find a rate", c.Method)
	case c.LossSolver.LR.Choose == train.ByTest, c.LossSolver.LR.Choose == train.Usual,
		c.Solver.LR.Choose == train.Usual:
		return fmt.Errorf("solver.lr %s, loss_solver.lr %s: expected numbers, or solver.lr=auto", c.Solver.LR,
			c.LossSolver.LR)
	case c.BackboneSolver.LR.Choose == train.ByTest && !c.Finetune.On():
		return fmt.Errorf("backbone_solver.lr: found %s, but no backbone is trained: expected a number, or "+
			"finetune.weights", c.BackboneSolver.LR)
	}
	return nil
}

// NeedsLR reports whether learning rates are to be tested.
func (c *Run) NeedsLR() bool {
	return c.Solver.LR.Choose == train.ByTest || c.BackboneSolver.LR.Choose == train.ByTest && c.Finetune.On()
}

// maxBank is the largest size of the memory bank; a larger number is probably a typing error.
const maxBank = 1 << 26

func (c *Run) checkRest() error {
	if _, err := c.Sampler.New([]int{0, -1}, 0); err != nil {
		return err
	}
	if n := c.Sampler.Unlabelled; n > 0 && !c.usesUnlabelled() {
		return fmt.Errorf("sampler.unlabelled: found %d, but no loss of the run learns from images without a label: "+
			"expected 0, or the loss %s", n, strings.Join(lossesThat(needsNoLabels), ", "))
	}
	switch {
	case c.Screen != NoScreen && !slices.Contains(judges.Names(), c.Screen):
		return fmt.Errorf("screen: found %q%s, expected %s or %s", c.Screen, catalog.Ask(c.Screen, judges.Names()),
			strings.Join(judges.Names(), ", "), NoScreen)
	case c.Length.N <= 0 && !c.Length.Auto:
		return fmt.Errorf("length: found %s, expected for example \"20 epochs\", or auto", c.Length)
	case c.Bank.Size < 0 || c.Bank.Size > maxBank:
		return fmt.Errorf("bank.size: found %d, expected 0 to %d vectors", c.Bank.Size, maxBank)
	case !(c.Clip >= 0):
		return fmt.Errorf("clip: found %v, expected a norm, or 0 for none", c.Clip)
	case c.Validation.Every.N <= 0:
		return fmt.Errorf("validation.every: found %s, expected for example \"1 epoch\"", c.Validation.Every)
	case c.Validation.Measure != MeasureP1 && c.Validation.Measure != MeasureClassMean:
		return fmt.Errorf("validation.measure: found %q, expected %s or %s", c.Validation.Measure, MeasureP1,
			MeasureClassMean)
	case !(c.Validation.HoldOut >= 0 && c.Validation.HoldOut <= 0.5) && c.Validation.HoldOut != AutoHoldOut:
		return fmt.Errorf("validation.hold_out: found %v, expected a share of the training images from 0 (none) to 0.5",
			c.Validation.HoldOut)
	case c.Validation.Patience < 0:
		return fmt.Errorf("validation.patience: found %d, expected 0 or more validations", c.Validation.Patience)
	case c.LogEvery < 1:
		return fmt.Errorf("log_every: found %d, expected at least 1 step", c.LogEvery)
	case c.Sampler.Rows > 1<<20:
		return fmt.Errorf("sampler: batches of %d rows, expected at most %d", c.Sampler.Rows, 1<<20)
	case c.Sampler.Classes > 1<<20 || c.Sampler.Images > 1<<20 || c.Sampler.Classes*c.Sampler.Images > 1<<20:
		return fmt.Errorf("sampler: batches of %d×%d rows, expected at most %d", c.Sampler.Classes, c.Sampler.Images,
			1<<20)
	}
	return nil
}
