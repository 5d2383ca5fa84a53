package models

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/models"
	"winnow/models/architecture"
)

func newCommand() *cli.Command {
	return &cli.Command{
		Name:      "new",
		Usage:     "make an untrained network with random weights",
		ArgsUsage: "NAME",
		Description: "Writes an ONNX file and records it as NAME. The same network and seed give the same file.\n\n" +
			"   winnow models new digits --arch lenet --seed 1\n" +
			"   winnow train --model digits --finetune all ...",
		Flags: []cli.Flag{
			term.Required(term.OneOf(&cli.StringFlag{Name: "arch", Usage: "`NETWORK` to make"},
				architecture.Names()...)),
			term.SeedFlag("`SEED` of the weights"),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, DefaultText: "NAME.onnx next to the registry",
				Usage: "ONNX `FILE` to write"},
			term.JSONFlag(),
		},
		Action: term.Action(readNew, withRegistry(makeNew)),
	}
}

// NewOptions holds the parsed flags of "winnow models new".
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
	net, err := architecture.Find(o.Architecture)
	if err != nil {
		return err
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
	_, err = fmt.Fprintf(p.Out, "made %s: %s, %d parameters drawn with seed %d, feature %s with %s numbers, %s\n",
		b.Name, b.Path, net.Parameters, o.Seed, cut.Cut, models.Numbers(cut.Dim), b.Preprocessing.Describe())
	return err
}
