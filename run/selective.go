package run

import (
	"errors"
	"fmt"

	"winnow/head"
	"winnow/run/config"
	"winnow/train"
	"winnow/train/selective"
)

// openSelective builds the learner of a method of package selective, and puts its loss and group into the run.
func openSelective(tc *train.Config, h *head.Head, cfg config.Run, data Data) (closingEncoder, error) {
	epoch := tc.Sampler.Batches()
	learner, err := selective.New(cfg.Selective.In(cfg.Method, epoch), selective.Input{
		Head: h, Train: data.Train, Stored: data.Stored, Classes: len(data.Classes), Batch: tc.Sampler.Size(), Clock: tc.Clock, Seed: cfg.Seed,
	})
	if err != nil {
		return nil, err
	}
	solver, err := train.NewSolver(cfg.Solver)
	if err != nil {
		return nil, errors.Join(err, learner.Close())
	}
	schedule, err := train.NewSchedule(cfg.Schedule.In(epoch), cfg.Solver.LR, tc.Steps, epoch)
	if err != nil {
		return nil, errors.Join(err, learner.Close())
	}
	tc.Terms = []train.Term{learner.Term()}
	tc.Groups = []train.Group{learner.Group(solver, schedule)}
	return learner, nil
}

// describeSelective says in a line what a method of package selective does with labels that look wrong.
func describeSelective(cfg config.Run, stored int) string {
	s := cfg.Selective
	of := "features"
	if stored > 1 {
		of = fmt.Sprintf("one of the %d stored views, drawn,", stored)
	}
	views := fmt.Sprintf("views are %s under noise of %v deviations and dropout of %v", of, s.View.Noise, s.View.Dropout)
	if cfg.Method == selective.SelCL {
		return fmt.Sprintf("%s: after %s without labels each epoch selects, of every class, the rows whose neighbours agree with their label; %s", selective.Title(cfg.Method), s.WarmUp, views)
	}
	return fmt.Sprintf("%s: after %s each epoch believes a label as far as it fits the classes' centres, and the network's own prediction for the rest; %s", selective.Title(cfg.Method), s.WarmUp, views)
}
