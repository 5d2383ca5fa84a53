// Package term contains what all commands share: parsing of flags, errors for misuse, the [Program] that is passed to a
// command, and output (standard output, notes, progress, JSON, exit codes).
//
// A command is a package in a folder next to this one. Its function Command returns the flags, a read function parses
// them into plain Options, and a [Call] does the work and prints. Only the read function uses *cli.Context.
package term

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/cmd/winnow/progress"
	"winnow/internal/hint"
	"winnow/internal/printable"
	"winnow/internal/text"
	"winnow/run/extraction"
)

// Program holds the streams and the global flags, as plain values, for a command's [Call].
type Program struct {
	Command  string    // the command's name, such as "audit" or "data import"
	Out, Err io.Writer // text for people, with control characters escaped
	Data     io.Writer // output for programs: not escaped, unless it is a terminal
	Quiet    bool      // print no notes and no progress
	Library  string    // --ort-lib or WINNOW_ORT_LIB, "" if neither is given
	Compute  ort.Config

	claim     func() error // checks and marks the outputs, see claimOutputs
	gpuMisuse error        // GPU flags without a GPU; returned by OpenRuntime
}

// Call does the work of a command with its options o, and prints to p.
type Call[O any] func(ctx context.Context, p *Program, o O) error

// Action returns the action of a command: read parses the flags into options and returns an error for misuse, and call
// does the work. The outputs are checked before call.
func Action[O any](read func(*cli.Context) (O, error), call Call[O]) cli.ActionFunc {
	return CheckedAction(read, func(ctx context.Context, p *Program, o O) error {
		if err := p.claim(); err != nil {
			return err
		}
		return call(ctx, p, o)
	})
}

// CheckedAction is like [Action] for a call that checks its outputs itself, with [Program.CheckTargets].
func CheckedAction[O any](read func(*cli.Context) (O, error), call Call[O]) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := cmp.Or(checkRequired(c), keptHere(c)); err != nil {
			return err
		}
		o, err := read(c)
		if err != nil {
			return err
		}
		p, err := NewProgram(c)
		if err != nil {
			return err
		}
		outputs, claimed := listOutputs(c), false
		p.claim = func() error {
			err := claimOutputs(c, outputs)
			claimed = err == nil
			return err
		}
		err = call(c.Context, p, o)
		if claimed {
			releaseOutputs(outputs)
		}
		if s, ok := errors.AsType[hint.Setting](err); ok {
			return Misused("--%w", s)
		}
		return err
	}
}

// NewProgram returns a Program with the values of the global flags.
func NewProgram(c *cli.Context) (*Program, error) {
	cfg, err := readComputing(c)
	if err != nil {
		return nil, err
	}
	return &Program{
		Command: commandName(c), Out: c.App.Writer, Err: c.App.ErrWriter,
		Data: printable.ForData(c.App.Writer), Quiet: c.Bool("quiet"),
		Library: c.String("ort-lib"), Compute: cfg, gpuMisuse: gpuMisused(c, cfg),
	}, nil
}

// Note prints a message on standard error, unless --quiet is given.
func (p *Program) Note(format string, args ...any) {
	if !p.Quiet {
		fmt.Fprintln(p.Err, "winnow: "+text.Line(fmt.Sprintf(format, args...)))
	}
}

// JSON prints v as indented JSON.
func (p *Program) JSON(v any) error { return text.JSON(p.Data, v) }

// Watch shows the progress of work unless --quiet is given. what is the unit, such as "images". end clears the line.
func (p *Program) Watch(what string) (at func(done, total int), end func()) {
	from, end := p.WatchFrom(what)
	return func(done, total int) { from(done, total, 0) }, end
}

// WatchFrom is like [Program.Watch] for work that was partly done earlier.
func (p *Program) WatchFrom(what string) (at func(done, total, earlier int), end func()) {
	if p.Quiet {
		return func(int, int, int) {}, func() {}
	}
	line := progress.New(p.Err, what, time.Now)
	return func(done, total, earlier int) { line.At(done, total, earlier, "") }, line.End
}

// showExtraction shows the progress of an extraction unless --quiet is given. end clears the line.
func (p *Program) showExtraction() (observe func(backbone.Progress), end func()) {
	if p.Quiet {
		return nil, func() {}
	}
	line := progress.New(p.Err, "images", time.Now)
	return func(at backbone.Progress) {
		more := ""
		if at.Bad > 0 {
			more = fmt.Sprintf("  %d unreadable", at.Bad)
		}
		line.At(at.Done, at.Total, at.Resumed, more)
	}, line.End
}

// Host returns the callbacks and settings that an extraction needs.
func (p *Program) Host() extraction.Host {
	stores, _ := filepath.Glob("*.features") // where winnow audit keeps them, for example
	return extraction.Host{
		Stores:    stores,
		Runtime:   p.OpenRuntime,
		Note:      p.Note,
		Images:    p.showExtraction,
		GPUMemory: p.Compute.GPU.Memory,
		Winnow:    Version(),
	}
}
