package run

import (
	"context"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// fillBank fills the memory bank before the first step: the untrained head embeds the stored features of training
// images, each image once, in random order, until the bank is full. The filter can then score the first batches, by an
// embedding that has seen no wrong label, instead of keeping all their labels. A resumed run uses the bank of its
// checkpoint.
func (r *Training) fillBank(ctx context.Context) error {
	if r.loop.Bank == nil || !r.Config.Bank.Fill {
		return nil
	}
	z, err := r.embedRemembered(ctx, r.head, r.Data.Train, 0)
	if err != nil {
		return err
	}
	r.loop.Bank.Push(z)
	return nil
}

// embedRemembered draws labelled images of set to fill the memory bank, and embeds them. time is the number of earlier
// calls: each call draws other images.
func (r *Training) embedRemembered(ctx context.Context, h *head.Head, set features.Set, time int) (
	features.Set, error) {
	var rows []int
	for _, row := range train.Rand(r.Config.Seed, "bank", time).Perm(set.Len()) {
		if set.Labels[row] >= 0 && len(rows) < r.loop.Bank.Cap() {
			rows = append(rows, row)
		}
	}
	return h.EmbedSet(ctx, set.Rows(rows))
}
