// Package search is winnow search.
package search

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/embedding"
)

// Command is winnow search.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "search",
		Usage:     "find the images of an index, a feature store or a vector database that are most like others",
		ArgsUsage: "QUERY...",
		Description: "QUERY is the path of an image that the index holds (which then does not find itself), a .npy file of vectors, or\n" +
			"images as winnow embed takes them: these are embedded by the model that made the index. Similarity is the cosine;\n" +
			"the search is exact, ties go to the image that came first.\n\n" +
			"Every call reads the whole index: with 512 values an image it takes 0.1 s of a core among 100,000 images, 0.7 s among a\n" +
			"million and 4 s among four million (8 GB), and for a hundred queries at once 0.2, 2 and 10 s. Beyond some ten million\n" +
			"images, or for many calls a second among millions, an approximate index is the better tool: --to asks a database that\n" +
			"winnow export --to has filled, as it names it. With --index, the same vectors, it also says the recall: how many of the\n" +
			"neighbours that the exact search finds the database found. Without, queries are paths that the database holds, .npy\n" +
			"files, or images with --model.\n\n" +
			"   winnow search --index birds.index unknown.jpg\n" +
			"   winnow search --index birds.features --manifest birds.csv 07.jpg --k 5\n" +
			"   winnow search --to 'postgres://me@db.example/photos?table=birds' --model runs/birds unknown.jpg",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "index", Aliases: []string{"i", "features"}, Usage: "look in `DIR`, which winnow index or winnow extract wrote"},
			&cli.IntFlag{Name: "k", Value: 10, Usage: "the `K` most similar of each"},
			&cli.StringFlag{Name: "manifest", Usage: "show the labels that manifest `FILE` gives"},
			&cli.StringFlag{Name: "model", DefaultText: "the one that made the index", Usage: "embed queries by a run folder or an ONNX `FILE`, where it moved"},
		}, term.DatabaseFlags("ask the vector database at `URL`"), term.EmbedFlags),
		Action: term.Action(read, call),
	}
}

// Options of winnow search.
type Options struct {
	embedding.Search
	JSON bool
}

func read(c *cli.Context) (o Options, err error) {
	o.Index, o.Queries, o.K, o.Manifest, o.JSON = c.String("index"), c.Args().Slice(), c.Int("k"), c.String("manifest"), c.Bool("json")
	if o.Options, err = term.EmbedOptions(c); err != nil {
		return o, err
	}
	switch {
	case o.Index == "" && c.String("to") == "":
		return o, term.Misused("winnow search: --index missing, the folder to look in, or --to URL, a database")
	case len(o.Queries) == 0:
		return o, term.Misused("winnow search: found no query: name images, paths of the index, or a .npy file")
	case o.K < 1:
		return o, term.Misused("--k: found %d, expected at least 1", o.K)
	}
	o.Database, err = term.Database(c)
	return o, err
}

func run(ctx context.Context, p *term.Program, o Options) error {
	o.Database.Note = p.Note
	r, err := o.Run(ctx, p.Host())
	if err != nil {
		return err
	}
	for _, l := range r.LeftOut {
		p.Note("%s: %s", l.Path, l.Reason)
	}
	if o.JSON {
		return p.JSON(r)
	}
	return r.Write(p.Out)
}
