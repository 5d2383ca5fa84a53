// Package features is winnow features: it puts shards of a feature store together.
package features

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/features"
	"winnow/internal/hint"
)

// JoinOptions name the shards and the store that they become.
type JoinOptions struct {
	Shards          []string
	Out             string
	Overwrite, JSON bool
}

// Command is winnow features.
func Command() *cli.Command { return command(join) }

func command(join term.Call[JoinOptions]) *cli.Command {
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
			Action: term.Action(read, join),
		}},
	}
}

// JoinedStore is what `winnow features join --json` prints.
type JoinedStore struct {
	Store    string `json:"store"`
	Shards   int    `json:"shards"`
	Rows     int    `json:"rows"`
	Dim      int    `json:"dim"`
	Device   string `json:"device"`
	Bad      int    `json:"unreadable"`
	Complete bool   `json:"complete"` // it was there already: nothing was done
}

func read(c *cli.Context) (JoinOptions, error) {
	o := JoinOptions{Shards: c.Args().Slice(), Out: c.String("out"), Overwrite: c.Bool("overwrite"), JSON: c.Bool("json")}
	if len(o.Shards) == 0 {
		return o, term.Misused("features join: a shard is missing: winnow features join SHARD... --out DIR")
	}
	return o, nil
}

func join(_ context.Context, p *term.Program, o JoinOptions) error {
	at, end := p.Watch("images")
	s, err := features.Join(o.Shards, o.Out, o.Overwrite, at)
	end()
	complete := errors.Is(err, features.ErrComplete)
	if complete {
		s, err = features.Open(o.Out)
	}
	if err != nil {
		return withHint(err)
	}
	r := JoinedStore{Store: o.Out, Shards: len(o.Shards), Rows: s.Rows, Dim: s.Dim, Device: s.Device, Bad: len(s.Bad), Complete: complete}
	if strings.Contains(s.Device, ",") {
		p.Note("the shards were made on different devices (%s): their last bits are not those of one", s.Device)
	}
	if o.JSON {
		return p.JSON(r)
	}
	fmt.Fprintf(p.Out, "%s: %d images × %d values from %d shards, %d unreadable\n", r.Store, r.Rows, r.Dim, r.Shards, r.Bad)
	if complete {
		fmt.Fprintln(p.Out, "it was complete: nothing to do")
	}
	return nil
}

// withHint adds what to do about shards that do not make a whole.
func withHint(err error) error {
	var missing *features.MissingShards
	var other *features.KeyError
	var damaged *features.DamageError
	switch {
	case errors.As(err, &missing):
		return hint.With(err, "name them too, or make them: winnow extract … --shard %d/%d --out DIR", missing.Missing[0], missing.Of)
	case errors.As(err, &other), errors.As(err, &damaged):
		return hint.With(err, "name another folder with --out, or replace it with --overwrite")
	}
	return err
}
