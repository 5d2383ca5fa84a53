// Package checking looks at the images of a manifest before anything is made of them.
package checking

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/imageroot"
)

// Options say which manifest is checked.
type Options struct {
	Manifest string
	Root     string // that its paths start from; "": found by the manifest
}

// Host is told how far a check is; both functions are set.
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

// look returns what decodes an image.
func (o Options) look(ctx context.Context) (func(path string) ([sha256.Size]byte, error), error) {
	root, err := imageroot.Open(ctx, imageroot.Resolve(o.Root, o.Manifest))
	return func(path string) ([sha256.Size]byte, error) { return backbone.Inspect(root, path) }, err
}

// listed is how many of a list are written for people.
const listed = 10

// Write writes the report for people.
func (r Report) Write(w io.Writer) error {
	r.CheckReport.Write(w, r.d, listed)
	return nil
}

// Strict returns an error if an image cannot be read or a picture stands in two splits.
func (r Report) Strict() error {
	if len(r.Unreadable)+r.Leaks() == 0 {
		return nil
	}
	return fmt.Errorf("data check: %d unreadable images and %d pictures in two splits, expected none", len(r.Unreadable), r.Leaks())
}
