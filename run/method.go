package run

import (
	"context"
	"errors"

	"winnow/head"
	"winnow/run/tuning"
	"winnow/train"
	"winnow/train/peers"
	"winnow/train/selective"
)

// openPeers builds the networks of a method of package peers, and replaces the run's losses and groups by theirs. The
// first network trains the run's head.
func (r *Training) openPeers(ctx context.Context) (tuning.Encoder, error) {
	cfg := r.Config.Peers.In(r.Config.Method, r.Epoch)
	networks, err := peers.New(ctx, cfg, peers.Input{
		Head: r.head, Train: r.Data.Train, Stored: r.Data.Stored, Classes: len(r.Data.Classes), Batch: r.sampler.Size(),
		Clock: r.clock, Seed: r.Config.Seed,
		Encoder: func(h *head.Head, peer bool) (peers.Encoder, error) {
			in := r.newEncoderInput()
			if in.Raw = true; peer {
				in.Peer = train.Rand(r.Config.Seed, "peer backbone", 0)
			} else if cfg.Estimates() { // the first network trains after the second, from the end of the first stage
				rests := cfg.FirstStage + r.Config.Finetune.Start.In(r.Epoch)
				in.Resting = func() bool { return r.resting == nil && r.clock.Step() <= rests }
			}
			return r.backbone.Encoder(ctx, h, in)
		},
	})
	if err != nil {
		return nil, err
	}
	r.loop.Terms = []train.Term{networks.Term()}
	r.loop.Groups, err = networks.Groups(r.loop.Steps, r.Config.Finetune.Start.In(r.Epoch), r.solverOf)
	if err != nil {
		return nil, errors.Join(err, networks.Close())
	}
	return networks, nil
}

// openSelective builds the learner of a method of package selective, and replaces the run's losses and groups by its.
func (r *Training) openSelective(ctx context.Context) (tuning.Encoder, error) {
	in := selective.Input{
		Head: r.head, Train: r.Data.Train, Stored: r.Data.Stored, Classes: len(r.Data.Classes), Batch: r.sampler.Size(),
		Clock: r.clock, Seed: r.Config.Seed,
	}
	if on, tuned := r.backbone.(*tuning.Live); tuned {
		images, err := on.Images(ctx, r.newEncoderInput())
		if err != nil {
			return nil, err
		}
		in.Live = images
	}
	learner, err := selective.New(r.Config.Selective.In(r.Config.Method, r.Epoch), in)
	if err != nil {
		return nil, err
	}
	solver, schedule, err := r.solverOf(train.HeadGroup, r.loop.Steps)
	if err != nil {
		return nil, errors.Join(err, learner.Close())
	}
	r.loop.Terms = []train.Term{learner.Term()}
	r.loop.Groups = []train.Group{learner.Group(solver, schedule)}
	if params := learner.Backbone(); len(params) > 0 {
		start := r.Config.Finetune.Start.In(r.Epoch)
		solver, schedule, err := r.solverOf(train.BackboneGroup, r.loop.Steps-start)
		if err != nil {
			return nil, errors.Join(err, learner.Close())
		}
		r.loop.Groups = append(r.loop.Groups, train.Group{Name: train.BackboneGroup, Params: params, Solver: solver,
			Schedule: schedule, Start: start + 1})
	}
	return learner, nil
}

// solverOf builds the solver and the schedule of a parameter group that is trained for this number of steps.
func (r *Training) solverOf(group string, steps int) (train.Solver, train.Schedule, error) {
	solver, schedule := r.Config.Solver, r.Config.Schedule
	switch group {
	case train.LossGroup:
		solver, schedule = r.Config.LossSolver, r.Config.LossSchedule
	case train.BackboneGroup, train.PeerBackboneGroup:
		solver, schedule = r.Config.BackboneSolver, r.Config.BackboneSchedule
	}
	made, err := train.NewSolver(solver)
	if err != nil {
		return nil, train.Schedule{}, err
	}
	planned, err := train.NewSchedule(schedule.In(r.Epoch), solver.LR.Value, steps, r.Epoch)
	return made, planned, err
}
