package run

import (
	"context"

	"winnow/features"
	"winnow/head"
	"winnow/run/config"
	"winnow/run/tuning"
	"winnow/train"
)

// newRefit returns the settings for replacing the head once during fine-tuning by the whitening of the network's
// current features. It returns nil for a network or a head that started from random weights, and for losses with
// proxies, which fit the old head only.
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

// beginAgain sets the head to the whitening of the network's current features, and fills the memory bank again.
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
