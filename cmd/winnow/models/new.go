package models

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/models/architecture"
)

func newCommand(call term.Call[NewOptions]) *cli.Command {
	return &cli.Command{
		Name:      "new",
		Usage:     "make an untrained network from a description, with random weights by a seed",
		ArgsUsage: "NAME",
		Description: "Writes an ONNX file and records it as NAME. --arch names a network of winnow models\n" +
			"architectures, or a YAML file like those that it prints. The same description and seed give the\n" +
			"same file.\n\n" +
			"   winnow models new digits --arch lenet --seed 1\n" +
			"   winnow train --model digits --finetune all ...",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "arch", Required: true,
				Usage: "`NETWORK`: a name, or a file that ends in .yaml or .yml"},
			term.SeedFlag("`SEED` of the weights"),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, DefaultText: "NAME.onnx next to the registry",
				Usage: "ONNX `FILE` to write"},
			term.JSONFlag(),
		},
		Action: term.Action(readNew, call),
	}
}

func architecturesCommand() *cli.Command {
	return &cli.Command{
		Name:      "architectures",
		Usage:     "list the networks that models new knows, or print the description of one",
		ArgsUsage: "[NAME]",
		Flags:     []cli.Flag{term.JSONFlag()},
		Action:    term.Action(readArchitectures, listArchitectures),
	}
}

// NewOptions describe an untrained network.
type NewOptions struct {
	Name, Architecture, Out string
	Seed                    uint64
	JSON                    bool
}

func readNew(c *cli.Context) (NewOptions, error) {
	name, err := term.OneArgument(c, "one name")
	return NewOptions{Name: name, Architecture: c.String("arch"), Out: c.String("out"), Seed: c.Uint64("seed"),
		JSON: c.Bool("json")}, err
}

func makeNew(_ context.Context, p *term.Program, r *models.Registry, o NewOptions) error {
	net, err := architecture.Open(o.Architecture)
	if err != nil {
		return hint.With(err, "winnow models architectures lists them")
	}
	e := models.Entry{
		Name: o.Name, Input: architecture.Input, Output: architecture.Output, Preprocessing: net.Preprocessing,
		Source: fmt.Sprintf("made by winnow, not trained: %s, weights drawn with seed %d", net.Name, o.Seed),
		Recipe: fmt.Sprintf("winnow models new %s --arch %s --seed %d", o.Name, o.Architecture, o.Seed),
	}
	b, cut, err := r.AddNew(e, net.Model(o.Seed).Marshal(), o.Out)
	if err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(b.Entry)
	}
	_, err = fmt.Fprintf(p.Out, "made %s: %s, %d parameters drawn with seed %d, feature %s of %s numbers, %s\n",
		b.Name, b.Path, net.Parameters, o.Seed, cut.Cut, models.Numbers(cut.Dim), b.Preprocessing.Describe())
	return err
}

func readArchitectures(c *cli.Context) (o Options, err error) {
	o.JSON = c.Bool("json")
	if c.NArg() > 0 {
		o.Argument, err = term.OneArgument(c, "one name")
	}
	return o, err
}

func listArchitectures(_ context.Context, p *term.Program, o Options) error {
	if o.Argument != "" {
		text, err := architecture.Text(o.Argument)
		if err == nil {
			_, err = p.Data.Write(text)
		}
		return err
	}
	list, err := architecture.List()
	if err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(list)
	}
	return architecture.WriteList(p.Out, list)
}
