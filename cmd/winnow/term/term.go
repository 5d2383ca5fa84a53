// Package term is what the commands share: reading flags, errors of misuse, the [Program] that a command's call gets,
// and output (standard output, notes, progress, JSON, exit codes).
//
// A command is a folder next to this one. Its Command function names the flags, read turns them into plain Options, and
// one call does the work in a room and prints. Only read sees *cli.Context.
package term

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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

// Program is what a command's call gets from the program: streams and global flags, as plain values.
type Program struct {
	Command  string    // as the user wrote it: "audit", "data import"
	Out, Err io.Writer // for people: control characters are escaped
	Data     io.Writer // standard output for programs: unchanged bytes, unless it is a terminal
	Quiet    bool      // no notes and no progress on Err
	Library  string    // --ort-lib or WINNOW_ORT_LIB, "" if neither is given
	Compute  ort.Config

	claim     func() error // refuses outputs that winnow did not write
	gpuMisuse error        // options of a GPU without a GPU: returned once something computes
}

// Call does a command's work: it reads only its options and prints to p.
type Call[O any] func(ctx context.Context, p *Program, o O) error

// Action returns a command's action: read turns the flags into options and finds misuse, call does the work.
func Action[O any](read func(*cli.Context) (O, error), call Call[O]) cli.ActionFunc {
	return CheckedAction(read, func(ctx context.Context, p *Program, o O) error {
		if err := p.claim(); err != nil {
			return err
		}
		return call(ctx, p, o)
	})
}

// CheckedAction is [Action] for a call that calls [Program.CheckTargets] once it knows what it reads and writes.
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

// NewProgram reads the global flags.
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

// Note prints a fact on standard error, unless they asked for quiet.
func (p *Program) Note(format string, args ...any) {
	if !p.Quiet {
		fmt.Fprintln(p.Err, "winnow: "+text.Line(fmt.Sprintf(format, args...)))
	}
}

// JSON prints v as indented JSON.
func (p *Program) JSON(v any) error { return text.JSON(p.Data, v) }

// Watch shows the progress of work, counted in what ("pictures"), unless --quiet is given. end clears the line.
func (p *Program) Watch(what string) (at func(done, total int), end func()) {
	from, end := p.WatchFrom(what)
	return func(done, total int) { from(done, total, 0) }, end
}

// WatchFrom is Watch for work that was partly done earlier.
func (p *Program) WatchFrom(what string) (at func(done, total, earlier int), end func()) {
	if p.Quiet {
		return func(int, int, int) {}, func() {}
	}
	line := progress.New(p.Err, what, time.Now)
	return func(done, total, earlier int) { line.At(done, total, earlier, "") }, line.End
}

// showExtraction shows the progress of an extraction, unless --quiet is given. end clears the line.
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

// Host returns what an extraction needs from the program.
func (p *Program) Host() extraction.Host {
	return extraction.Host{
		Runtime:   p.OpenRuntime,
		Note:      p.Note,
		Images:    p.showExtraction,
		GPUMemory: p.Compute.GPU.Memory,
		Winnow:    Version(),
	}
}
