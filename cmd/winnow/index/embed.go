package index

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/run/embedding"
)

// Embed returns the "winnow embed" command.
func Embed() *cli.Command {
	return &cli.Command{
		Name:      "embed",
		Usage:     "compute the vectors of images with a run or an exported model",
		ArgsUsage: "[RUN] IMAGES...",
		Description: "IMAGES are image files, folders with all images below them, .zip files, manifests (.csv,\n" +
			".jsonl, .txt), or - for paths on standard input, in the order given. RUN is a run folder. Instead,\n" +
			"--model takes an ONNX file of winnow export, or a backbone. The vectors equal those of winnow\n" +
			"export. Memory grows only with the names of the images. --out is written only when it is\n" +
			"complete.\n\n" +
			"FILE.ids.csv lists the images of the rows of FILE.npy. Unreadable images have no row and are listed\n" +
			"with the reason.\n\n" +
			"   winnow embed runs/birds photos/ --out birds.parquet\n" +
			"   find photos -name '*.jpg' | winnow embed --model birds.onnx - --json",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "model",
				Usage: "embed with an ONNX `FILE` of winnow export, a run folder, or a backbone of winnow models list"},
			term.OutFlag("write `FILE`.npy, .csv, .parquet or .jsonl"),
			&cli.BoolFlag{Name: "l2",
				Usage: "scale the vectors of a backbone to length 1, as the vectors of runs and exports are"},
		}, term.EmbedFlags...),
		Action: term.CheckedAction(readEmbed, runEmbed),
	}
}

// embedOptions holds the parsed flags of "winnow embed".
type embedOptions struct {
	embedding.Options
	Images []location.Source
	Out    string // "": lines of JSON on standard output
	Unit   bool   // scale vectors to length 1
	JSON   bool

	files []string // Out and FILE.ids.csv, if any
}

func readEmbed(c *cli.Context) (embedOptions, error) {
	by, err := term.EmbedOptions(c)
	if err != nil {
		return embedOptions{}, err
	}
	o := embedOptions{Options: by, Images: location.All(c.Args().Slice()), Out: c.String("out"), Unit: c.Bool("l2"),
		JSON: c.Bool("json")}
	if o.Model == "" && len(o.Images) > 0 {
		o.Model, o.Images = c.Args().First(), o.Images[1:]
	}
	switch {
	case o.Model == "":
		return o, term.Misused("winnow embed: found no arguments, expected a run folder or --model FILE, and images")
	case len(o.Images) == 0:
		return o, term.Misused("winnow embed: found %s and no images: give files, folders, .zip files, manifests, or "+
			"- for paths on standard input", o.Model)
	case o.Out == "" && !o.JSON:
		return o, term.Misused("winnow embed: give a file to write with --out, or print lines of JSON with --json")
	case o.Out != "":
		if o.files, err = embedding.Files(o.Out); err != nil {
			return o, term.Misused("--out: %v", err)
		}
	}
	return o, nil
}

func runEmbed(ctx context.Context, p *term.Program, o embedOptions) error {
	e, err := embedding.Open(o.Model, o.Backbone, p.Note)
	if err != nil {
		return err
	}
	list, err := imageroot.OpenList(ctx, o.Images, o.Root, o.Stdin, p.Note)
	if err != nil {
		return err
	}
	if o.Out != "" {
		if err := p.CheckTargets(term.Targets("out", o.files...), append(e.Files, list.Files()...)); err != nil {
			return err
		}
	}
	net, err := e.Load(p.Host(), 0, o.Unit && !e.Unit)
	if err != nil {
		return err
	}
	defer net.Close()
	if o.Out == "" {
		return net.WriteLines(ctx, p.Data, list, o.Options)
	}
	r, err := net.WriteFile(ctx, o.Out, list, o.Options)
	if err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(r)
	}
	p.Unreadable(r.LeftOut)
	return r.Write(p.Out)
}
