package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/features"
)

func featuresCommand() *cli.Command {
	return &cli.Command{
		Name:  "features",
		Usage: "feature stores: put shards together",
		Subcommands: []*cli.Command{{
			Name:      "join",
			Usage:     "put the shards of winnow extract --shard together",
			ArgsUsage: "SHARD...",
			Description: "The shards, in any order, must be all of one image list, made with the same model, preprocessing, views and\n" +
				"--batch. Nothing may be missing, doubled or changed. The result is the store that one extraction would have\n" +
				"made, byte for byte where all ran on the same kind of device; the shards are left as they are.\n\n" +
				"   winnow extract … --shard 1/2 --out birds.1    winnow extract … --shard 2/2 --out birds.2\n" +
				"   winnow features join birds.1 birds.2 --out birds.features",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "feature store `DIR` to write"},
				&cli.BoolFlag{Name: "overwrite", Usage: "replace another store in --out"},
				&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
			},
			Action: featuresJoin,
		}},
	}
}

// joinedStore is what `winnow features join --json` prints.
type joinedStore struct {
	Store    string `json:"store"`
	Shards   int    `json:"shards"`
	Rows     int    `json:"rows"`
	Dim      int    `json:"dim"`
	Device   string `json:"device"`
	Bad      int    `json:"unreadable"`
	Complete bool   `json:"complete"` // it was there already: nothing was done
}

func featuresJoin(c *cli.Context) error {
	dirs, out := c.Args().Slice(), c.String("out")
	if len(dirs) == 0 {
		return misused("features join: a shard is missing: winnow features join SHARD... --out DIR")
	}
	s, err := features.Join(dirs, out, c.Bool("overwrite"))
	complete := errors.Is(err, features.ErrComplete)
	if complete {
		s, err = features.Open(out)
	}
	if err != nil {
		return joinHint(err)
	}
	r := joinedStore{Store: out, Shards: len(dirs), Rows: s.Rows, Dim: s.Dim, Device: s.Device, Bad: len(s.Bad), Complete: complete}
	if strings.Contains(s.Device, ",") {
		note(c, "the shards were made on different devices (%s): their last bits are not those of one", s.Device)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, r)
	}
	fmt.Fprintf(c.App.Writer, "%s: %d images × %d values from %d shards, %d unreadable\n", r.Store, r.Rows, r.Dim, r.Shards, r.Bad)
	if complete {
		fmt.Fprintln(c.App.Writer, "it was complete: nothing to do")
	}
	return nil
}

// joinHint adds what to do about shards that do not make a whole.
func joinHint(err error) error {
	var missing *features.MissingShards
	var other *features.KeyError
	var damaged *features.DamageError
	switch {
	case errors.As(err, &missing):
		return withHint(err, "name them too, or make them: winnow extract … --shard %d/%d --out DIR", missing.Missing[0], missing.Of)
	case errors.As(err, &other), errors.As(err, &damaged):
		return withHint(err, "name another folder with --out, or replace it with --overwrite")
	}
	return err
}
