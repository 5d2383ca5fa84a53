package run

import (
	"errors"
	"fmt"

	"winnow/head"
	"winnow/run/config"
	"winnow/train"
	"winnow/train/peers"
	"winnow/train/selective"
)

// MethodTitle names a method: by what it is called with, or in full where that would say more than it does.
func MethodTitle(method string) string {
	if title := selective.Title(method); title != "" {
		return title
	}
	return method
}

// openMethod builds what a method other than metric trains, and puts its loss and groups into the run.
func openMethod(tc *train.Config, h *head.Head, cfg config.Run, data Data) (closingEncoder, error) {
	if cfg.IsSelective() {
		return openSelective(tc, h, cfg, data)
	}
	return openPeers(tc, h, cfg, data)
}

// openPeers builds the networks of a method of package peers, and puts their loss and groups into the run. h is the
// first network's head.
func openPeers(tc *train.Config, h *head.Head, cfg config.Run, data Data) (closingEncoder, error) {
	epoch := tc.Sampler.Batches()
	networks, err := peers.New(cfg.Peers.In(cfg.Method, epoch), peers.Input{
		Head: h, Train: data.Train, Stored: data.Stored, Classes: len(data.Classes), Batch: tc.Sampler.Size(), Clock: tc.Clock, Seed: cfg.Seed,
	})
	if err != nil {
		return nil, err
	}
	tc.Terms = []train.Term{networks.Term()}
	tc.Groups, err = networks.Groups(tc.Steps,
		func() (train.Solver, error) { return train.NewSolver(cfg.Solver) },
		func(steps int) (train.Schedule, error) {
			return train.NewSchedule(cfg.Schedule.In(epoch), cfg.Solver.LR, steps, epoch)
		})
	if err != nil {
		return nil, errors.Join(err, networks.Close())
	}
	return networks, nil
}

// DescribeMethod says in a line what a method other than metric does with labels that look wrong. stored are the views
// of each image.
func DescribeMethod(cfg config.Run, stored int) string {
	p := cfg.Peers
	switch {
	case cfg.IsSelective():
		return describeSelective(cfg, stored)
	case cfg.Method == peers.CrossEntropy:
		return "cross-entropy takes every label at its word"
	case cfg.Method == peers.FCorrection && p.Transition == peers.Estimated:
		return fmt.Sprintf("f-correction trains a network for %s to see which classes are mistaken for which, and then another", p.FirstStage)
	case cfg.Method == peers.FCorrection:
		return fmt.Sprintf("f-correction takes %.0f %% of the labels to be wrong, %s (set by --noise-rate and peers.transition)", 100*p.Rate, p.Transition)
	}
	return fmt.Sprintf("%s: each of two networks leaves out what the other finds hardest, in the end %.0f %% of the labels (set by --noise-rate)", cfg.Method, 100*p.Rate)
}
