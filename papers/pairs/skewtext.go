package pairs

import (
	"fmt"
	"io"

	"winnow/internal/text"
)

// fewPairs is the number of pairs of a bin below which r_b is uncertain: chance alone changes 100 by a tenth.
const fewPairs = 100

// Text writes the result as tables.
func (r Skew) Text(out io.Writer) error {
	fmt.Fprintf(out, "%s: %d batches of %d training images, %d classes; α = %v, β = %v\n", r.Name(), r.Batches,
		r.Rows/max(r.Batches, 1), r.Classes, r.Margin, r.Beta)
	fmt.Fprintf(out, "%d positive and %d negative pairs\n", r.Positives, r.Negatives)
	w := text.NewTable(out)
	w.Row("\ntriplet loss", "pairs taken", "most", "least", "η", fmt.Sprintf("noise below, K = %d", r.Classes),
		"many classes (eq. 27)")
	for _, m := range []struct {
		name string
		of   Mined
	}{{"random semi-hard", r.Random}, {"fixed semi-hard", r.Fixed}} {
		if m.of.Eta == nil {
			w.Row(m.name, "0", "–", "–", "–", "–", "–")
			continue
		}
		l := m.of.Limit
		w.Row(
			m.name,
			fmt.Sprint(m.of.Pairs),
			text.Number(m.of.Most),
			formatSmallest(m.of.Taken, ""),
			text.Number(l.Eta),
			text.Percent(l.Bound),
			text.Percent(l.LargeK),
		)
	}
	m := r.Marginal
	w.Row("\nmarginal loss", "pairs that cost", "most", "least")
	w.Row("positive", fmt.Sprint(m.Positive.Pairs), formatLargest(m.Positive, " = η₊"), formatSmallest(m.Positive, ""))
	w.Row("negative", fmt.Sprint(m.Negative.Pairs), formatLargest(m.Negative, ""), formatSmallest(m.Negative, " = η₋"))
	if err := w.Flush(); err != nil {
		return err
	}
	if l := m.Limit; l != nil {
		fmt.Fprintf(out, "γ = η₋/η₊ = %s: noise below %s (%s for many classes, eq. 37); for Q ≥ 1/2 below %s "+
			"(%s)\n",
			text.Number(*m.Gamma), text.Percent(l.Bound), text.Percent(l.LargeK), text.Percent(l.Half),
			text.Percent(l.HalfLargeK))
		if *m.Gamma > 1 {
			fmt.Fprintln(out, "the paper assumes γ ≤ 1: the bounds are those of γ = 1")
		}
	}
	for _, t := range []Taken{r.Random.Taken, r.Fixed.Taken, m.Positive, m.Negative} {
		if t.Pairs > 0 && t.Rests < fewPairs {
			fmt.Fprintf(out, "* from fewer than %d pairs: more batches make it more certain\n", fewPairs)
			break
		}
	}
	return nil
}

// formatLargest returns the largest rate.
func formatLargest(t Taken, name string) string {
	if t.Pairs == 0 {
		return "–"
	}
	return text.Number(t.Most) + name
}

// formatSmallest returns the smallest rate, marked if it is from few pairs.
func formatSmallest(t Taken, name string) string {
	switch {
	case t.Pairs == 0:
		return "–"
	case t.Rests < fewPairs:
		name = "*" + name
	}
	return text.Number(t.Least) + name
}
