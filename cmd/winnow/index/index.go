// Package index implements the commands that use embeddings: "winnow embed" computes vectors of images, "winnow index"
// builds and extends an index of images, and "winnow search" finds similar images.
package index

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/run/embedding"
)

// Index returns the "winnow index" command.
func Index() *cli.Command {
	return &cli.Command{
		Name:      "index",
		Usage:     "build an index of images for winnow search, or add images to it",
		ArgsUsage: "IMAGES...",
		Description: "Embeds images (given as for winnow embed) and writes the folder --out: vectors.bin (one unit\n" +
			"vector per image), paths.txt, and index.json with the model. --add appends images that the index\n" +
			"does not contain, with the same model; an index made in several steps with the same --batch equals\n" +
			"an index made at once, byte for byte. After an interrupt, --add continues. Images are identified by\n" +
			"the paths given. Unreadable images are left out. --add tries these again, and embeds images again\n" +
			"whose files have changed.\n\n" +
			"   winnow index --model runs/birds photos/2024 --out birds.index\n" +
			"   winnow index photos/2025 --out birds.index --add",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "model", DefaultText: "with --add, the model of the index",
				Usage: "embed with a run folder, an ONNX `FILE` of winnow export, or a backbone of winnow models list"},
			term.Required(term.OutFlag("folder `DIR` of the index")),
			&cli.BoolFlag{Name: "overwrite", Usage: "write to a folder that contains other files"},
			&cli.BoolFlag{Name: "add", Usage: "add to an existing index"},
		}, term.EmbedFlags...),
		Action: term.Action(readIndex, runIndex),
	}
}

// indexOptions holds the parsed flags of "winnow index".
type indexOptions struct {
	embedding.Options
	Images []location.Source
	Out    string
	Add    bool // add to an existing index
	JSON   bool
}

func readIndex(c *cli.Context) (indexOptions, error) {
	by, err := term.EmbedOptions(c)
	if err != nil {
		return indexOptions{}, err
	}
	o := indexOptions{by, location.All(c.Args().Slice()), c.String("out"), c.Bool("add"), c.Bool("json")}
	switch {
	case len(o.Images) == 0:
		return o, term.Misused("winnow index: found no images: give files, folders, .zip files, manifests, or - for " +
			"paths on standard input")
	case !o.Add && o.Model == "":
		return o, term.Misused("winnow index: --model is missing, expected a run folder, a backbone or an ONNX file")
	}
	return o, nil
}

func runIndex(ctx context.Context, p *term.Program, o indexOptions) (err error) {
	var r embedding.Indexed
	if o.Add {
		r, err = embedding.ExtendIndex(ctx, p.Host(), o.Out, o.Images, o.Options)
	} else {
		r, err = embedding.CreateIndex(ctx, p.Host(), o.Out, o.Images, o.Options)
	}
	if err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(r)
	}
	p.Unreadable(r.LeftOut)
	fmt.Fprintf(p.Out, "%s: %d images × %d values; %d added, %d already in the index\n", o.Out, r.Rows, r.Dim, r.Added,
		r.Skipped)
	return nil
}
