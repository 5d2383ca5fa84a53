// Package doctor implements the "winnow doctor" command: it checks what winnow needs on this machine.
package doctor

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/diagnosis"
	"winnow/internal/hint"
)

// Options choose the output format.
type Options struct{ JSON bool }

// Command returns the "winnow doctor" command.
func Command() *cli.Command { return newDoctorCommand(runDoctor) }

func newDoctorCommand(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:  "doctor",
		Usage: "check this machine, and name the command that installs what is missing",
		Description: "Exit code 0: networks run on this machine's CPU, so the main job can be done. Everything\n" +
			"else that is missing is listed with the command that installs it.",
		Flags:  []cli.Flag{term.JSONFlag()},
		Action: term.Action(readDoctor, call),
	}
}

func readDoctor(c *cli.Context) (Options, error) { return Options{c.Bool("json")}, term.NoArguments(c) }

func runDoctor(_ context.Context, p *term.Program, o Options) error {
	d, err := diagnosis.Make(diagnosis.Options{Winnow: term.Version(), Compute: p.Compute, Find: p.FindLibrary,
		LibraryHint: p.LibraryHint})
	if err != nil {
		return err
	}
	if o.JSON {
		err = p.JSON(d)
	} else {
		err = d.Write(p.Out)
	}
	if missing := d.Missing(); err == nil && missing != nil {
		err = hint.With(fmt.Errorf("doctor: the main job cannot run: see %s", missing.Name), "%s", missing.Fix)
	}
	return err
}
