package run

import (
	"context"

	"winnow/train"
)

// fillBank gives the memory bank the training images as the head embeds the stored features before the first step, each
// once, in a drawn order, as many as there is room for. A filter then judges the first batches by a network that has not
// seen a wrong label yet, instead of keeping them all; a resumed run takes the bank of its checkpoint.
func (r *training) fillBank(ctx context.Context) error {
	bank, set := r.config.Bank, r.data.Train
	if bank == nil || !r.cfg.Bank.Fill {
		return nil
	}
	var rows []int
	for _, row := range train.Rand(r.cfg.Seed, "bank", 0).Perm(set.Len()) {
		if set.Labels[row] >= 0 && len(rows) < bank.Cap() {
			rows = append(rows, row)
		}
	}
	z, err := r.head.EmbedSet(ctx, set.Rows(rows))
	if err != nil {
		return err
	}
	bank.Push(z)
	return nil
}
