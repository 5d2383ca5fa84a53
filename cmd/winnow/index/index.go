// Package index is winnow index.
package index

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/run/embedding"
)

// Command is winnow index.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "index",
		Usage:     "build an index of images on disk for winnow search, or add images to it",
		ArgsUsage: "IMAGES...",
		Description: "Embeds images (as winnow embed takes them) into the folder --out: vectors.bin (unit vectors, one an image), paths.txt\n" +
			"and index.json, which says who made them. --add puts images behind those that are there, by the same embedder, and\n" +
			"passes over those it has: made in several steps with one --batch it is, byte by byte, that of one. Stopped at any moment it\n" +
			"keeps what it had counted; --add goes on. Images are known by the paths they were named by; unreadable ones are\n" +
			"left out, and tried again by --add.\n\n" +
			"   winnow index --model runs/birds photos/2024 --out birds.index\n" +
			"   winnow index photos/2025 --out birds.index --add",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "model", DefaultText: "with --add, the one that made the index",
				Usage: "embed by a run folder, an ONNX `FILE` that winnow export wrote, or a backbone of winnow " +
					"models list"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "the index, a folder `DIR`"},
			&cli.BoolFlag{Name: "add", Usage: "add to the index that is there"},
			&cli.StringFlag{Name: "dtype", Value: features.Float32,
				Usage: "store numbers of `TYPE` float32 or, in half the space, float16"},
		}, term.EmbedFlags...),
		Action: term.Action(read, call),
	}
}

// Options of winnow index.
type Options struct {
	embedding.Options
	Images []location.Source
	Out    string
	Add    bool   // to the index that is there
	DType  string // of a new index
	JSON   bool
}

func read(c *cli.Context) (Options, error) {
	by, err := term.EmbedOptions(c)
	if err != nil {
		return Options{}, err
	}
	o := Options{by, location.All(c.Args().Slice()), c.String("out"), c.Bool("add"), c.String("dtype"), c.Bool("json")}
	switch {
	case len(o.Images) == 0:
		return o, term.Misused("winnow index: found no images: name files, folders, .zip files, manifests, or - for paths on standard input")
	case !o.Add && o.Model == "":
		return o, term.Misused("winnow index: --model is missing: a run folder, or an ONNX file of winnow export")
	case o.Add && c.IsSet("dtype"):
		return o, term.Misused("--dtype: an index keeps the numbers it was made with; make a new one for others")
	case o.DType != features.Float32 && o.DType != features.Float16:
		return o, term.Misused("--dtype: found %q, expected %s or %s", o.DType, features.Float32, features.Float16)
	}
	return o, nil
}

func run(ctx context.Context, p *term.Program, o Options) (err error) {
	var r embedding.Indexed
	if o.Add {
		r, err = embedding.ExtendIndex(ctx, p.Host(), o.Out, o.Images, o.Options)
	} else {
		r, err = embedding.CreateIndex(ctx, p.Host(), o.Out, o.DType, o.Images, o.Options)
	}
	if err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(r)
	}
	p.Unreadable(r.LeftOut)
	fmt.Fprintf(p.Out, "%s: %d images × %d values; %d added, %d there already\n", o.Out, r.Rows, r.Dim, r.Added, r.Skipped)
	return nil
}
