// Package cluster is winnow cluster: it hands commands that machines can share to Slurm and Kubernetes, and says how far they are.
package cluster

import (
	"context"
	_ "embed"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/cmd/winnow/line"
	"winnow/cmd/winnow/term"
)

//go:embed help/status.txt
var statusHelp string

//go:embed help/kubernetes.txt
var kubernetesHelp string

//go:embed help/slurm.txt
var slurmHelp string

// Command is winnow cluster.
func Command() *cli.Command { return command(run) }

func command(call term.Call[cluster.Request]) *cli.Command {
	action := term.Action(read, call)
	shared := []cli.Flag{
		&cli.IntFlag{Name: "tasks", DefaultText: "of an hour each, by a dry run of extract",
			Usage: "deal the work among `N` tasks"},
		&cli.IntFlag{Name: "at-once", DefaultText: "as many as there is room for",
			Usage: "at most `N` tasks at the same time"},
		&cli.IntFlag{Name: "cpus", DefaultText: "the engine's", Usage: "`N` processor cores for a task"},
		&cli.IntFlag{Name: "gpus", Usage: "`N` GPUs for a task; it then runs with --device cuda"},
		&cli.StringFlag{Name: "mem", DefaultText: "by a dry run of extract", Usage: "memory for a task, `SIZE`: 4GiB"},
		&cli.IntFlag{Name: "retries", Value: 2, Usage: "try a task that failed `N` times again"},
	}
	return &cli.Command{Name: "cluster", Usage: "share work among machines with Slurm or Kubernetes, and follow it", Subcommands: []*cli.Command{
		{Name: "slurm", Usage: "write the job array of a command that takes --shard, and the join after it", ArgsUsage: "-- COMMAND …", Description: slurmHelp, Action: action, Flags: append(shared,
			&cli.StringFlag{Name: "partition", DefaultText: "the cluster's", Usage: "run in the partition `NAME`"},
			&cli.StringFlag{Name: "time", DefaultText: "by a dry run of extract",
				Usage: "most time of a task, `[D-]H:M:S`"},
			&cli.StringSliceFlag{Name: "sbatch",
				Usage: "another `OPTION` of sbatch, as --sbatch=--account=birds; may be repeated"},
			&cli.StringFlag{Name: "program", DefaultText: "this one", Usage: "winnow's `FILE` on the nodes"},
			&cli.BoolFlag{Name: "chain",
				Usage: "behind extract: audit the features, and draw a map that shows the suspects"},
			&cli.BoolFlag{Name: "submit", Usage: "submit it instead of printing it"})},
		{Name: "kubernetes", Usage: "write the Indexed Job of a command that takes --shard, and the Job that joins its parts", ArgsUsage: "-- COMMAND …", Description: kubernetesHelp, Action: action, Flags: append(shared,
			&cli.StringFlag{Name: "image", Required: true, Usage: "container image `NAME` that runs winnow"},
			&cli.StringFlag{Name: "claim",
				Usage: "persistent volume claim `NAME` that holds manifest, images and output"},
			&cli.StringFlag{Name: "mount", Value: "/data",
				Usage: "where pods find the claim, `DIR`: relative paths start there"},
			&cli.StringFlag{Name: "secret", Usage: "Secret `NAME` whose keys become variables: those of a bucket"},
			&cli.StringFlag{Name: "name", DefaultText: "by --out", Usage: "the Jobs' `NAME`"})},
		{Name: "status", Usage: "show which parts are done, which tasks failed, and what to run next", ArgsUsage: "OUT …", Description: statusHelp, Action: action, Flags: []cli.Flag{
			&cli.BoolFlag{Name: "verify", Usage: "read every byte of the parts"},
			&cli.BoolFlag{Name: "json", Usage: "print it as JSON"}}},
	}}
}

func read(c *cli.Context) (r cluster.Request, err error) {
	r = cluster.Request{To: c.Command.Name, Words: c.Args().Slice(), Verify: c.Bool("verify"), JSON: c.Bool("json"), Options: cluster.Options{
		Tasks: c.Int("tasks"), AtOnce: c.Int("at-once"), CPUs: c.Int("cpus"), GPUs: c.Int("gpus"), Retries: c.Int("retries"), Program: c.String("program"),
		Slurm:      cluster.Slurm{Partition: c.String("partition"), Time: c.String("time"), More: c.StringSlice("sbatch"), Chain: c.Bool("chain"), Submit: c.Bool("submit")},
		Kubernetes: cluster.Kubernetes{Image: c.String("image"), Claim: c.String("claim"), Mount: c.String("mount"), Secret: c.String("secret"), Name: c.String("name")}}}
	if c.IsSet("mem") {
		r.Options.Memory, err = term.Size(c, "mem")
	}
	if err == nil && r.To != "status" {
		r.Commands, err = line.Read(c.App, r.Words)
	}
	return r, term.AsMisuse(err)
}

func run(ctx context.Context, p *term.Program, r cluster.Request) error {
	return cluster.Run(ctx, r, p.Data, p.Err, p.Note)
}
