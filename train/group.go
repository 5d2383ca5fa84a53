package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"winnow/features"
)

// Names of groups. The metrics contain the learning rate of each group.
const (
	BackboneGroup = "backbone"
	HeadGroup     = "head"
	PeerGroup     = "peer" // a second network that learns along with the first
	LossGroup     = "loss" // the losses' own parameters: proxies, class weights, thresholds

	PeerBackboneGroup = "peer backbone" // the second network's backbone, if backbones learn
)

// Group is a set of parameters stepped by one solver. Every parameter of the encoder and of the losses is in
// exactly one.
type Group struct {
	// BackboneGroup, HeadGroup, PeerGroup, PeerBackboneGroup or LossGroup; used in metrics and checkpoints
	Name     string
	Params   []*features.Param
	Solver   Solver
	Schedule Schedule // its step 0 is step Start of the run
	Start    int      // first step (from 1; 0 means 1) that moves the group; earlier gradients are ignored
	Stop     int      // last step that moves the group; 0: the last step of the run
}

// group is a Group with what the trainer needs at every step.
type group struct {
	Group
	encoder []*features.Param // the encoder's parameters, whose gradients are clipped
	losses  []*features.Param // the losses' parameters
	placed  *placedSolver     // steps the encoder's parameters on their device; nil: they are in Go's memory
	squares []float64         // Σ gradient² of each encoder parameter; if placed, one sum over all of them
	moved   []*features.Param // parameters moved by the last step that was not skipped
}

// runsAt reports whether step (from 1) moves the group.
func (g *group) runsAt(step int) bool { return step >= g.Start && (g.Stop == 0 || step <= g.Stop) }

// eachRunning calls do for every group that a step moves, concurrently for groups on a device and for the others.
func eachRunning(groups []group, step int, do func(*group, int) error) error {
	if slices.ContainsFunc(groups, func(g group) bool { return g.placed != nil }) {
		var here error
		var meanwhile sync.WaitGroup
		meanwhile.Go(func() { here = eachGroup(groups, false, step, do) })
		there := eachGroup(groups, true, step, do)
		meanwhile.Wait()
		return errors.Join(there, here)
	}
	return eachGroup(groups, false, step, do)
}

// eachGroup calls do for the groups that a step moves: for those on a device if placed, otherwise for the others.
func eachGroup(groups []group, placed bool, step int, do func(*group, int) error) (err error) {
	for i := range groups {
		if g := &groups[i]; (g.placed != nil) == placed && g.runsAt(step) {
			err = errors.Join(err, do(g, step))
		}
	}
	return err
}

// squareGradients computes g.squares from the gradients of the encoder's parameters.
func (g *group) squareGradients(int) error {
	g.squares = g.squares[:0]
	if g.placed != nil {
		sum, err := g.placed.place.Run(squaresProgram, features.AllWeights, nil)
		g.squares = append(g.squares, sum)
		return err
	}
	for _, p := range g.encoder {
		g.squares = append(g.squares, sumSquares(p.Grad))
	}
	return nil
}

// stepGroup moves the group's parameters in a step (from 1) in which the group runs. Parameters with a zero gradient
// stay, because momentum and weight decay would otherwise move them. The encoder's parameters move together if any of
// their gradients is non-zero. The parameters of each loss move separately, because some losses may be inactive.
func (g *group) stepGroup(step int) error {
	g.moved = g.moved[:0]
	if g.placed != nil && g.squares[0] > 0 || g.placed == nil && slices.ContainsFunc(g.encoder, isPulled) {
		g.moved = append(g.moved, g.encoder...)
	}
	for _, p := range g.losses {
		if isPulled(p) {
			g.moved = append(g.moved, p)
		}
	}
	if len(g.moved) == 0 {
		return nil
	}
	if beta1 := g.Schedule.Beta1At(step - g.Start); beta1 > 0 {
		g.Solver.(beta1Solver).setBeta1(beta1)
	}
	g.Solver.Step(g.moved, g.groupRate(step))
	if g.placed != nil {
		return g.placed.err
	}
	return nil
}

func isPulled(p *features.Param) bool { return !allZero(p.Grad) }

// groupRate returns the group's learning rate in a step (from 1), or 0 if the step does not move the group.
func (g *group) groupRate(step int) float64 {
	if !g.runsAt(step) {
		return 0
	}
	return g.Schedule.At(step - g.Start)
}

// putInPlace makes a group step its parameters on the device if place holds them. It leaves the solver unchanged if
// [NewSolver] did not make it.
func (g *group) putInPlace(place features.Place) error {
	own, ok := g.Solver.(*solver)
	if place == nil || !ok || len(own.slots) > 0 || !slices.Equal(g.Params, place.Params()) {
		return nil
	}
	s, err := NewPlacedSolver(own.cfg, place)
	if err != nil {
		return err
	}
	g.Solver, g.placed = s, s.(*placedSolver)
	return nil
}

// newGroups prepares the groups of a run. It returns an error unless every parameter is in exactly one group.
func newGroups(list []Group, encoder, losses []*features.Param, place features.Place, steps int) ([]group, error) {
	left := map[*features.Param]bool{}
	for _, p := range slices.Concat(encoder, losses) {
		left[p] = true
	}
	groups := make([]group, len(list))
	for i, g := range list {
		g.Start = cmp.Or(g.Start, 1)
		if g.Solver == nil || g.Start < 1 || g.Start > steps || g.Stop != 0 && (g.Stop < g.Start || g.Stop > steps) {
			return nil, fmt.Errorf("train: group %q: found steps %d to %d, expected a solver and steps of the %d of "+
				"the run", g.Name, g.Start, g.Stop, steps)
		}
		if g.Schedule.Beta1 > 0 && !hasBeta1(g.Solver) {
			return nil, fmt.Errorf("train: group %q: the schedule changes beta1, which the solver does not have: "+
				"expected adam or adamw", g.Name)
		}
		groups[i] = group{Group: g}
		for _, p := range g.Params {
			if !left[p] {
				return nil, fmt.Errorf("train: group %q: parameter %q is also in another group, or is neither the "+
					"encoder's nor a loss's", g.Name, p.Name)
			}
			left[p] = false
			if slices.Contains(encoder, p) {
				groups[i].encoder = append(groups[i].encoder, p)
			} else {
				groups[i].losses = append(groups[i].losses, p)
			}
		}
		if err := groups[i].putInPlace(place); err != nil {
			return nil, err
		}
	}
	for _, p := range slices.Concat(encoder, losses) {
		if left[p] {
			return nil, fmt.Errorf("train: parameter %q is in no group, so no solver would step it", p.Name)
		}
	}
	return groups, nil
}

// clipGradients scales the gradients of all encoder parameters that a step moves by one factor, so that their global
// norm is at most limit (0: no limit), like torch's clip_grad_norm_. It returns the norm before scaling.
func clipGradients(groups []group, step int, limit float64) (float64, error) {
	norm, err := encoderNorm(groups, step)
	factor := 1.
	if limit > 0 && norm > limit {
		factor = limit / norm
	}
	for i := range groups {
		switch g := &groups[i]; {
		case g.placed != nil:
			g.placed.clip = factor
		case factor != 1 && g.runsAt(step):
			for _, p := range g.encoder {
				scaleVector(factor, p.Grad)
			}
		}
	}
	return norm, err
}
