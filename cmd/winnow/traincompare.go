package main

import (
	"context"
	"fmt"
	"io"

	"winnow/eval"
	"winnow/features"
	"winnow/head"
)

// comparison measures the trained head beside what needs no training at all, on the same images.
type comparison struct {
	Frozen   eval.Retrieval `json:"frozen"`   // the features themselves
	Whitened eval.Retrieval `json:"whitened"` // their PCA whitening to the head's dimension, which uses no label
	Trained  eval.Retrieval `json:"trained"`
}

// compareHeads ranks set against itself under the three. x are the training features, which whitening is
// computed from.
func compareHeads(ctx context.Context, h *head.Head, train, set features.Set) (comparison, error) {
	var c comparison
	frozen := set.Rows(allRows(set.Len()))
	if err := features.Normalize(frozen.X); err != nil {
		return c, err
	}
	linear := h.Config()
	linear.Hidden, linear.Init = nil, head.Whiten
	white, err := head.New(linear, train.X, nil)
	if err != nil {
		return c, err
	}
	if c.Frozen, err = eval.Retrieve(ctx, frozen, nil, eval.RetrievalOptions{}); err != nil {
		return c, err
	}
	for _, row := range []struct {
		head *head.Head
		to   *eval.Retrieval
	}{{white, &c.Whitened}, {h, &c.Trained}} {
		z, err := row.head.Embed(set.X)
		if err != nil {
			return c, err
		}
		if *row.to, err = eval.Retrieve(ctx, features.Set{X: z, Labels: set.Labels, IDs: set.IDs}, nil, eval.RetrievalOptions{}); err != nil {
			return c, err
		}
	}
	return c, nil
}

func allRows(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// verdict says in plain words whether training was worth it, by P@1.
func (c comparison) verdict() string {
	trained, white, frozen := c.Trained.PrecisionAt1, c.Whitened.PrecisionAt1, c.Frozen.PrecisionAt1
	switch {
	case trained > white && trained > frozen:
		return fmt.Sprintf("the trained head is better than the frozen features (P@1 %+.4f) and than whitening (%+.4f)", trained-frozen, trained-white)
	case trained > white:
		return fmt.Sprintf("the trained head is NOT better than the frozen features as they are (P@1 %.4f, frozen %.4f)", trained, frozen)
	case trained > frozen:
		return fmt.Sprintf("the trained head is NOT better than whitening, which uses no labels (P@1 %.4f, whitened %.4f)", trained, white)
	}
	return fmt.Sprintf("the trained head is NOT better than features nobody trained (P@1 %.4f, frozen %.4f, whitened %.4f)", trained, frozen, white)
}

// better says whether the trained head beats both.
func (c comparison) better() bool {
	return c.Trained.PrecisionAt1 > max(c.Whitened.PrecisionAt1, c.Frozen.PrecisionAt1)
}

func (c comparison) print(w io.Writer) {
	fmt.Fprintf(w, "%-10s %8s %8s %8s %8s\n", "validation", "P@1", "R-Prec", "MAP@R", "R@8")
	for _, row := range []struct {
		name string
		r    eval.Retrieval
	}{{"frozen", c.Frozen}, {"whitened", c.Whitened}, {"trained", c.Trained}} {
		fmt.Fprintf(w, "%-10s %8.4f %8.4f %8.4f %8.4f\n", row.name, row.r.PrecisionAt1, row.r.RPrecision, row.r.MAPAtR, row.r.Recall[8])
	}
}
