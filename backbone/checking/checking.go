// Package checking decodes every image of a manifest and reports unreadable ones and duplicates.
package checking

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
)

// Options names the manifest to check.
type Options struct {
	Manifest location.Source
	Root     location.Source // folder that its paths are relative to; none: found from the manifest
}

// Host receives notes and progress. Both functions must be set.
type Host struct {
	Note     func(format string, args ...any)
	Progress func(done, total int)
}

// Report is what a check found.
type Report struct {
	*datasets.CheckReport
	d *datasets.Dataset
}

// Run decodes every image of a manifest.
func Run(ctx context.Context, o Options, h Host) (Report, error) {
	d, err := datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Note: h.Note})
	if err != nil {
		return Report{}, err
	}
	look, err := o.look(ctx)
	if err != nil {
		return Report{}, err
	}
	found, err := datasets.Check(ctx, d, look, h.Progress)
	return Report{found, d}, err
}

// look returns a function that decodes an image and returns its sha256.
func (o Options) look(ctx context.Context) (func(path string) ([sha256.Size]byte, error), error) {
	root, err := imageroot.Open(ctx, imageroot.Resolve(o.Root, o.Manifest))
	return func(path string) ([sha256.Size]byte, error) { return backbone.Inspect(root, path) }, err
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
