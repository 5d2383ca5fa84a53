package term

import (
	"github.com/urfave/cli/v2"

	"winnow/run/embedding"
)

// DatabaseFlags returns the flags that name a table of a vector database. what begins the help of --to.
func DatabaseFlags(what string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "to",
			Usage: what + ": postgres://USER@HOST/DATABASE (pgvector)"},
		&cli.StringFlag{Name: "collection", DefaultText: "the folder's name",
			Usage: "with --to, the table `NAME`"},
		&cli.StringFlag{Name: "key-file", DefaultText: "PGPASSWORD or ~/.pgpass",
			Usage: "with --to, read the password from `FILE`"},
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
