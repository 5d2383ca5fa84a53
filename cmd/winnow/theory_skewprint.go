package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"winnow/papers/theory/skew"
)

// fewPairs is how many pairs of a bin are too few to tell how often it is taken: their number is off by a tenth, as
// chance has it.
const fewPairs = 100

// printSkew is the result as a table.
func printSkew(out io.Writer, r skewResult) error {
	of := "frozen features"
	if r.Run != "" {
		of = r.Run + ", " + r.Head
		if r.Step != nil {
			of += fmt.Sprintf(" (after step %d)", *r.Step)
		}
	}
	fmt.Fprintf(out, "%s: %d batches of %d training images, %d classes; α = %v, β = %v\n", of, r.Batches, r.Rows/max(r.Batches, 1), r.Classes, r.Margin, r.Beta)
	fmt.Fprintf(out, "%d positive and %d negative pairs\n", r.Positives, r.Negatives)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	row("\ntriplet loss", "pairs taken", "most", "least", "η", fmt.Sprintf("noise below, K = %d", r.Classes), "many classes (eq. 27)")
	for _, m := range []struct {
		name string
		of   skew.Mined
	}{{"random semi-hard", r.Random}, {"fixed semi-hard", r.Fixed}} {
		if m.of.Eta == nil {
			row(m.name, "0", "–", "–", "–", "–", "–")
			continue
		}
		l := m.of.Limit
		row(m.name, fmt.Sprint(m.of.Pairs), number(m.of.Most), least(m.of.Taken, ""), number(l.Eta), percent(l.Bound), percent(l.LargeK))
	}
	m := r.Marginal
	row("\nmarginal loss", "pairs that cost", "most", "least")
	row("positive", fmt.Sprint(m.Positive.Pairs), most(m.Positive, " = η₊"), least(m.Positive, ""))
	row("negative", fmt.Sprint(m.Negative.Pairs), most(m.Negative, ""), least(m.Negative, " = η₋"))
	if err := w.Flush(); err != nil {
		return err
	}
	if l := m.Limit; l != nil {
		fmt.Fprintf(out, "γ = η₋/η₊ = %s: noise below %s (%s for many classes, eq. 37); for Q ≥ 1/2 below %s (%s)\n",
			number(*m.Gamma), percent(l.Bound), percent(l.LargeK), percent(l.Half), percent(l.HalfLargeK))
		if *m.Gamma > 1 {
			fmt.Fprintln(out, "the paper assumes γ ≤ 1: the bounds are those of γ = 1")
		}
	}
	for _, t := range []skew.Taken{r.Random.Taken, r.Fixed.Taken, m.Positive, m.Negative} {
		if t.Pairs > 0 && t.Rests < fewPairs {
			fmt.Fprintf(out, "* rests on fewer than %d pairs: more --batches tell it better\n", fewPairs)
			break
		}
	}
	return nil
}

// most is the largest rate.
func most(t skew.Taken, name string) string {
	if t.Pairs == 0 {
		return "–"
	}
	return number(t.Most) + name
}

// least is the smallest rate, marked where few pairs say it.
func least(t skew.Taken, name string) string {
	switch {
	case t.Pairs == 0:
		return "–"
	case t.Rests < fewPairs:
		name = "*" + name
	}
	return number(t.Least) + name
}
