package studio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/learn"
	"winnow/audit/suspects"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/report/review"
	"winnow/search"
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
			{Name: "simulate", Usage: "count the decisions that find 50, 80 and 95 % of the label errors",
				Description: "Answers from the column true_label of the suspects: once in the order of the list,\n" +
					"and, if there are features, once while the list learns from the answers.",
				ArgsUsage: "SUSPECTS", Action: term.CheckedAction(readSimulation, simulateReview),
				Flags: pickFlags("features")},
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

// SimulateOptions are the options of "winnow decisions simulate".
type SimulateOptions struct {
	Audit, Features string
	JSON            bool
}

func readSimulation(c *cli.Context) (o SimulateOptions, err error) {
	o = SimulateOptions{cmp.Or(c.Args().First(), c.String("audit")), c.String("features"), c.Bool("json")}
	if o.Audit == "" || c.NArg() > 1 {
		return o, term.Misused("name one list of suspects that winnow audit wrote")
	}
	o.Features = cmp.Or(o.Features, featuresOf(o.Audit))
	return o, nil
}

// simulateReview simulates a review in which the reviewer answers from the true labels of the list.
func simulateReview(ctx context.Context, p *term.Program, o SimulateOptions) error {
	list, err := suspects.Read(o.Audit)
	if err != nil {
		return err
	}
	var x blas32.General
	if o.Features != "" {
		if x, err = readListVectors(o.Features, list); err != nil {
			return err
		}
	}
	played, err := learn.Simulate(ctx, list, x)
	if err != nil {
		return fmt.Errorf("review: %s: %w", o.Audit, err)
	}
	played.Features = o.Features
	if o.JSON {
		return p.JSON(played)
	}
	_, err = fmt.Fprint(p.Out, played.Text())
	return err
}

// readListVectors returns the vectors of a list's images, zeros for those without one. It is an error if no image has a
// vector.
func readListVectors(dir string, list []suspects.Suspect) (x blas32.General, err error) {
	g, err := search.OpenGallery(dir)
	if err != nil {
		return x, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	paths := make([]string, len(list))
	for i := range list {
		paths[i] = list[i].Path
	}
	x, absent, err := g.Rows(paths)
	if err == nil && absent == len(list) {
		err = fmt.Errorf("review: %s: has no vector of the list's %d images: name the features of the audit", dir,
			absent)
	}
	return x, err
}
