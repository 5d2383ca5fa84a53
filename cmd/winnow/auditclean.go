package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/audit/judges"
	"winnow/datasets"
	"winnow/internal/atomicfile"
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
		if !isProbability(a.Scorer) {
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

// decisions are what becomes of the images picked, by their positions in the dataset: dropped, or given the label
// suggested. An image whose given label nothing beats keeps it.
func (a *audited) decisions(pick []bool, relabel bool) map[int]datasets.Decision {
	made := map[int]datasets.Decision{}
	for i, s := range a.suspects {
		switch {
		case !pick[i]:
		case !relabel:
			made[a.set.IDs[s.Row]] = datasets.Decision{Drop: true}
		case a.Images[i].Suggested != a.Images[i].Given:
			made[a.set.IDs[s.Row]] = datasets.Decision{Label: a.Images[i].Suggested}
		}
	}
	return made
}

// clean writes the cleaned manifest.
func (a *audited) clean(c *cli.Context, source string, d *datasets.Dataset) error {
	pick, err := a.picked(c)
	if err != nil {
		return err
	}
	to, made := c.String("clean"), a.decisions(pick, c.Bool("relabel"))
	if len(made) == len(d.Samples) && c.Bool("drop") {
		return fmt.Errorf("audit: --clean: all %d images of %s would be dropped, expected some that stay", len(made), source)
	}
	var did datasets.Mended
	err = atomicfile.Write(to, func(w io.Writer) (err error) {
		did, err = datasets.Mend(w, source, d, made)
		return err
	})
	if err != nil {
		return fmt.Errorf("audit: %s: %w", to, err)
	}
	what := "dropped"
	if c.Bool("relabel") {
		what = "relabelled"
	}
	note(c, "%s: %d of %d judged images %s, %d rows", to, did.Dropped+did.Relabelled, len(a.Images), what, did.Rows)
	a.warnOfLeak(c, did)
	return nil
}

// warnOfLeak says what --include-eval has done to what is measured from now on.
func (a *audited) warnOfLeak(c *cli.Context, did datasets.Mended) {
	if !c.Bool("include-eval") {
		return
	}
	n, parts := 0, []string{}
	for _, split := range []string{datasets.Validation, datasets.Test, datasets.Query, datasets.Gallery} {
		if k := did.Changed[split]; k > 0 {
			n += k
			parts = append(parts, fmt.Sprintf("%s %d", split, k))
		}
	}
	if n == 0 {
		note(c, "--include-eval: no image that measures are taken of was changed")
		return
	}
	note(c, "warning: %d of the images changed are not for training (%s): measures on this manifest are not comparable with those on the labels as they were, and flatter what judges as the audit did", n, strings.Join(parts, ", "))
}

// checkForm refuses a name for the cleaned manifest that promises another form than its source has.
func checkForm(c *cli.Context, source string) error {
	if !c.IsSet("clean") {
		return nil
	}
	form, err := datasets.FormOf(source)
	if err != nil {
		return err
	}
	ending := strings.ToLower(filepath.Ext(c.String("clean")))
	if lines := ending == ".jsonl" || ending == ".ndjson"; lines != (form == datasets.JSONL) && (lines || ending == ".csv") {
		return misused("--clean: %s is %s and so is its cleaned copy, found the ending %s", source, form, ending)
	}
	return nil
}
