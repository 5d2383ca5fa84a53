// Package program is winnow's command line as a function: every command, in the groups that help shows.
//
// Each command is a folder next to this one: its flags become plain options, one call of a room does the work, and the
// result is printed. Data goes to standard output; messages and progress go to standard error. Exit codes: 0 done,
// 1 failed, 2 misused, 130 interrupted, 143 terminated.
package program

import (
	"context"
	"io"
	"os"

	"winnow/cmd/winnow/term"
	"winnow/datasets/bucket"
	"winnow/datasets/location"
	"winnow/internal/interrupt"
)

// Main executes a command line with the process's streams, handles signals, and returns the exit code.
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
