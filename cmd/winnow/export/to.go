package export

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/run/embedding"
)

var toFlags = slices.Concat(term.DatabaseFlags("embeddings to the vector database at `URL`"), []cli.Flag{
	&cli.StringFlag{Name: "payload", Value: "label,split",
		Usage: "with --to, keep `COLUMN,...` of the manifest beside each vector, in Qdrant indexed; path, model " +
			"and digest are always there"},
	&cli.IntFlag{Name: "batch", Value: 256, Usage: "with --to, `N` points a request"},
	&cli.BoolFlag{Name: "delete",
		Usage: "with --to, delete from the collection what this export does not have: images that are gone"},
	&cli.BoolFlag{Name: "recreate",
		Usage: "with --to, delete the collection first (to go on after a break, leave this out)"},
	&cli.BoolFlag{Name: "on-disk",
		Usage: "with --to Qdrant, a new collection keeps its vectors on the server's disk, not in its memory"},
})

// readTo reads what --to asks for.
func readTo(c *cli.Context) (u embedding.Upload, err error) {
	u = embedding.Upload{Payload: c.String("payload"), Chosen: c.IsSet("payload"), Batch: c.Int("batch"), Recreate: c.Bool("recreate"), Delete: c.Bool("delete"), OnDisk: c.Bool("on-disk")}
	if u.Database, err = term.Database(c, "payload", "batch", "recreate", "delete", "on-disk"); err == nil && u.Batch < 1 {
		err = term.Misused("--batch: found %d, expected 1 point or more", u.Batch)
	}
	return u, err
}

// sendGallery sends the vectors of an index or of a feature store.
func (o Options) sendGallery(ctx context.Context, p *term.Program) error {
	if files := o.targets(); len(files) > 0 {
		return term.Misused("--%s: %s is no run folder; of an index or a feature store only --to is written", files[0].Flag, o.Dir)
	}
	if len(o.given) > 0 {
		return term.Misused("--%s: %s is no run folder", o.given[0], o.Dir)
	}
	sent, err := o.To.Gallery(ctx, o.Dir, o.Run.Manifest)
	if err != nil {
		return misuse(err)
	}
	return result{Run: o.Dir, Database: sent}.print(p, o.JSON)
}

// misuse makes a payload that cannot be an error of usage.
func misuse(err error) error {
	if errors.As(err, new(embedding.PayloadError)) {
		return term.AsMisuse(err)
	}
	return err
}
