package run

import (
	"context"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// fillBank fills the memory bank before the first step with training images as the head embeds their stored features,
// each once, in a drawn order, until the bank is full. A filter then judges the first batches by a network that has not
// seen a wrong label yet, instead of keeping them all. A resumed run uses the bank of its checkpoint.
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

// embedRemembered embeds the images of set that the memory bank is filled with; time counts earlier fillings.
func (r *Training) embedRemembered(
	ctx context.Context,
	h *head.Head,
	set features.Set,
	time int,
) (features.Set, error) {
	var rows []int
	for _, row := range train.Rand(r.Config.Seed, "bank", time).Perm(set.Len()) {
		if set.Labels[row] >= 0 && len(rows) < r.loop.Bank.Cap() {
			rows = append(rows, row)
		}
	}
	return h.EmbedSet(ctx, set.Rows(rows))
}
