package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"winnow/eval"
	"winnow/features"
	"winnow/head"
)

// comparison measures the trained head beside what needs no training at all, on the same images.
type comparison struct {
	FineTuned bool `json:"finetuned,omitempty"` // the row "trained" is that of a network trained with its head

	Frozen   eval.Retrieval `json:"frozen"`   // the features themselves
	Whitened eval.Retrieval `json:"whitened"` // their PCA whitening to the head's dimension, which uses no label
	Trained  eval.Retrieval `json:"trained"`
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
	what := "the trained head"
	if c.FineTuned {
		what = "the fine-tuned network"
	}
	trained, white, frozen := c.Trained.PrecisionAt1, c.Whitened.PrecisionAt1, c.Frozen.PrecisionAt1
	switch {
	case trained > white && trained > frozen:
		return fmt.Sprintf("%s is better than the frozen features (P@1 %+.4f) and than whitening (%+.4f)", what, trained-frozen, trained-white)
	case trained > white:
		return fmt.Sprintf("%s is NOT better than the frozen features as they are (P@1 %.4f, frozen %.4f)", what, trained, frozen)
	case trained > frozen:
		return fmt.Sprintf("%s is NOT better than whitening, which uses no labels (P@1 %.4f, whitened %.4f)", what, trained, white)
	}
	return fmt.Sprintf("%s is NOT better than features nobody trained (P@1 %.4f, frozen %.4f, whitened %.4f)", what, trained, frozen, white)
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

// asked is who asks whom; gallery is nil where the queries are their own, fit where nothing is fitted.
type asked struct {
	query   features.Set
	gallery *features.Set
	fit     *features.Set
}

// embedded is asked with every set through an embedding.
func (a asked) embedded(by func(features.Set) (features.Set, error)) (asked, error) {
	out := asked{}
	for _, part := range []struct {
		from *features.Set
		to   **features.Set
	}{{a.gallery, &out.gallery}, {a.fit, &out.fit}} {
		if part.from == nil {
			continue
		}
		set, err := by(*part.from)
		if err != nil {
			return out, err
		}
		*part.to = &set
	}
	var err error
	out.query, err = by(a.query)
	return out, err
}

// The rows of a comparison.
const (
	frozenRow   = "frozen"
	whitenedRow = "whitened"
	trainedRow  = "trained"
)

// eachEmbedding calls visit with the frozen, whitened and trained embeddings of the same images: stored and train are
// features of the backbone as it was before the run, tuned those of the images as it is now, the same where it was
// not trained.
func eachEmbedding(h *head.Head, train features.Set, stored, tuned asked, visit func(row string, of asked) error) error {
	linear := h.Config()
	linear.Hidden, linear.Init = nil, head.Whiten
	white, err := head.New(linear, train.X, nil)
	if err != nil {
		return err
	}
	for _, row := range []struct {
		name  string
		embed func(features.Set) (features.Set, error)
		of    asked
	}{
		{frozenRow, frozen, stored},
		{whitenedRow, func(s features.Set) (features.Set, error) { return embed(white, s) }, stored},
		{trainedRow, func(s features.Set) (features.Set, error) { return embed(h, s) }, tuned},
	} {
		of, err := row.of.embedded(row.embed)
		if err != nil {
			return err
		}
		if err := visit(row.name, of); err != nil {
			return err
		}
	}
	return nil
}

// compareTuned measures retrieval with each of them.
func compareTuned(ctx context.Context, h *head.Head, train features.Set, stored, tuned asked, opts eval.RetrievalOptions) (comparison, error) {
	var c comparison
	to := map[string]*eval.Retrieval{frozenRow: &c.Frozen, whitenedRow: &c.Whitened, trainedRow: &c.Trained}
	err := eachEmbedding(h, train, stored, tuned, func(row string, of asked) (err error) {
		*to[row], err = eval.Retrieve(ctx, of.query, of.gallery, opts)
		return err
	})
	return c, err
}

// frozen is the stored features as they are, on the unit sphere. A row of zeros, as a network may give for a blank
// image, has no direction and stays as it is, like nothing else: [head.Head.Embed] leaves one so, too.
func frozen(set features.Set) (features.Set, error) {
	unit := set.Rows(allRows(set.Len()))
	for i := range unit.Len() {
		row := unit.X
		row.Rows, row.Data = 1, unit.Row(i)
		if slices.ContainsFunc(row.Data, func(v float32) bool { return v != 0 }) {
			if err := features.Normalize(row); err != nil {
				return unit, fmt.Errorf("stored features of image %d: %w", set.IDs[i], err)
			}
		}
	}
	return unit, nil
}
