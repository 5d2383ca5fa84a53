// Package train implements the "winnow train" command, which trains on noisy labels.
package train

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/datasets/location"
	"winnow/internal/text"
	"winnow/report/review"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/measure"
	facts "winnow/train"
)

//go:embed help.txt
var help string

// Options holds the parsed flags.
type Options struct {
	Config            config.Run
	Recipe            string // recipe that Config is based on; "": none
	Out               string
	Resume, Overwrite bool
	Defaults          bool // only print Config
	DryRun            bool // only print the plan and its cost
	JSON              bool
	Decisions         string // decisions file of winnow studio; "": none
}

// Command returns the "winnow train" command.
func Command() *cli.Command {
	return &cli.Command{
		Name:        "train",
		Usage:       "train an embedding on noisy labels: a head on a backbone, or also the backbone",
		ArgsUsage:   "[MANIFEST | PHOTOS | --resume RUN]",
		Description: help,
		Flags: append(slices.Insert(training.RunFlags(), 3, cli.Flag(term.OutFlag("run folder `DIR`"))),
			&cli.StringFlag{Name: "decisions",
				Usage: "use the decisions made in winnow studio, `FILE`.decisions.db: decided labels replace given " +
					"labels, and neither --screen nor the filter drops them"},
			&cli.BoolFlag{Name: "resume", Usage: "continue the interrupted run in --out, or named as the argument"},
			&cli.BoolFlag{Name: "overwrite", Usage: "delete the run in --out first"},
			&cli.BoolFlag{Name: "defaults", Usage: "print the settings that would be used, and exit"},
			&cli.BoolFlag{Name: "dry-run",
				Usage: "print every setting as chosen for these data, estimate the training time, and exit"},
			term.JSONFlag(),
		),
		Action: term.Action(readTrain, runTrain),
	}
}

func readTrain(c *cli.Context) (Options, error) {
	term.ContinueBy("")
	if c.Bool("resume") && !c.IsSet("out") && c.NArg() == 1 {
		if err := resumeNamed(c); err != nil {
			return Options{}, err
		}
	}
	o := Options{Recipe: c.String("recipe"), Out: c.String("out"), Resume: c.Bool("resume"),
		Overwrite: c.Bool("overwrite"), Defaults: c.Bool("defaults"), DryRun: c.Bool("dry-run"),
		JSON: c.Bool("json"), Decisions: c.String("decisions")}
	err := term.OneManifest(c)
	if err != nil {
		return o, err
	}
	if o.Config, err = training.ReadRun(c); err != nil || o.Defaults {
		return o, err
	}
	if err := training.AskedRun(c).Enough(o.Config); err != nil {
		return o, err
	}
	if o.Out == "" && !(o.DryRun && o.Config.Data.Features != "") { // making features requires a folder
		return o, term.Misused("winnow train: --out is missing, expected a new folder for the run, such as runs/first")
	}
	if c.IsSet("decisions") && o.Decisions == "" {
		return o, term.Misused("--decisions: found no file, expected the decisions file of winnow studio")
	}
	if o.Resume && o.Overwrite {
		return o, term.Misused("--resume and --overwrite cannot be used together")
	}
	return o, nil
}

// resumeNamed sets --out to the run that is named as the argument of --resume.
func resumeNamed(c *cli.Context) error {
	dir := c.Args().First()
	if _, err := os.Stat(filepath.Join(dir, folder.ConfigFile)); err != nil {
		return term.Misused("winnow train --resume %s: found no %s there, expected the folder of an interrupted run; "+
			"a training that has not made one is continued by its own command", dir, folder.ConfigFile)
	}
	return c.Set("out", dir)
}

func runTrain(ctx context.Context, p *term.Program, o Options) (err error) {
	if o.Defaults {
		text, err := config.Marshal(o.Config)
		if err == nil {
			_, err = p.Data.Write(text)
		}
		return err
	}
	asked := run.Options{Dir: o.Out, Resume: o.Resume, Overwrite: o.Overwrite, Host: p.Host(), Note: p.Note,
		Watch: p.Watch}
	if o.Decisions != "" {
		var err error
		if asked.Checks, err = review.Outcomes(ctx, o.Decisions, location.At(o.Config.Data.Root),
			location.At(o.Config.Data.Manifest)); err != nil {
			return err
		}
	}
	asked.About = folder.Facts{Device: p.Compute.Device, Threads: p.Compute.Threads}
	if o.Recipe != "" {
		recipe, err := config.FindRecipe(o.Recipe)
		if err != nil {
			return err
		}
		asked.About.Recipe, asked.About.RecipeSHA256 = recipe.Name, recipe.SHA256()
	}
	var rt *ort.Runtime // opened once, on first use
	asked.Host.Runtime = func() (_ *ort.Runtime, err error) {
		if rt == nil {
			rt, err = p.OpenRuntime()
		}
		return rt, err
	}
	defer func() {
		if rt != nil {
			rt.Close()
		}
	}()
	planned, err := run.Resolve(ctx, o.Config, run.Input{}, asked)
	if err != nil {
		return err
	}
	if o.DryRun {
		return errors.Join(showPlan(ctx, p, planned, o.JSON), planned.Close())
	}
	line, seen := NewProgress(p.Err, time.Now), []facts.Observer(nil)
	line.Begun(planned.Plan)
	if !p.Quiet {
		seen = []facts.Observer{facts.On(line.Stepped), facts.On(line.Validated), facts.On(line.Weighed)}
	}
	term.ContinueBy("winnow train --resume " + term.Quoted([]string{o.Out}))
	out, err := planned.Run(ctx, seen...)
	line.End()
	if err := errors.Join(err, planned.Close()); err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(out.Summary)
	}
	out.Summary.Write(p.Out)
	if out.Summary.Validation == nil && planned.Tests > 0 {
		if err := printTest(ctx, p, o.Out); err != nil {
			return err
		}
	}
	writeNext(p.Out, o.Out, planned.Config.Data)
	return nil
}

// printTest measures the run in a folder on the test images, and prints whether training improved retrieval.
func printTest(ctx context.Context, p *term.Program, dir string) error {
	metric, err := measure.NewMetric("retrieval", nil)
	if err != nil {
		return err
	}
	o := measure.Options{Metrics: []measure.Metric{metric}, Note: p.Note}
	r, err := folder.Open(ctx, dir, folder.Options{Splits: o.Splits(), For: "train", Host: p.Host()})
	if err != nil {
		return err
	}
	result, err := measure.Run(ctx, r, o)
	if err == nil {
		result.PrintRows(p.Out)
	}
	return err
}

// writeNext prints the commands of [ListNext].
func writeNext(w io.Writer, dir string, data config.Data) {
	for i, command := range ListNext(dir, data) {
		lead := "      "
		if i == 0 {
			lead = "next: "
		}
		fmt.Fprintln(w, lead+command)
	}
}

// ListNext returns the commands that use a trained run: to measure it, to export it, and to search with it.
func ListNext(dir string, data config.Data) (commands []string) {
	images := []string{"index", cmp.Or(data.Manifest, "PHOTOS")}
	if data.Root != "" {
		images = append(images, "--root", data.Root)
	}
	name := filepath.Base(filepath.Clean(dir))
	for _, words := range [][]string{{"eval", dir}, {"export", dir, "--onnx", name + ".onnx"},
		append(images, "--model", dir, "--out", name+".index"), {"search", "--index", name + ".index"}} {
		commands = append(commands, "winnow "+term.Quoted(words))
	}
	commands[len(commands)-1] += " IMAGE"
	return commands
}

// showPlan prints a plan as a YAML file of settings, or as JSON.
func showPlan(ctx context.Context, p *term.Program, t *run.Training, asJSON bool) error {
	plan := t.Plan
	cost, err := t.Cost(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return p.JSON(struct {
			run.Plan
			Seconds  float64           `json:"seconds"`
			Settings map[string]string `json:"settings"`
		}{plan, cost.Seconds(), config.Flatten(plan.Config)})
	}
	settings, err := config.Marshal(plan.Config)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Data, "# %d images of %d classes, %d with a label; %d steps, %d an epoch\n"+
		"# about %s of training on this machine\n%s",
		plan.Images, plan.Classes, plan.Labelled, plan.Steps, plan.Epoch, text.About(cost), settings)
	return err
}
