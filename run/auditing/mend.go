package auditing

import (
	"context"
	"fmt"
	"io"

	"winnow/audit"
	"winnow/datasets"
	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
)

// Mend writes the manifest that was judged to a file, without the images that a cut takes or with the labels suggested
// for them; all other rows and columns are as they were.
func (a *Report) Mend(ctx context.Context, to string, cut audit.Cut, relabel bool) (datasets.Mended, error) {
	changes, err := a.result.Changes(cut, relabel)
	if err != nil {
		return datasets.Mended{}, err
	}
	if len(changes) == len(a.source.Samples) && !relabel {
		return datasets.Mended{}, fmt.Errorf("audit: --clean: all %d images of %s would be dropped, expected some that stay", len(changes), a.from)
	}
	suggested := map[int]string{}
	for i, s := range a.result.Suspects {
		suggested[s.Row] = a.Images[i].Suggested
	}
	made := map[int]datasets.Decision{}
	for _, c := range changes {
		if c.Label == audit.Dropped {
			made[a.ids[c.Row]] = datasets.Decision{Drop: true}
		} else {
			made[a.ids[c.Row]] = datasets.Decision{Label: suggested[c.Row]}
		}
	}
	var did datasets.Mended
	err = atomicfile.Write(to, func(w io.Writer) (err error) {
		did, err = datasets.Mend(interrupt.NewWriter(ctx, w), a.from, a.source, made)
		return err
	})
	if err != nil {
		return did, fmt.Errorf("audit: %s: %w", to, err)
	}
	return did, nil
}
