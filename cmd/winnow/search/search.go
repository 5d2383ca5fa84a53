// Package search is winnow search.
package search

import (
	"context"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets/imagelist"
	"winnow/embedding"
	"winnow/features"
	"winnow/search"
)

// Command is winnow search.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:      "search",
		Usage:     "find the images of an index, or of a feature store, that are most like others",
		ArgsUsage: "QUERY...",
		Description: "QUERY is the path of an image that the index holds (which then does not find itself), a .npy file of vectors, or\n" +
			"images as winnow embed takes them: these are embedded by the model that made the index. Similarity is the cosine;\n" +
			"the search is exact, ties go to the image that came first.\n\n" +
			"Every call reads the whole index: with 512 values an image it takes 0.1 s of a core among 100,000 images, 0.7 s among a\n" +
			"million and 4 s among four million (8 GB), and for a hundred queries at once 0.2, 2 and 10 s. Beyond some ten million\n" +
			"images, or for many calls a second among millions, an approximate index is the better tool: winnow export --to.\n\n" +
			"   winnow search --index birds.index unknown.jpg\n" +
			"   winnow search --index birds.features --manifest birds.csv 07.jpg --k 5",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "index", Aliases: []string{"i", "features"}, Required: true, Usage: "look in `DIR`, which winnow index or winnow extract wrote"},
			&cli.IntFlag{Name: "k", Value: 10, Usage: "the `K` most similar of each"},
			&cli.StringFlag{Name: "manifest", Usage: "show the labels that manifest `FILE` gives"},
			&cli.StringFlag{Name: "model", DefaultText: "the one that made the index", Usage: "embed queries by a run folder or an ONNX `FILE`, where it moved"},
		}, term.EmbedFlags...),
		Action: term.Action(read, call),
	}
}

// Options of winnow search.
type Options struct {
	embedding.Options          // of queries that are images
	Index             string   // or a feature store
	Queries           []string // images, paths of the index, .npy files
	K                 int
	Manifest          string // "": no labels
	JSON              bool
}

func read(c *cli.Context) (Options, error) {
	by, err := term.EmbedOptions(c)
	if err != nil {
		return Options{}, err
	}
	o := Options{by, c.String("index"), c.Args().Slice(), c.Int("k"), c.String("manifest"), c.Bool("json")}
	switch {
	case len(o.Queries) == 0:
		return o, term.Misused("winnow search: found no query: name images, paths of the index, or a .npy file")
	case o.K < 1:
		return o, term.Misused("--k: found %d, expected at least 1", o.K)
	}
	return o, nil
}

// manyQueries are worth loading ONNX Runtime for, whose products are several times as fast.
const manyQueries = 8

func run(ctx context.Context, p *term.Program, o Options) error {
	labels, err := embedding.LabelsOf(o.Manifest)
	if err != nil {
		return err
	}
	g, err := search.OpenGallery(o.Index)
	if err != nil {
		return err
	}
	defer g.Close()
	queries, left, err := g.Queries(o.Queries, func(images []string) ([]search.Query, []features.Bad, error) {
		list, err := imagelist.Open(images, o.Root, o.Stdin)
		if err != nil {
			return nil, nil, err
		}
		return embedding.Queries(ctx, p.Host(), g, list, list.Paths(), o.Options)
	})
	if err != nil {
		return err
	}
	if len(queries) >= manyQueries {
		if rt, err := p.OpenRuntime(); err == nil { // without, the same is found more slowly
			defer rt.Close()
		}
	}
	found, err := g.Nearest(ctx, queries, o.K)
	if err != nil {
		return err
	}
	r := embedding.NewAnswers(o.Index, g, queries, found, labels, left)
	for _, l := range r.LeftOut {
		p.Note("%s: %s", l.Path, l.Reason)
	}
	if o.JSON {
		return p.JSON(r)
	}
	return r.Write(p.Out)
}
