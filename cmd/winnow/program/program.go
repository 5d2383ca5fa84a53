// Package program assembles winnow's command line from all commands, in the groups that help shows.
//
// Each command is a package in a folder next to this one. It parses flags into plain options, calls another package
// for the work, and prints the result. Data are written to standard output, messages and progress to standard error.
// Exit codes: 0 success, 1 failure, 2 misuse, 130 interrupted, 143 terminated.
package program

import (
	"context"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/audit"
	"winnow/cmd/winnow/check"
	"winnow/cmd/winnow/cluster"
	"winnow/cmd/winnow/data"
	"winnow/cmd/winnow/eval"
	"winnow/cmd/winnow/export"
	"winnow/cmd/winnow/extract"
	"winnow/cmd/winnow/index"
	"winnow/cmd/winnow/list"
	"winnow/cmd/winnow/mapping"
	"winnow/cmd/winnow/models"
	"winnow/cmd/winnow/papers"
	"winnow/cmd/winnow/quickstart"
	"winnow/cmd/winnow/report"
	"winnow/cmd/winnow/reproduce"
	"winnow/cmd/winnow/setup"
	"winnow/cmd/winnow/studio"
	"winnow/cmd/winnow/sweep"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/train"
	"winnow/datasets/bucket"
	"winnow/datasets/location"
	"winnow/internal/interrupt"
)

// Main executes a command line with the process's standard streams, handles signals, and returns the exit code.
func Main(args []string) int {
	named := term.FromCommand(Commands(), args)
	ctx, stop := interrupt.Listen(context.Background(), term.Patience,
		func() { term.Interrupted(os.Stderr, named) })
	defer stop()
	return Execute(ctx, args, os.Stdout, os.Stderr)
}

// Execute executes a command line and returns the exit code.
func Execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	location.Use(bucket.Open)
	return term.Execute(ctx, Commands(), args, stdout, stderr)
}

// Commands returns all commands, with the headings under which help lists them.
func Commands() []*cli.Command {
	return slices.Concat(
		under("Audit labels", audit.Command(), studio.Command(), studio.Decisions(), check.Command()),
		under("Data and features", data.Command(), models.Command(), extract.Command(), cluster.Join(),
			cluster.Command()),
		under("Embeddings", export.Command(), index.Embed(), index.Index(), index.Search()),
		under("Papers", reproduce.Command(), papers.Command()),
		under("Reference", list.Command(), list.Manual()),
		under("Setup", setup.Runtime(), setup.Doctor(), quickstart.Command(), list.Completion()),
		under("Training and measures", train.Command(), sweep.Command(), eval.Command(), report.Command(),
			mapping.Command()),
	)
}

func under(heading string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = heading
	}
	return commands
}
