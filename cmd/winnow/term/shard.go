package term

import (
	"os"

	"github.com/urfave/cli/v2"

	"winnow/parts"
)

// ShardFlag deals a command's rows among machines; rows says what they are.
func ShardFlag(rows string) cli.Flag {
	return &cli.StringFlag{Name: "shard", Usage: "only the `I/N`-th part of the " + rows + ", written into OUT.parts, for several machines: winnow join OUT puts the parts together; auto (or auto/N) finds I and N in a task of Slurm, AWS Batch or Kubernetes"}
}

// Shard reads ShardFlag.
func Shard(c *cli.Context) (parts.Shard, error) {
	if !c.IsSet("shard") {
		return parts.Shard{}, nil
	}
	s, err := parts.Parse(c.String("shard"), os.LookupEnv)
	if err != nil {
		return s, Misused("--shard: %w", err)
	}
	return s, nil
}

// Dealt says which shard was found in the environment, and returns it.
func (p *Program) Dealt(s parts.Shard) parts.Shard {
	if s.By != "" {
		p.Note("%s", s.Note())
	}
	return s
}
