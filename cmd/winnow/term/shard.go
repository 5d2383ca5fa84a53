package term

import (
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
)

// ShardFlag returns the flag that divides the work among machines. rows is the unit in the help text, such as "images".
func ShardFlag(rows string) cli.Flag {
	return &cli.StringFlag{Name: "shard",
		Usage: "process only part `I/N` of the " + rows +
			", into OUT.parts; winnow join OUT joins the parts; auto/N " +
			"reads I from Slurm or Kubernetes"}
}

// Shard returns the value of [ShardFlag], which requires --out.
func Shard(c *cli.Context) (cluster.Shard, error) {
	if !c.IsSet("shard") {
		return cluster.Shard{}, nil
	}
	s, err := cluster.Parse(c.String("shard"), os.LookupEnv)
	if err == nil && c.String("out") == "" {
		err = errors.New("--out is missing: it names the output of all parts")
	}
	if err != nil {
		return s, Misused("--shard: %w", err)
	}
	return s, nil
}

// Result prints a result as text or JSON, unless err is not nil, and returns the error.
func (p *Program) Result(r cluster.Result, json bool, err error) error {
	switch {
	case err != nil:
		return err
	case json:
		return p.JSON(r)
	}
	return r.Write(p.Out)
}
