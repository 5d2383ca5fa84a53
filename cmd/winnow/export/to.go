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
		Usage: "with --to, store `COLUMN,...` of the manifest with each vector; path, model and digest are " +
			"always stored"},
	&cli.IntFlag{Name: "batch", Value: 256, Usage: "with --to, `N` rows per request"},
	&cli.BoolFlag{Name: "recreate",
		Usage: "with --to, delete the table first (leave this out to continue after a break)"},
})

// readTo reads --to and its flags.
func readTo(c *cli.Context) (u embedding.Upload, err error) {
	u = embedding.Upload{Payload: c.String("payload"), Chosen: c.IsSet("payload"), Batch: c.Int("batch"),
		Recreate: c.Bool("recreate")}
	if u.Database, err = term.Database(c, "payload", "batch", "recreate"); err == nil &&
		u.Batch < 1 {
		err = term.Misused("--batch: found %d, expected 1 point or more", u.Batch)
	}
	return u, err
}

// sendGallery sends the vectors of an index or of a feature store.
func (o Options) sendGallery(ctx context.Context, p *term.Program) error {
	if files := o.listExportTargets(); len(files) > 0 {
		return term.Misused("--%s: %s is not a run folder; vectors of an index or a feature store go only to --to",
			files[0].Flag, o.Dir)
	}
	if len(o.given) > 0 {
		return term.Misused("--%s: %s is not a run folder", o.given[0], o.Dir)
	}
	sent, err := o.To.Gallery(ctx, o.Dir, o.Run.Manifest)
	if err != nil {
		return asPayloadMisuse(err)
	}
	return result{Run: o.Dir, Database: sent}.printExported(p, o.JSON)
}

// asPayloadMisuse turns a wrong --payload into a usage error.
func asPayloadMisuse(err error) error {
	if errors.As(err, new(embedding.PayloadError)) {
		return term.AsMisuse(err)
	}
	return err
}
