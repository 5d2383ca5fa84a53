package export

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/embedding"
	"winnow/search/qdrant"
)

var qdrantFlags = []cli.Flag{
	&cli.StringFlag{Name: "qdrant", Usage: "embeddings to the Qdrant server at `URL`, http(s)://HOST:6334 (its gRPC port)"},
	&cli.StringFlag{Name: "collection", DefaultText: "the folder's name", Usage: "with --qdrant, into collection `NAME`, which is made where it is not there"},
	&cli.StringFlag{Name: "payload", Value: "label,split", Usage: "with --qdrant, keep `COLUMN,...` of the manifest beside each vector, and index them; path, model and digest are always there"},
	&cli.IntFlag{Name: "batch", Value: 256, Usage: "with --qdrant, `N` points a request"},
	&cli.BoolFlag{Name: "recreate", Usage: "with --qdrant, delete the collection first (to go on after a break, leave this out)"},
	&cli.BoolFlag{Name: "on-disk", Usage: "with --qdrant, a new collection keeps its vectors on the server's disk, not in its memory"},
	&cli.StringFlag{Name: "qdrant-key-file", DefaultText: "the variable " + embedding.KeyVariable, Usage: "with --qdrant, read the server's API key from `FILE`"},
}

// readQdrant reads what --qdrant asks for.
func readQdrant(c *cli.Context) (q embedding.Upload, err error) {
	q = embedding.Upload{URL: c.String("qdrant"), Collection: c.String("collection"), Payload: c.String("payload"), Chosen: c.IsSet("payload"), Batch: c.Int("batch"),
		Recreate: c.Bool("recreate"), OnDisk: c.Bool("on-disk")}
	if q.URL == "" {
		for _, name := range []string{"collection", "payload", "batch", "recreate", "on-disk", "qdrant-key-file"} {
			if c.IsSet(name) {
				return q, term.Misused("--%s belongs to --qdrant URL, which is missing", name)
			}
		}
		return q, nil
	}
	if q.Batch < 1 {
		return q, term.Misused("--batch: found %d, expected 1 point or more", q.Batch)
	}
	if q.Address, err = qdrant.ParseAddress(q.URL); err != nil {
		return q, term.AsMisuse(fmt.Errorf("--qdrant: %w", err))
	}
	q.Key, err = embedding.FindKey(c.String("qdrant-key-file"))
	return q, err
}

// sendGallery sends the vectors of an index or of a feature store.
func (o Options) sendGallery(ctx context.Context, p *term.Program) error {
	if files := o.targets(); len(files) > 0 {
		return term.Misused("--%s: %s is no run folder; of an index or a feature store only --qdrant is written", files[0].Flag, o.Dir)
	}
	if len(o.given) > 0 {
		return term.Misused("--%s: %s is no run folder", o.given[0], o.Dir)
	}
	sent, err := o.Qdrant.Gallery(ctx, o.Dir, o.Run.Manifest)
	if err != nil {
		return misuse(err)
	}
	return result{Run: o.Dir, Qdrant: sent}.print(p, o.JSON)
}

// misuse makes a payload that cannot be an error of usage.
func misuse(err error) error {
	if errors.As(err, new(embedding.PayloadError)) {
		return term.AsMisuse(err)
	}
	return err
}
