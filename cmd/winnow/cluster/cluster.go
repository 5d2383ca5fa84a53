// Package cluster implements the "winnow cluster" command: it writes Slurm scripts and Kubernetes
// manifests for commands that machines can share, and shows which parts are done.
package cluster

import (
	"context"
	_ "embed"
	"io"
	"os"
	"slices"

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

// Command returns the "winnow cluster" command.
func Command() *cli.Command { return newClusterCommand(runCluster) }

func newClusterCommand(call term.Call[Options]) *cli.Command {
	action := term.Action(readCluster, call)
	shared := []cli.Flag{
		&cli.IntFlag{Name: "tasks", Usage: "divide the work among `N` tasks (required)"},
		&cli.IntFlag{Name: "at-once", DefaultText: "as many as fit",
			Usage: "run at most `N` tasks at the same time"},
		&cli.IntFlag{Name: "cpus", DefaultText: "the engine's", Usage: "`N` processor cores per task"},
		&cli.IntFlag{Name: "gpus", Usage: "`N` GPUs per task, which then runs with --device cuda"},
		&cli.StringFlag{Name: "mem", DefaultText: "the engine's", Usage: "memory per task, `SIZE`: 4GiB"},
		&cli.IntFlag{Name: "retries", Value: 2, Usage: "try a failed task again, `N` times at most"},
	}
	slurm := append(slices.Clone(shared),
		&cli.StringFlag{Name: "partition", DefaultText: "the cluster's", Usage: "run in the partition `NAME`"},
		&cli.StringFlag{Name: "time", DefaultText: "the partition's",
			Usage: "time limit of a task, `[D-]H:M:S`"},
		&cli.StringSliceFlag{Name: "sbatch",
			Usage: "another `OPTION` of sbatch, as --sbatch=--account=birds; may be repeated"},
		&cli.StringFlag{Name: "program", DefaultText: "this one", Usage: "winnow's `FILE` on the nodes"})
	kubernetes := append(slices.Clone(shared),
		&cli.StringFlag{Name: "image", Required: true, Usage: "container image `NAME` that runs winnow"},
		&cli.StringFlag{Name: "claim",
			Usage: "persistent volume claim `NAME` that holds manifest, images and output"},
		&cli.StringFlag{Name: "mount", Value: "/data",
			Usage: "mount the claim at `DIR`; relative paths start there"},
		&cli.StringFlag{Name: "secret",
			Usage: "Secret `NAME` whose keys become environment variables, such as credentials of a bucket"},
		&cli.StringFlag{Name: "name", DefaultText: "by --out", Usage: "the Jobs' `NAME`"})
	return &cli.Command{
		Name: "cluster", Usage: "share work among machines with Slurm or Kubernetes, and show its state",
		Subcommands: []*cli.Command{
			{Name: "slurm", Usage: "write the job array of a command that takes --shard, and the join after it",
				ArgsUsage: "-- COMMAND …", Description: slurmHelp, Action: action, Flags: slurm},
			{Name: "kubernetes",
				Usage:     "write the Indexed Job of a command that takes --shard, and the Job that joins its parts",
				ArgsUsage: "-- COMMAND …", Description: kubernetesHelp, Action: action, Flags: kubernetes},
			{Name: "status", Usage: "show which parts are done, and what to run next",
				ArgsUsage: "OUT …", Description: statusHelp, Action: action, Flags: []cli.Flag{
					&cli.BoolFlag{Name: "verify", Usage: "read every byte of the parts"},
					term.JSONFlag()}},
		},
	}
}

// Options holds the parsed flags and arguments.
type Options struct {
	To       string            // "slurm", "kubernetes", "status"
	Outs     []string          // of status
	Commands []cluster.Command // for an engine
	Engine   cluster.Options
	Verify   bool // status: read all bytes
	JSON     bool // status
}

func readCluster(c *cli.Context) (o Options, err error) {
	o = Options{To: c.Command.Name, Verify: c.Bool("verify"), JSON: c.Bool("json"), Engine: cluster.Options{
		Tasks: c.Int("tasks"), AtOnce: c.Int("at-once"), CPUs: c.Int("cpus"), GPUs: c.Int("gpus"),
		Retries: c.Int("retries"), Program: c.String("program"),
		Slurm: cluster.Slurm{Partition: c.String("partition"), Time: c.String("time"), More: c.StringSlice("sbatch")},
		Kubernetes: cluster.Kubernetes{Image: c.String("image"), Claim: c.String("claim"), Mount: c.String("mount"),
			Secret: c.String("secret"), Name: c.String("name")},
	}}
	if c.IsSet("mem") {
		o.Engine.Memory, err = term.Size(c, "mem")
	}
	if o.To == "status" {
		o.Outs = c.Args().Slice()
	} else if err == nil {
		o.Commands, err = line.Read(c.App, c.Args().Slice())
	}
	return o, term.AsMisuse(err)
}

func runCluster(ctx context.Context, p *term.Program, o Options) (err error) {
	text := ""
	switch o.To {
	case "status":
		return cluster.WriteStatus(ctx, p.Data, o.Outs, o.Verify, o.JSON)
	case "kubernetes":
		text, err = cluster.WriteKubernetes(o.Commands, o.Engine)
	default:
		var h cluster.Host
		if h.Dir, err = os.Getwd(); err == nil {
			h.Self, err = os.Executable()
		}
		if err == nil {
			text, err = cluster.WriteSlurm(h, o.Commands, o.Engine)
		}
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.Data, text)
	return err
}
