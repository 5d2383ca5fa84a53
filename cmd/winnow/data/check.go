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

func checkCommand(call term.Call[CheckOptions]) *cli.Command {
	return &cli.Command{
		Name: "check",
		Usage: "report unreadable images, duplicates, leaks between splits, classes with one sample, and " +
			"label counts",
		ArgsUsage: "MANIFEST",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "root",
				Usage: "`DIR` (or .zip file) the manifest's paths are relative to (default: the manifest's folder)"},
			&cli.BoolFlag{Name: "strict",
				Usage: "exit with 1 if an image cannot be read or a picture is in two splits"},
			term.OutFlag("write the whole report into `FILE`, as JSON"),
			term.JSONFlag(),
		},
		Action: term.Action(readCheck, call),
	}
}

// CheckOptions say what to check.
type CheckOptions struct {
	Manifest     location.Source
	Root         location.Source // folder that its paths are relative to; none: found from the manifest
	Strict, JSON bool
	Out          string // file for the report; "": none
}

func readCheck(c *cli.Context) (o CheckOptions, err error) {
	o.Root, o.Strict, o.Out, o.JSON = location.At(c.String("root")), c.Bool("strict"), c.String("out"), c.Bool("json")
	if o.Manifest, err = term.OneSource(c, "one manifest"); err != nil {
		return o, err
	}
	return o, term.KeepInput(c, o.Manifest.Path())
}

// checkReport is what a check found.
type checkReport struct {
	*datasets.CheckReport
	Notes []string `json:"notes,omitempty"` // what was said while the manifest was read, for reports in JSON

	d *datasets.Dataset
}

// runCheck decodes every image of a manifest and reports unreadable ones and duplicates.
func runCheck(ctx context.Context, p *term.Program, o CheckOptions) error {
	progress, end := p.Watch("images")
	defer end()
	var r checkReport
	note := p.Note
	if o.JSON { // which holds them
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
	sums, reasons, err := r.d.Look(ctx, 0, len(r.d.Samples),
		func(path string) ([sha256.Size]byte, error) { return backbone.Inspect(root, path) }, progress)
	if err != nil {
		return err
	}
	r.CheckReport = r.d.Report(sums, reasons)
	if err := p.Result(r, o.JSON, cluster.Save(o.Out, r)); err != nil || !o.Strict {
		return err
	}
	if len(r.Unreadable)+r.Leaks() > 0 {
		return fmt.Errorf("data check: %d unreadable images and %d pictures in two splits, expected none",
			len(r.Unreadable), r.Leaks())
	}
	return nil
}

// listed is how many entries of a list the text report shows.
const listed = 10

// Write writes the report as text.
func (r checkReport) Write(w io.Writer) error {
	r.CheckReport.Write(w, r.d, listed)
	return nil
}
