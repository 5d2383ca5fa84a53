package term

import (
	"github.com/urfave/cli/v2"

	"winnow/run/embedding"
)

// DatabaseFlags returns the flags that name a collection of a vector database. what begins the help of --to.
func DatabaseFlags(what string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "to",
			Usage: what + ": http(s)://HOST:6334 (Qdrant) or postgres://USER@HOST/DATABASE (pgvector)"},
		&cli.StringFlag{Name: "collection", DefaultText: "the folder's name",
			Usage: "with --to, the collection or table `NAME`"},
		&cli.StringFlag{Name: "key-file", DefaultText: embedding.KeyVariable + " or PGPASSWORD",
			Usage: "with --to, read the server's API key or password from `FILE`"},
	}
}

// Database reads DatabaseFlags. Without --to the others, and those in belong, are misuse.
func Database(c *cli.Context, belong ...string) (embedding.Database, error) {
	if c.String("to") != "" {
		return embedding.NewDatabase(c.String("to"), c.String("collection"), c.String("key-file"))
	}
	for _, name := range append(belong, "collection", "key-file") {
		if c.IsSet(name) {
			return embedding.Database{}, Misused("--%s belongs to --to URL, which is missing", name)
		}
	}
	return embedding.Database{}, nil
}
