package data

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/cluster"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
)

func checkCommand() *cli.Command {
	var o CheckOptions
	var root string
	return &cli.Command{
		Name: "check",
		Usage: "report unreadable images, duplicates, leaks between splits, classes with one image, and " +
			"label counts",
		ArgsUsage: "MANIFEST",
		Flags: []cli.Flag{
			term.Flag(&root, "root", "`DIR` (or .zip file) that the manifest's paths are relative to",
				"the manifest's folder"),
			term.Flag(&o.Strict, "strict", "exit with 1 if an image cannot be read or is in two splits"),
			term.Flag(&o.Out, "out,o", "write the whole report to `FILE` as JSON"),
			term.Flag(&o.JSON, "json", "print the result as JSON"),
		},
		Action: term.BoundAction(&o, func(c *cli.Context, o *CheckOptions) (err error) {
			o.Root = location.At(root)
			if o.Manifest, err = term.OneSource(c, "one manifest"); err != nil {
				return err
			}
			return term.KeepInput(c, o.Manifest.Path())
		}, runCheck),
	}
}

// CheckOptions holds the parsed flags of "winnow data check".
type CheckOptions struct {
	Manifest     location.Source
	Root         location.Source // folder that the manifest's paths are relative to; none: the manifest's
	Strict, JSON bool
	Out          string // file for the report; "": none
}

// checkReport holds the findings of a check.
type checkReport struct {
	*datasets.CheckReport
	Notes []string `json:"notes,omitempty"` // notes about reading the manifest, for JSON

	d *datasets.Dataset
}

// runCheck decodes every image of a manifest and reports unreadable images and duplicates.
func runCheck(ctx context.Context, p *term.Program, o CheckOptions) error {
	progress, end := p.Watch("images")
	defer end()
	var r checkReport
	note := p.Note
	if o.JSON { // the JSON contains the notes
		note = func(format string, args ...any) { r.Notes = append(r.Notes, fmt.Sprintf(format, args...)) }
	}
	var err error
	if r.d, err = datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Root: o.Root, Note: note}); err != nil {
		return err
	}
	root, err := imageroot.Open(ctx, imageroot.Resolve(o.Root, o.Manifest))
	if err != nil {
		return err
	}
	sums, reasons, err := r.d.Look(ctx,
		func(path string) ([sha256.Size]byte, error) { return backbone.Inspect(root, path) }, progress)
	if err != nil {
		return err
	}
	r.CheckReport = r.d.Report(sums, reasons)
	if err := p.Result(r, o.JSON, cluster.Save(o.Out, r)); err != nil || !o.Strict {
		return err
	}
	if len(r.Unreadable)+r.Leaks() > 0 {
		return fmt.Errorf("data check: found %d unreadable images and %d images in two splits, expected none",
			len(r.Unreadable), r.Leaks())
	}
	return nil
}

// listed is the number of entries that the text report shows of each list.
const listed = 10

// Write writes the report as text.
func (r checkReport) Write(w io.Writer) error {
	r.CheckReport.Write(w, r.d, listed)
	return nil
}
