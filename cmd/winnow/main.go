// Command winnow trains image embeddings on labels that cannot be trusted, and lists the wrong labels.
//
// Each command is a folder beside this file: flags become plain options, one call of a room does the work, the result is
// printed. Data goes to standard output; messages and progress go to standard error. Exit code 0: done; 1: failed;
// 2: misused; 130: interrupted.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/embed"
	"winnow/cmd/winnow/index"
	"winnow/cmd/winnow/pairs"
	"winnow/cmd/winnow/recipes"
	"winnow/cmd/winnow/search"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/theory"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute is the whole program as a function: a test calls it with buffers.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return term.Execute(ctx, commands(), args, stdout, stderr)
}

// commands lists every command under what it is for, in the order of the work.
func commands() []term.Group {
	return []term.Group{
		{Heading: "Data and features", Commands: []*cli.Command{dataCommand(), modelsCommand(), extractCommand(), featuresCommand(), noiseCommand()}},
		{Heading: "Embeddings", Commands: []*cli.Command{trainCommand(), evalCommand(), auditCommand(), reviewCommand(), mapCommand(), retrieveCommand(), reportCommand(), exportCommand(), embed.Command(), index.Command(), search.Command()}},
		{Heading: "Papers", Commands: []*cli.Command{recipes.Command(), reproduceCommand(), traceCommand(), pairs.Command(), theory.Command(), costCommand()}},
		{Heading: "Reference", Commands: []*cli.Command{lossesCommand(), metricsCommand()}},
		{Heading: "Setup", Commands: []*cli.Command{runtimeCommand(), doctorCommand(), demoCommand()}},
	}
}
