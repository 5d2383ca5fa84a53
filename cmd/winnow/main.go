// Command winnow trains image embeddings on labels that cannot be trusted, and lists the wrong labels.
//
// Each command is a folder beside this file: flags become plain options, one call of a room does the work, the result is
// printed. Data goes to standard output; messages and progress go to standard error. Exit code 0: done; 1: failed;
// 2: misused; 130: interrupted; 143: terminated.
package main

import (
	"context"
	"io"
	"os"

	"winnow/bucket"
	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/internal/interrupt"
)

func main() { os.Exit(listening(os.Args)) }

// listening executes with the process's streams, until a signal.
func listening(args []string) int {
	named := term.FromCommand(commands(), args)
	ctx, stop := interrupt.Listen(context.Background(), interrupt.Patience(named), func() { term.Interrupted(os.Stderr, named) })
	defer stop()
	return execute(ctx, args, os.Stdout, os.Stderr)
}

// execute is the whole program as a function: a test calls it with buffers.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	location.Use(bucket.Open)
	return term.Execute(ctx, commands(), args, stdout, stderr)
}
