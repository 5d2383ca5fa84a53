package studio

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/report/review"
)

// Decisions returns the "winnow decisions" command.
func Decisions() *cli.Command { return newDecisionsCommand(exportDecisions) }

func newDecisionsCommand(call term.Call[ExportOptions]) *cli.Command {
	read := term.CheckedAction(readExport, call)
	return &cli.Command{
		Name: "decisions", Usage: "write the labels that were corrected in the studio, or count the decisions",
		Subcommands: []*cli.Command{
			{Name: "export", Usage: "write the manifest with the decisions applied", ArgsUsage: "[PHOTOS]",
				Action: read, Flags: append(pickFlags("out", "by"), &cli.StringFlag{Name: "decided",
					Usage: "list every decision and note, with its reviewer and time, in `FILE`.csv"})},
			{Name: "status", Usage: "count the decisions by action and by reviewer, and the disagreements",
				ArgsUsage: "[PHOTOS]", Action: read, Flags: pickFlags()},
		},
	}
}

// pickFlags returns --json, the flags for images, audit, decisions and columns, and the studio's flags named in more.
func pickFlags(more ...string) []cli.Flag {
	names := append(more, "audit", "manifest", "root", "decisions")
	pick := func(f cli.Flag) bool { return !slices.Contains(names, f.Names()[0]) }
	return slices.Concat([]cli.Flag{term.JSONFlag()}, slices.DeleteFunc(listFlags(), pick), term.ColumnFlags())
}

// ExportOptions are the options of "winnow decisions export" and "status".
type ExportOptions struct {
	review.Files
	Status, JSON bool // Status: count the decisions, and write nothing
}

func readExport(c *cli.Context) (ExportOptions, error) {
	o := ExportOptions{Files: readFiles(c), JSON: c.Bool("json"), Status: c.Command.Name == "status"}
	o.List = c.String("decided")
	switch {
	case c.NArg() > 1 || c.NArg() == 1 && c.IsSet("manifest"):
		return o, term.Misused("name the images once: found %q", c.Args().Slice())
	case o.Manifest.IsZero():
		o.Manifest = location.At(cmp.Or(c.Args().First(), "."))
	}
	if o.Audit == "" {
		o.Audit = listOf(o.Manifest)
		o.Guessed = o.Audit != ""
	}
	if o.By == datasets.ByMove {
		o.Out = cmp.Or(o.Out, o.Manifest.String())
	}
	if !o.Status && o.Out == "" {
		return o, term.Misused("name the file to write with --out")
	}
	return o, nil
}

// exportDecisions writes the corrected manifest, or counts the decisions.
func exportDecisions(_ context.Context, p *term.Program, o ExportOptions) error {
	if err := checkOut(p, o.Files); err != nil {
		return err
	}
	var result interface{ Text() string }
	var err error
	if o.Status {
		result, err = review.ReadStatus(o.Files)
	} else {
		result, err = review.Export(o.Files)
	}
	if err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(result)
	}
	_, err = fmt.Fprint(p.Out, result.Text())
	return err
}
