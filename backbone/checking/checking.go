// Package checking decodes every image of a manifest and reports unreadable ones and duplicates, on one machine or
// several.
package checking

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"

	"winnow/backbone"
	"winnow/cluster"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
)

// Options say what to check.
type Options struct {
	Manifest location.Source
	Root     location.Source // folder that its paths are relative to; none: found from the manifest
	Strict   bool            // the join of parts fails as [Report.Strict] does
	Out      string          // file for the report; "": none
	Shard    cluster.Shard
	Winnow   string // version of the program
}

// Host receives notes and progress. Both functions must be set.
type Host struct {
	Note     func(format string, args ...any)
	Progress func(done, total int)
}

// Report is what a check found.
type Report struct {
	*datasets.CheckReport
	Notes []string `json:"notes,omitempty"` // what was said while the manifest was read, for reports in JSON

	d *datasets.Dataset
}

// Job divides a check.
var Job = cluster.Job[looked]{Name: "data check", Unit: "images", Merge: mergeLooks}

// looked is what was found in some of the images.
type looked struct {
	Manifest location.Source // as it does not depend on the working folder; so Root
	Root     location.Source
	Strict   bool
	Sums     [][sha256.Size]byte
	Reasons  []string // why an image cannot be read; "": it can
}

// Run decodes the images of a manifest, or those of a shard into a part of Out. The result is a [Report], which is
// saved, or [cluster.Made].
func Run(ctx context.Context, o Options, h Host) (cluster.Result, error) {
	d, err := datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Root: o.Root, Note: h.Note})
	if err != nil {
		return nil, err
	}
	look := func(first, end int) (l looked, err error) {
		l.Strict = o.Strict
		if l.Manifest, err = o.Manifest.Absolute(); err != nil {
			return l, err
		}
		if l.Root, err = imageroot.Resolve(o.Root, o.Manifest).Absolute(); err != nil {
			return l, err
		}
		root, err := imageroot.Open(ctx, l.Root)
		if err != nil {
			return l, err
		}
		l.Sums, l.Reasons, err = d.Look(ctx, first, end,
			func(path string) ([sha256.Size]byte, error) { return backbone.Inspect(root, path) }, h.Progress)
		return l, err
	}
	if o.Shard.Whole() {
		l, err := look(0, len(d.Samples))
		if err != nil {
			return nil, err
		}
		r := Report{CheckReport: d.Report(l.Sums, l.Reasons), d: d}
		return r, cluster.Save(o.Out, r)
	}
	rows := cluster.Rows{Total: len(d.Samples), Batch: 1, Inputs: map[string]string{"manifest": d.Digest()},
		Settings: map[string]string{"root": o.Root.String(), "strict": fmt.Sprint(o.Strict)}, Winnow: o.Winnow}
	return Job.Do(ctx, location.At(o.Out), o.Shard, rows, func(first, end int, put func(looked) error) error {
		l, err := look(first, end)
		if err != nil {
			return err
		}
		return put(l)
	})
}

// mergeLooks reads the manifest again, reports on what all parts found, exactly as one machine would, and saves the
// report.
func mergeLooks(ctx context.Context, w *cluster.Whole, values iter.Seq2[looked, error],
	o cluster.JoinOptions) (cluster.Result, error) {
	var all looked
	for l, err := range values {
		if err != nil {
			return nil, err
		}
		all = looked{l.Manifest, l.Root, l.Strict, append(all.Sums, l.Sums...), append(all.Reasons, l.Reasons...)}
	}
	d, err := datasets.Read(all.Manifest, datasets.ReadOptions{Once: ctx, Root: all.Root, Note: o.Note})
	if err != nil {
		return nil, err
	}
	if err := w.Unchanged(map[string]string{"manifest": d.Digest()}); err != nil {
		return nil, err
	}
	r := Report{CheckReport: d.Report(all.Sums, all.Reasons), d: d}
	if err := cluster.Save(w.Out.Path(), r); err != nil || !all.Strict {
		return r, err
	}
	return r, r.Strict()
}

// listed is how many entries of a list the text report shows.
const listed = 10

// Write writes the report as text.
func (r Report) Write(w io.Writer) error {
	r.CheckReport.Write(w, r.d, listed)
	return nil
}

// Strict returns an error if an image cannot be read or a picture is in two splits.
func (r Report) Strict() error {
	if len(r.Unreadable)+r.Leaks() == 0 {
		return nil
	}
	return fmt.Errorf("data check: %d unreadable images and %d pictures in two splits, expected none",
		len(r.Unreadable), r.Leaks())
}
