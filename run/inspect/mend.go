package inspect

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
)

// writeCorrected writes the manifest that was judged to a file ([datasets.FixTo]), without the images that a
// cut takes or with the labels suggested for them. Labels that people found wrong are replaced as they decided. All
// other rows and columns stay as they are.
func (a *Report) writeCorrected(ctx context.Context, to string, cut audit.Cut, relabel bool) (datasets.Fixed, error) {
	taken, err := a.result.Take(cut)
	if err != nil {
		return datasets.Fixed{}, err
	}
	if len(taken) == len(a.source.Samples) && !relabel {
		return datasets.Fixed{}, fmt.Errorf("audit: clean: all %d images of %s would be dropped, expected "+
			"some that stay", len(taken), a.from)
	}
	made := map[int]datasets.Decision{}
	maps.Copy(made, a.decided)
	if a.Checked != nil {
		m, err := a.checks.Match(a.source)
		if err != nil {
			return datasets.Fixed{}, err
		}
		maps.Copy(made, m.Decisions())
	}
	for _, s := range taken {
		if s.Checked != "" { // people's decisions stand
			continue
		}
		if s.CopyVerdict == suspects.Look || s.CopyVerdict == suspects.Kept { // never the right one with the wrong
			continue
		}
		if !relabel {
			made[a.ids[s.Row]] = datasets.Decision{Drop: true}
		} else if s.Suggested != s.Given {
			made[a.ids[s.Row]] = datasets.Decision{Label: s.Suggested}
		}
	}
	did, err := datasets.FixTo(ctx, to, a.from, a.source, made)
	if err != nil {
		return did, fmt.Errorf("audit: %s: %w", to, err)
	}
	return did, nil
}

// tellFixed describes a fixed manifest, and says whether measures on it can still be compared. images says that
// images of any split were judged.
func tellFixed(file string, did datasets.Fixed, judged int, relabel, includeEval, images bool) []string {
	what := "dropped"
	if relabel {
		what = "relabelled"
	}
	lines := []string{fmt.Sprintf("%s: %d of %d judged images %s, %d rows", file, did.Dropped+did.Relabelled, judged,
		what, did.Rows)}
	if !includeEval && !images {
		return lines
	}
	n, parts := 0, []string{}
	for _, split := range []string{datasets.Validation, datasets.Test, datasets.Query, datasets.Gallery} {
		if k := did.Changed[split]; k > 0 {
			n += k
			parts = append(parts, fmt.Sprintf("%s %d", split, k))
		}
	}
	switch {
	case n > 0:
		return append(lines, fmt.Sprintf("warning: %d of the changed images are not for training (%s): measures on "+
			"this manifest cannot be compared with those on the old labels, and favour models that judge as the "+
			"audit did", n, strings.Join(parts, ", ")))
	case images:
		return lines
	}
	return append(lines, "no image of an evaluation split was changed")
}
