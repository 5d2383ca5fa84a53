package folder

import (
	"context"
	"fmt"
	"io"
	"slices"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
)

// Comparison holds the retrieval metrics of the trained head and of embeddings without training, on the same images.
type Comparison struct {
	FineTuned bool   `json:"finetuned,omitempty"` // the network was trained together with the head
	Known     string `json:"-"`                   // how training used these images: [ChoseState], [Learned], or ""

	Frozen   eval.Retrieval `json:"frozen"`   // the stored features
	Whitened eval.Retrieval `json:"whitened"` // their PCA whitening to the head's dimension, which uses no label
	Trained  eval.Retrieval `json:"trained"`

	Rows []Row `json:"rows,omitempty"` // the three in this order; set by [Compare]
}

// Row holds what a row of the printed comparison shows, with 95 % intervals over the queries.
type Row struct {
	Name         string          `json:"name"`
	PrecisionAt1 eval.Difference `json:"precision_at_1"`
	MAPAtR       eval.Difference `json:"map_at_r"`
}

// Values of Comparison.Known: how training used the images, as part of a sentence.
const (
	ChoseState = "that chose its state"
	Learned    = "that it was trained on"
)

// Verdict returns a sentence that compares the trained head with embeddings without training, by P@1 or, if only it is
// better, by MAP@R. "Better" needs images that training did not use, and a difference whose 95 % interval over the
// queries is above 0 ([eval.Paired], [eval.PairedMeans]).
func (c Comparison) Verdict() string {
	what := "the trained head"
	if c.FineTuned {
		what = "the fine-tuned network"
	}
	trained, white, frozen := c.Trained.PrecisionAt1, c.Whitened.PrecisionAt1, c.Frozen.PrecisionAt1
	values := fmt.Sprintf("P@1 %.4f, frozen %.4f, whitened %.4f", trained, frozen, white)
	if n := len(c.Trained.Hits); n < datasets.LeastChoosing && !isCertain(eval.Paired(c.Frozen.Hits, c.Trained.Hits)) &&
		!isCertain(eval.Paired(c.Whitened.Hits, c.Trained.Hits)) {
		values += fmt.Sprintf("; %d images cannot tell this from chance", n)
	}
	switch {
	case c.ranksBetter() && c.Better() != "yes" && (c.Known == "" || trained <= max(white, frozen)):
		known := ""
		if c.Known != "" {
			known = ", on the images " + c.Known
		}
		return fmt.Sprintf("%s is better than untrained features by MAP@R (%.4f, frozen %.4f, whitened %.4f); by P@1 "+
			"it is not shown to be (%s)%s", what, c.Trained.MAPAtR, c.Frozen.MAPAtR, c.Whitened.MAPAtR, values[4:],
			known)
	case trained <= white && trained <= frozen:
		return fmt.Sprintf("%s is NOT better than untrained features (%s)", what, values)
	case trained <= white:
		return fmt.Sprintf("%s is NOT better than whitening, which uses no labels (%s)", what, values)
	case trained <= frozen:
		return fmt.Sprintf("%s is NOT better than the frozen features (%s)", what, values)
	case c.Known != "":
		return fmt.Sprintf("%s has P@1 %.4f on the images %s (frozen %.4f, whitened %.4f): only other images show "+
			"how good it is (winnow eval on a test split)", what, trained, c.Known, frozen, white)
	}
	overFrozen, overWhite := eval.Paired(c.Trained.Hits, c.Frozen.Hits), eval.Paired(c.Trained.Hits, c.Whitened.Hits)
	over := func(name string, d eval.Difference) string {
		return fmt.Sprintf("%s (P@1 %+.4f, 95 %%: %+.4f to %+.4f)", name, d.Mean, d.Low, d.High)
	}
	stored, whitens := over("the frozen features", overFrozen), over("whitening, which uses no labels", overWhite)
	switch {
	case isCertain(overFrozen, overWhite):
		return fmt.Sprintf("%s is better than %s and %s", what, stored, whitens)
	case isCertain(overFrozen):
		return fmt.Sprintf("%s is better than %s; it is NOT shown to be better than %s", what, stored, whitens)
	case isCertain(overWhite):
		return fmt.Sprintf("%s is better than %s; it is NOT shown to be better than %s", what, whitens, stored)
	}
	return fmt.Sprintf("%s is NOT shown to be better than %s or %s", what, stored, whitens)
}

func isCertain(over ...eval.Difference) bool {
	return !slices.ContainsFunc(over, func(d eval.Difference) bool { return d.Low <= 0 })
}

// ranksBetter reports whether the MAP@R of the trained head is certainly higher than without training.
func (c Comparison) ranksBetter() bool {
	return isCertain(eval.PairedMeans(c.Trained.Precisions, c.Frozen.Precisions),
		eval.PairedMeans(c.Trained.Precisions, c.Whitened.Precisions))
}

// Better returns whether the trained head has a higher P@1: "yes", "no" or "not shown", or "" if it is better only by
// MAP@R or only on images that training used.
func (c Comparison) Better() string {
	switch {
	case c.Trained.PrecisionAt1 <= max(c.Whitened.PrecisionAt1, c.Frozen.PrecisionAt1) && c.ranksBetter():
		return ""
	case c.Trained.PrecisionAt1 <= max(c.Whitened.PrecisionAt1, c.Frozen.PrecisionAt1):
		return "no"
	case c.Known != "":
		return ""
	case isCertain(eval.Paired(c.Trained.Hits, c.Frozen.Hits), eval.Paired(c.Trained.Hits, c.Whitened.Hits)):
		return "yes"
	}
	return "not shown"
}

// makeRows returns the rows of the printed comparison.
func (c Comparison) makeRows() (rows []Row) {
	for _, row := range []struct {
		name string
		r    eval.Retrieval
	}{{FrozenRow, c.Frozen}, {WhitenedRow, c.Whitened}, {TrainedRow, c.Trained}} {
		right := 0
		for _, hit := range row.r.Hits {
			if hit {
				right++
			}
		}
		all := eval.PairedMeans(row.r.Precisions, nil)
		all.Low, all.High = max(all.Low, 0), min(all.High, 1)
		rows = append(rows, Row{row.name, eval.Share(right, max(len(row.r.Hits), 1)), all})
	}
	return rows
}

// Print writes the rows on a split as a table.
func (c Comparison) Print(w io.Writer, split string) {
	fmt.Fprintf(w, "%-10s  %6s  %-16s  %6s  %s\n", split, "P@1", "95 %", "MAP@R", "95 %")
	for _, row := range c.makeRows() {
		first, all := row.PrecisionAt1, row.MAPAtR
		fmt.Fprintf(w, "%-10s  %6.4f  %6.4f to %6.4f  %6.4f  %6.4f to %6.4f\n", row.Name, first.Mean, first.Low,
			first.High, all.Mean, all.Low, all.High)
	}
}

// Asked holds the queries, the gallery (nil if the queries are the gallery), and the set that metrics are fitted on
// (nil if no metric is fitted).
type Asked[S features.Source] struct {
	Query   S
	Gallery *S
	Same    eval.Same // the queries that are also in the gallery
	Fit     *S
}

// Embedded returns a copy whose sets are embedded.
func (a Asked[S]) Embedded(by func(features.Source) (features.Set, error)) (Asked[features.Set], error) {
	out := Asked[features.Set]{Same: a.Same}
	for _, part := range []struct {
		from *S
		to   **features.Set
	}{{a.Gallery, &out.Gallery}, {a.Fit, &out.Fit}} {
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
	out.Query, err = by(a.Query)
	return out, err
}

// The rows of a comparison.
const (
	FrozenRow   = "frozen"
	WhitenedRow = "whitened"
	TrainedRow  = "trained"
)

// EachRow calls visit with the frozen, whitened and trained embeddings of the same images. train and stored hold
// features of the backbone before fine-tuning. tuned holds features after fine-tuning, equal to stored without it.
func EachRow[S features.Source](ctx context.Context, h *head.Head, train S, stored, tuned Asked[S],
	visit func(row string, of Asked[features.Set]) error) error {
	white, err := head.Whitening(ctx, train, h.Config().Out, h.Config().Bias)
	if err != nil {
		return err
	}
	return visitRows(ctx, h, white, stored, tuned, visit)
}

// visitRows does the same as EachRow, with white as the whitening of the training features.
func visitRows[S features.Source](ctx context.Context, h, white *head.Head, stored, tuned Asked[S],
	visit func(row string, of Asked[features.Set]) error) error {
	for _, row := range []struct {
		name  string
		embed func(features.Source) (features.Set, error)
		of    Asked[S]
	}{
		{FrozenRow, func(s features.Source) (features.Set, error) { return EmbedFrozen(ctx, s) }, stored},
		{WhitenedRow, func(s features.Source) (features.Set, error) { return white.EmbedSet(ctx, s) }, stored},
		{TrainedRow, func(s features.Source) (features.Set, error) { return h.EmbedSet(ctx, s) }, tuned},
	} {
		of, err := row.of.Embedded(row.embed)
		if err != nil {
			return err
		}
		if err := visit(row.name, of); err != nil {
			return err
		}
	}
	return nil
}

// Untrained holds the P@1 of a set of images in embeddings without training.
type Untrained struct {
	Frozen   float64 `json:"frozen"`
	Whitened float64 `json:"whitened"`
}

// MaxMem is the limit in bytes for similarities in memory while a training validates. It is lower than the limit of
// winnow eval, because the training itself needs memory.
const MaxMem = 1 << 27

// MeasureUntrained measures retrieval with the stored features of images and with their whitening, like [Compare].
func MeasureUntrained(ctx context.Context, white *head.Head, stored features.Set) (*Untrained, error) {
	var u Untrained
	for _, row := range []struct {
		to    *float64
		embed func() (features.Set, error)
	}{
		{&u.Frozen, func() (features.Set, error) { return EmbedFrozen(ctx, stored) }},
		{&u.Whitened, func() (features.Set, error) { return white.EmbedSet(ctx, stored) }},
	} {
		z, err := row.embed()
		if err != nil {
			return nil, err
		}
		r, err := eval.Retrieve(ctx, z, nil, eval.RetrievalOptions{K: []int{1}, MaxMem: MaxMem})
		if err != nil {
			return nil, err
		}
		*row.to = r.PrecisionAt1
	}
	return &u, nil
}

// Compare measures retrieval among images in all three embeddings. white is the whitening of the training features.
func Compare(ctx context.Context, h, white *head.Head, stored, tuned features.Set, opts eval.RetrievalOptions) (
	Comparison, error) {
	var c Comparison
	to := map[string]*eval.Retrieval{FrozenRow: &c.Frozen, WhitenedRow: &c.Whitened, TrainedRow: &c.Trained}
	was, now := Asked[features.Set]{Query: stored}, Asked[features.Set]{Query: tuned}
	err := visitRows(ctx, h, white, was, now, func(row string, of Asked[features.Set]) (err error) {
		*to[row], err = eval.Retrieve(ctx, of.Query, of.Gallery, opts)
		return err
	})
	c.Rows = c.makeRows()
	return c, err
}

// EmbedFrozen returns the stored features normalised to length 1. A row of zeros, which a network may compute for a
// blank image, stays zero, as in [head.Head.Embed].
func EmbedFrozen(ctx context.Context, of features.Source) (features.Set, error) {
	unit := of.Bare()
	unit.X = features.NewMatrix(of.Len(), of.Dim())
	x, err := of.Part(ctx, &unit.X.Data, 0, of.Len())
	if err != nil {
		return unit, err
	}
	copy(unit.X.Data, x.Data) // needed for a set in memory; a store has read into unit.X
	for i := range unit.Len() {
		row := unit.X
		row.Rows, row.Data = 1, unit.Row(i)
		if slices.ContainsFunc(row.Data, func(v float32) bool { return v != 0 }) {
			if err := features.Normalize(row); err != nil {
				return unit, fmt.Errorf("stored features of image %d: %w", unit.IDs[i], err)
			}
		}
	}
	return unit, nil
}
