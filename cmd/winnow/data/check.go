package data

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

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
	d, err := datasets.Read(o.Manifest, datasets.ReadOptions{})
	if err != nil {
		return err
	}
	root, err := imageroot.Open(imageroot.Resolve(o.Root, o.Manifest))
	if err != nil {
		return err
	}
	progress, end := p.Watch("images")
	defer end()
	report, err := datasets.Check(ctx, root, d, func(data []byte) error {
		_, err := backbone.Decode(data, backbone.DecodeOptions{})
		return err
	}, progress)
	if err != nil {
		return err
	}
	if o.JSON {
		err = p.JSON(report)
	} else {
		printCheck(p.Out, d, report)
	}
	if err == nil && o.Strict && len(report.Unreadable)+report.Leaks() > 0 {
		err = fmt.Errorf("data check: %d unreadable images and %d pictures in two splits, expected none", len(report.Unreadable), report.Leaks())
	}
	return err
}

func printCheck(w io.Writer, d *datasets.Dataset, r *datasets.CheckReport) {
	printCounts(w, d)
	for _, split := range slices.Sorted(maps.Keys(r.Shared)) {
		if n := r.Shared[split]; n > 0 {
			fmt.Fprintf(w, "%d classes of %s are also in train: this measures known classes, not the papers' unseen ones\n", n, split)
		}
	}
	if r.Noise != nil {
		printNoise(w, datasets.Train, *r.Noise)
	}
	for _, s := range r.Splits {
		if len(s.Singletons) > 0 {
			fmt.Fprintf(w, "%s: %d classes have one image and so no positive pair: %s\n", s.Split, len(s.Singletons), strings.Join(term.First(s.Singletons, term.Listed), ", "))
		}
	}
	fmt.Fprintf(w, "unreadable: %d\n", len(r.Unreadable))
	for _, p := range term.First(r.Unreadable, term.Listed) {
		fmt.Fprintf(w, "  %s: %s\n", p.Path, p.Reason)
	}
	writeMore(w, len(r.Unreadable))
	vary := 0
	for _, dup := range r.Duplicates {
		if dup.LabelsVary {
			vary++
		}
	}
	fmt.Fprintf(w, "the same bytes under several paths: %d groups, %d with different labels, %d in two splits\n", len(r.Duplicates), vary, r.Leaks())
	for _, dup := range term.First(r.Duplicates, term.Listed) {
		fmt.Fprint(w, " ")
		for i, p := range dup.Paths {
			fmt.Fprintf(w, " %s (%s, %s)", p, dup.Labels[i], dup.Splits[i])
		}
		fmt.Fprintln(w)
	}
	writeMore(w, len(r.Duplicates))
}

// writeMore says where the rest of a list is that was cut off.
func writeMore(w io.Writer, n int) {
	if n > term.Listed {
		fmt.Fprintf(w, "  … %d more: --json lists all\n", n-term.Listed)
	}
}
