package index

import (
	"context"
	_ "embed"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/run/embedding"
)

//go:embed search.txt
var searchHelp string

// Search returns the "winnow search" command.
func Search() *cli.Command {
	return &cli.Command{
		Name:        "search",
		Usage:       "find similar images in an index or a feature store",
		ArgsUsage:   "QUERY...",
		Description: searchHelp,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "index", Aliases: []string{"i", "features"},
				Usage: "search `DIR`, written by winnow index or winnow extract"},
			&cli.IntFlag{Name: "k", Value: 10, Usage: "show the `K` most similar images of each query"},
			&cli.StringFlag{Name: "manifest", Usage: "show labels from the manifest `FILE`"},
			&cli.StringFlag{Name: "model", Aliases: []string{"run"}, DefaultText: "the model of the index",
				Usage: "run folder or ONNX `FILE` that embeds queries, if it was moved"},
			term.OutFlag("write the results to `FILE` as JSON"),
		}, term.EmbedFlags...),
		Action: term.Action(readSearch, runSearch),
	}
}

// searchOptions holds the parsed flags of "winnow search".
type searchOptions struct {
	embedding.Search
	JSON bool
	Out  string // file for the results; "": none
}

func readSearch(c *cli.Context) (o searchOptions, err error) {
	o.Index, o.Queries, o.K, o.Manifest = c.String("index"), c.Args().Slice(), c.Int("k"),
		location.At(c.String("manifest"))
	o.Out, o.JSON = c.String("out"), c.Bool("json")
	if err := term.KeepInput(c, append(o.Queries, o.Manifest.Path())...); err != nil {
		return o, err
	}
	if o.Options, err = term.EmbedOptions(c); err != nil {
		return o, err
	}
	switch {
	case o.Index == "":
		return o, term.Misused("winnow search: --index is missing, expected the folder to search")
	case len(o.Queries) == 0:
		return o, term.Misused("winnow search: found no query: give images, paths of the index, or a .npy file")
	case o.K < 1:
		return o, term.Misused("--k: found %d, expected at least 1", o.K)
	}
	return o, nil
}

func runSearch(ctx context.Context, p *term.Program, o searchOptions) error {
	r, err := o.Run(ctx, p.Host(), o.Out)
	if err != nil {
		return err
	}
	for _, l := range r.LeftOut {
		p.Note("%s: %s", l.Path, l.Reason)
	}
	if stale := r.Stale(); stale != "" {
		fix := "winnow index --add brings the index up to date"
		if r.FromStore {
			fix = "run winnow extract again with the images that exist"
		}
		p.Note("%s: %s", stale, fix)
	}
	return p.Result(r, o.JSON, nil)
}
