package run

import (
	"context"

	"winnow/features"
	"winnow/head"
	"winnow/run/config"
	"winnow/run/tuning"
	"winnow/train"
)

// newRefit says when and how the head starts again, whitened by the features of the network at that time. It returns
// nil if the head does not: if the network or the head is drawn, or if losses learn proxies for the old head.
func (r *Training) newRefit() *train.Refit {
	after := r.Config.Finetune.Refit.In(r.Epoch)
	live, tuned := r.backbone.(*tuning.Live)
	if after == 0 || !tuned || live.Drawn || r.Config.Method != config.Metric || r.Config.Head.Drawn() {
		return nil
	}
	for _, term := range r.loop.Terms {
		if len(term.Params) > 0 {
			return nil
		}
	}
	return &train.Refit{After: r.Config.Finetune.Start.In(r.Epoch) + after, Do: r.beginAgain}
}

// beginAgain sets the head to the whitening of the network's present features, and fills the memory bank again.
func (r *Training) beginAgain(ctx context.Context) error {
	now, err := r.backbone.Now(ctx, r.Data.Train)
	if err != nil {
		return err
	}
	h, err := head.New(ctx, r.Config.Head, now.X, train.Rand(r.Config.Seed, "head", 1))
	if err != nil {
		return err
	}
	bank := r.loop.Bank
	var members features.Set
	if bank != nil && r.Config.Bank.Fill {
		if members, err = r.embedRemembered(ctx, h, now, 1); err != nil {
			return err
		}
	}
	for i, p := range r.head.Params() {
		copy(p.Data, h.Params()[i].Data)
	}
	if bank != nil {
		bank.Clear()
		bank.Push(members)
	}
	return nil
}
