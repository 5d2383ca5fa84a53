package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"winnow/models"
	"winnow/models/architecture"
)

func modelsNewCommand() *cli.Command {
	return &cli.Command{
		Name:      "new",
		Usage:     "make an untrained network from a description, its weights drawn from a seed",
		ArgsUsage: "NAME",
		Description: "Writes an ONNX file and records it under NAME. --arch names a network of winnow models architectures or\n" +
			"a YAML file like those it prints. The same description and seed give the same file.\n\n" +
			"   winnow models new digits --arch lenet --seed 1\n" +
			"   winnow train --model digits --finetune all ...",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "arch", Required: true, Usage: "`NETWORK`: a name, or a file that ends in .yaml or .yml"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of the weights"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, DefaultText: "NAME.onnx beside the registry", Usage: "ONNX `FILE` to write"},
			&cli.BoolFlag{Name: "json", Usage: "print the entry as JSON"},
		},
		Action: modelsNew,
	}
}

func modelsArchitecturesCommand() *cli.Command {
	return &cli.Command{
		Name:      "architectures",
		Usage:     "list the networks that models new knows, or print the description of one",
		ArgsUsage: "[NAME]",
		Flags:     []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
		Action:    modelsArchitectures,
	}
}

func modelsNew(c *cli.Context) error {
	name, err := oneArgument(c, "one name")
	if err != nil {
		return err
	}
	net, err := openArchitecture(c.String("arch"))
	if err != nil {
		return err
	}
	r, err := openRegistry()
	if err != nil {
		return err
	}
	e := models.Entry{
		Name: name, Input: architecture.Input, Output: architecture.Output, Preprocessing: net.Preprocessing,
		Source: fmt.Sprintf("made by winnow, not trained: %s, weights drawn with seed %d", net.Name, c.Uint64("seed")),
		Recipe: fmt.Sprintf("winnow models new %s --arch %s --seed %d", name, c.String("arch"), c.Uint64("seed")),
	}
	b, p, err := r.AddNew(e, net.Model(c.Uint64("seed")).Marshal(), c.String("out"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, b.Entry)
	}
	fmt.Fprintf(c.App.Writer, "made %s: %s, %d parameters drawn with seed %d, feature %s of %s numbers, %s\n",
		b.Name, b.Path, net.Parameters, c.Uint64("seed"), p.Cut, dimension(p.Dim), describePreprocessing(b.Preprocessing))
	return nil
}

// openArchitecture reads a description that --arch names.
func openArchitecture(name string) (*architecture.Network, error) {
	if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		net, err := architecture.Embedded(name)
		if err != nil {
			return nil, withHint(err, "winnow models architectures lists them")
		}
		return net, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("architecture: %w", err)
	}
	return architecture.Parse(name, text)
}

// listedArchitecture is one line of the list.
type listedArchitecture struct {
	Name       string `json:"name"`
	Channels   int    `json:"channels"`
	Side       int    `json:"side"`
	Dim        int    `json:"dim"`
	Parameters int64  `json:"parameters"`
	About      string `json:"about"`
}

func modelsArchitectures(c *cli.Context) error {
	if c.NArg() > 0 {
		name, err := oneArgument(c, "one name")
		if err != nil {
			return err
		}
		text, err := architecture.Text(name)
		if err == nil {
			_, err = c.App.Writer.Write(text)
		}
		return err
	}
	var list []listedArchitecture
	for _, name := range architecture.Names() {
		n, err := architecture.Embedded(name)
		if err != nil {
			return err
		}
		list = append(list, listedArchitecture{n.Name, n.Channels, n.Side, n.Dim, n.Parameters, n.About})
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, list)
	}
	return writeArchitectures(c.App.Writer, list)
}

func writeArchitectures(out io.Writer, list []listedArchitecture) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tIMAGES\tFEATURES\tPARAMETERS\tWHAT")
	for _, a := range list {
		fmt.Fprintf(w, "%s\t%d×%d×%d\t%d\t%d\t%s\n", a.Name, a.Channels, a.Side, a.Side, a.Dim, a.Parameters, a.About)
	}
	return w.Flush()
}
