package data

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/imageroot"
)

func checkCommand(call term.Call[CheckOptions]) *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "report unreadable images, duplicates, leaks between splits, classes with one sample, label counts",
		ArgsUsage: "MANIFEST",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "root", Usage: "`DIR` (or .zip file) the manifest's paths are relative to (default: the manifest's folder)"},
			&cli.BoolFlag{Name: "strict", Usage: "exit with 1 if an image cannot be read or a picture stands in two splits"},
			&cli.BoolFlag{Name: "json", Usage: "print the whole report as JSON"},
		},
		Action: term.Action(readCheck, call),
	}
}

// CheckOptions say which manifest is checked.
type CheckOptions struct {
	Manifest, Root string
	Strict, JSON   bool
}

func readCheck(c *cli.Context) (CheckOptions, error) {
	manifest, err := term.OneArgument(c, "one manifest")
	return CheckOptions{Manifest: manifest, Root: c.String("root"), Strict: c.Bool("strict"), JSON: c.Bool("json")}, err
}

func runCheck(ctx context.Context, p *term.Program, o CheckOptions) error {
	d, err := datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Note: p.Note})
	if err != nil {
		return err
	}
	root, err := imageroot.Open(imageroot.Resolve(o.Root, o.Manifest))
	if err != nil {
		return err
	}
	progress, end := p.Watch("images")
	defer end()
	look := func(path string) ([sha256.Size]byte, error) { return backbone.Inspect(root, path) }
	report, err := datasets.Check(ctx, d, look, progress)
	if err != nil {
		return err
	}
	if o.JSON {
		err = p.JSON(report)
	} else {
		report.Write(p.Out, d, term.Listed)
	}
	if err == nil && o.Strict && len(report.Unreadable)+report.Leaks() > 0 {
		err = fmt.Errorf("data check: %d unreadable images and %d pictures in two splits, expected none", len(report.Unreadable), report.Leaks())
	}
	return err
}
