package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
	"winnow/internal/text"
)

// Files holds the names and options of the files that an audit writes.
type Files struct {
	Out, Clean string // list of suspects; corrected manifest or, if it names a folder, class folders; "": not written
	By         string // how Clean gets its images if it is a folder (datasets.FolderOut)
	Cut        audit.Cut
	Relabel    bool // in Clean, relabel the suspects instead of dropping them
	Top        int  // number of suspects to print

	Moving func(to map[string]string) error // see datasets.FolderOut
}

// Save writes the files.
func (a *Report) Save(ctx context.Context, f Files, note func(format string, args ...any)) error {
	if f.Clean != "" {
		did, folder, err := a.writeCorrected(ctx, f)
		if err != nil {
			return err
		}
		what := "dropped"
		if f.Relabel {
			what = "relabelled"
		}
		note("%s: %d of %d audited images %s, %d rows", f.Clean, did.Dropped+did.Relabelled, len(a.Images), what,
			did.Rows)
		if folder != nil {
			note("%s", folder.Text())
		}
		n := 0
		for split, changed := range did.Changed {
			if split != datasets.Train && split != "" {
				n += changed
			}
		}
		if n > 0 {
			note("warning: %d of the changed images are for evaluation: metrics on this manifest are not comparable "+
				"with metrics on the old labels", n)
		}
		if n := len(a.groupsByKind().look); n > 0 {
			note("%s: %s of duplicates with contradicting labels, none of which is clearly likelier: these labels are "+
				"unchanged, decide by eye", f.Clean, text.Plural(n, "group"))
		}
	}
	if f.Out != "" {
		if err := a.writeList(ctx, f.Out); err != nil {
			return fmt.Errorf("audit: %s: %w", f.Out, err)
		}
	}
	return nil
}

// writeList writes the images in the format of the file's extension ([suspects.FormatOf]), to .json the whole audit.
func (a *Report) writeList(ctx context.Context, path string) error {
	format, err := suspects.FormatOf(path)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		w = interrupt.NewWriter(ctx, w)
		if format == suspects.JSON {
			return a.WriteJSON(w)
		}
		return suspects.Write(w, format, a.Images)
	})
}

// WriteJSON writes the audit as indented JSON.
func (a *Report) WriteJSON(w io.Writer) error {
	whole := *a
	whole.Images = make([]suspects.Suspect, 0, len(a.Images))
	for e := range suspects.Summed(a.Images) {
		whole.Images = append(whole.Images, *e)
	}
	to := json.NewEncoder(w)
	to.SetIndent("", "  ")
	to.SetEscapeHTML(false)
	return to.Encode(&whole)
}

// writeCorrected writes the audited manifest to a file or folder ([datasets.FixTo], [datasets.FixFolder]). It drops
// the images that a cut selects, or with relabel gives them their suggested labels. Labels that people found wrong are
// fixed as they decided. All other rows and columns are unchanged.
func (a *Report) writeCorrected(ctx context.Context, f Files) (did datasets.Fixed, folder *datasets.FixedFolder,
	err error) {
	taken, err := a.result.Take(f.Cut)
	if err != nil {
		return did, nil, err
	}
	if len(taken) == len(a.source.Samples) && !f.Relabel {
		return did, nil, fmt.Errorf("audit: clean: all %d images of %s would be dropped, expected "+
			"some to remain", len(taken), a.from)
	}
	made := map[int]datasets.Decision{}
	maps.Copy(made, a.decided)
	if a.Checked != nil {
		m, err := a.checks.Match(a.source)
		if err != nil {
			return did, nil, err
		}
		maps.Copy(made, m.Decisions())
	}
	for _, s := range taken {
		if s.Checked != "" { // the person's decision is in made
			continue
		}
		if s.CopyVerdict == suspects.Look || s.CopyVerdict == suspects.Kept { // its label may be the right one
			continue
		}
		if !f.Relabel {
			made[a.ids[s.Row]] = datasets.Decision{Drop: true}
		} else if s.Suggested != s.Given {
			made[a.ids[s.Row]] = datasets.Decision{Label: s.Suggested}
		}
	}
	if datasets.IsFolderOut(f.Clean) {
		did, folder, err = datasets.FixFolder(ctx, datasets.FolderOut{Path: f.Clean, By: f.By, Moving: f.Moving},
			a.from, a.source, made)
	} else {
		did, err = datasets.FixTo(ctx, f.Clean, a.from, a.source, made)
	}
	if err != nil {
		return did, nil, fmt.Errorf("audit: %s: %w", f.Clean, err)
	}
	return did, folder, nil
}
