// Package cluster implements the commands that share work among machines. "winnow cluster" fills a script for Slurm or
// manifests for Kubernetes, and shows which parts are done; "winnow join" joins the parts.
package cluster

import (
	"context"
	_ "embed"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
)

//go:embed help.txt
var help string

// Command returns the "winnow cluster" command.
func Command() *cli.Command {
	var o Options
	tasks := term.Flag(&o.Engine.Tasks, "tasks", "divide the work among `N` tasks (required)")
	action := term.BoundAction(&o, readCluster, runCluster)
	return &cli.Command{
		Name: "cluster", Usage: "share work among machines with Slurm or Kubernetes, and show its state",
		Description: help,
		Subcommands: []*cli.Command{
			{Name: "slurm", Usage: "print a script that submits a command with --shard as a job array, and the join",
				ArgsUsage: "-- COMMAND …", Action: action, Flags: []cli.Flag{tasks,
					term.Flag(&o.Engine.Sbatch, "sbatch",
						"another `OPTION` of sbatch, as --sbatch=--mem=8G; may be repeated"),
				}},
			{Name: "kubernetes", Usage: "print the manifests of a Job for a command with --shard, and of the join",
				ArgsUsage: "-- COMMAND …", Action: action, Flags: []cli.Flag{tasks,
					term.Flag(&o.Engine.Image, "image", "container image `NAME` that runs winnow (required)"),
					term.Flag(&o.Engine.Claim, "claim",
						"persistent volume claim `NAME`, mounted at /data, where relative paths start (required)"),
				}},
			{Name: "status", Usage: "show which parts of OUT are missing; exit with 1 if any part is missing",
				ArgsUsage: "OUT", Action: action},
		},
	}
}

// Options holds the parsed flags and arguments.
type Options struct {
	To      string          // "slurm", "kubernetes", "status"
	Out     location.Source // output of the parts, for "status"
	Command cluster.Command // command to run, for "slurm" and "kubernetes"
	Engine  cluster.Options
}

func readCluster(c *cli.Context, o *Options) (err error) {
	if o.To = c.Command.Name; o.To == "status" {
		o.Out, err = term.OneSource(c, "the --out of a command run with --shard")
		return err
	}
	o.Command, err = parseCommand(c, c.Args().Slice())
	return err
}

// parseCommand parses a command line of winnow without the program's name.
func parseCommand(c *cli.Context, words []string) (cluster.Command, error) {
	g, found := cluster.Command{Words: words, Flags: map[string]string{}}, (*cli.Command)(nil)
	for list := c.App.Commands; g.At < len(words); g.At++ {
		at := slices.IndexFunc(list, func(c *cli.Command) bool { return c.HasName(words[g.At]) })
		if at < 0 {
			break
		}
		found, list = list[at], list[at].Subcommands
	}
	if found != nil {
		found.Action = func(c *cli.Context) error {
			g.Name = strings.Join(words[:g.At], " ")
			for _, f := range found.Flags {
				g.Known = append(g.Known, f.Names()[0])
				g.Flags[f.Names()[0]] = c.String(f.Names()[0])
			}
			return nil
		}
	}
	return g, c.App.RunContext(c.Context, term.FlagsFirst(c.App, append([]string{"winnow"}, words...)))
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
