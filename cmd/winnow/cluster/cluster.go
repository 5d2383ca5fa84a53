// Package cluster implements the "winnow cluster" command: it fills a script for Slurm or manifests for Kubernetes for
// a command that machines can share, and shows which parts are done.
package cluster

import (
	"context"
	_ "embed"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/cmd/winnow/line"
	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
)

//go:embed help.txt
var help string

// Command returns the "winnow cluster" command.
func Command() *cli.Command { return newClusterCommand(runCluster) }

func newClusterCommand(call term.Call[Options]) *cli.Command {
	var o Options
	tasks := term.Flag(&o.Engine.Tasks, "tasks", "divide the work among `N` tasks (required)")
	action := term.BoundAction(&o, readCluster, call)
	return &cli.Command{
		Name: "cluster", Usage: "share work among machines with Slurm or Kubernetes, and show its state",
		Description: help,
		Subcommands: []*cli.Command{
			{Name: "slurm", Usage: "fill the script of a command that takes --shard: its array, and the join after it",
				ArgsUsage: "-- COMMAND …", Action: action, Flags: []cli.Flag{tasks,
					term.Flag(&o.Engine.Sbatch, "sbatch",
						"another `OPTION` of sbatch, as --sbatch=--mem=8G; may be repeated"),
				}},
			{Name: "kubernetes", Usage: "fill the manifests of a command that takes --shard: its Job, and the join",
				ArgsUsage: "-- COMMAND …", Action: action, Flags: []cli.Flag{tasks,
					term.Flag(&o.Engine.Image, "image", "container image `NAME` that runs winnow (required)"),
					term.Flag(&o.Engine.Claim, "claim",
						"persistent volume claim `NAME`, mounted at /data, where relative paths start (required)"),
				}},
			{Name: "status", Usage: "show which parts of OUT are missing, and exit with 1 unless all are there",
				ArgsUsage: "OUT", Action: action},
		},
	}
}

// Options holds the parsed flags and arguments.
type Options struct {
	To      string          // "slurm", "kubernetes", "status"
	Out     location.Source // of status
	Command cluster.Command // for an engine
	Engine  cluster.Options
}

func readCluster(c *cli.Context, o *Options) (err error) {
	if o.To = c.Command.Name; o.To == "status" {
		o.Out, err = term.OneSource(c, "the --out of a command that machines share")
		return err
	}
	list, err := line.Read(c.App, c.Args().Slice())
	if err == nil && len(list) != 1 {
		err = term.Misused("cluster: found %d commands, expected one behind --", len(list))
	}
	if err != nil {
		return term.AsMisuse(err)
	}
	o.Command = list[0]
	return nil
}

func runCluster(_ context.Context, p *term.Program, o Options) (err error) {
	text := ""
	switch o.To {
	case "status":
		return cluster.WriteStatus(p.Data, o.Out)
	case "kubernetes":
		text, err = cluster.WriteKubernetes(o.Command, o.Engine)
	default:
		if o.Engine.Dir, err = os.Getwd(); err == nil {
			o.Engine.Program, err = os.Executable()
		}
		if err == nil {
			text, err = cluster.WriteSlurm(o.Command, o.Engine)
		}
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.Data, text)
	return err
}
