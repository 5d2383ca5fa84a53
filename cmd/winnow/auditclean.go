package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval/judges"
	"winnow/filters"
)

// checkClean refuses flags of a cleaned manifest that do not go together.
func checkClean(c *cli.Context) error {
	ways := 0
	for _, flag := range []string{"share", "below", "precision"} {
		if c.IsSet(flag) {
			ways++
		}
	}
	if !c.IsSet("clean") {
		if ways > 0 || c.Bool("drop") || c.Bool("relabel") || c.Bool("include-eval") {
			return misused("--drop, --relabel, --share, --below, --precision and --include-eval are about --clean FILE")
		}
		return nil
	}
	if c.Bool("drop") == c.Bool("relabel") {
		return misused("--clean: expected either --drop or --relabel")
	}
	if ways > 1 {
		return misused("--clean: expected one of --share, --below and --precision, found %d", ways)
	}
	for _, flag := range []string{"share", "precision"} {
		if p := c.Float64(flag); c.IsSet(flag) && !(p >= 0 && p <= 1) {
			return misused("--%s: found %v, expected 0 to 1", flag, p)
		}
	}
	return nil
}

// picked says which of the images, most suspect first, are to be cleaned.
func (a *audited) picked(c *cli.Context) ([]bool, error) {
	pick := make([]bool, len(a.Images))
	switch {
	case c.IsSet("share"):
		for i := range int(c.Float64("share") * float64(len(pick))) {
			pick[i] = true
		}
	case c.IsSet("below"):
		for i, e := range a.Images {
			pick[i] = e.Score < c.Float64("below")
		}
	case c.IsSet("precision"):
		if !a.scoresAreProbabilities() {
			return nil, misused("--precision: scores of %s are no probabilities: take --share or --below, or --scorer %s", a.Scorer, judges.Default)
		}
		n, wrong := 0, 0.0
		for i, e := range a.Images {
			if wrong += 1 - e.Score; wrong >= c.Float64("precision")*float64(i+1) {
				n = i + 1
			}
		}
		for i := range n {
			pick[i] = true
		}
	default:
		for i, e := range a.Images {
			pick[i] = e.Dropped
		}
	}
	return pick, nil
}

func (a *audited) scoresAreProbabilities() bool {
	if a.Scorer == crossfitScorer {
		return true
	}
	if j, err := judges.Find(a.Scorer); err == nil {
		return j.Probability
	}
	e, err := filters.Find(a.Scorer)
	return err == nil && e.Probability
}

// cleaned is the dataset without the images picked, or with the labels suggested for them. An image whose given
// label nothing beats keeps it.
func (a *audited) cleaned(d *datasets.Dataset, pick []bool, relabel bool) (out *datasets.Dataset, changed int) {
	out = &datasets.Dataset{Classes: d.Classes, Columns: d.Columns, Samples: slices.Clone(d.Samples)}
	gone := make([]bool, len(d.Samples))
	for i, s := range a.suspects {
		id := a.set.IDs[s.Row]
		label := slices.Index(d.Classes, a.classes[s.Suggested])
		switch {
		case !pick[i]:
		case !relabel:
			gone[id] = true
			changed++
		case label != out.Samples[id].Label:
			out.Samples[id].Label = label
			changed++
		}
	}
	if !relabel {
		out.Samples = out.Samples[:0]
		for id, s := range d.Samples {
			if !gone[id] {
				out.Samples = append(out.Samples, s)
			}
		}
	}
	return out, changed
}

// clean writes the cleaned manifest.
func (a *audited) clean(c *cli.Context, d *datasets.Dataset) error {
	pick, err := a.picked(c)
	if err != nil {
		return err
	}
	out, changed := a.cleaned(d, pick, c.Bool("relabel"))
	if err := writeManifest(c.String("clean"), out); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	what := "dropped"
	if c.Bool("relabel") {
		what = "relabelled"
	}
	note(c, "%s: %d of %d judged images %s, %d rows", c.String("clean"), changed, len(a.Images), what, len(out.Samples))
	return nil
}
