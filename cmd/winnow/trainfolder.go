package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/papers/recipes"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
)

// trainAndPrint is one call of winnow train after its arguments are understood.
func trainAndPrint(c *cli.Context, cfg config.Run) error {
	p := program(c)
	progress := term.NewTrainProgress(p.Err, time.Now)
	o := run.Options{Dir: c.String("out"), Winnow: version(), Resume: c.Bool("resume"), Overwrite: c.Bool("overwrite"), Host: p.Host(), Note: p.Note, Watch: p.Watch}
	o.About = folder.Facts{Device: p.Compute.Device, Threads: p.Compute.Threads}
	if name := c.String("recipe"); name != "" {
		recipe, err := recipes.Find(name)
		if err != nil {
			return err
		}
		o.About.Recipe, o.About.RecipeSHA256 = recipe.Name, recipe.SHA256()
	}
	var rt *ort.Runtime
	o.Host.Runtime = func() (_ *ort.Runtime, err error) {
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
	o.Begun = func(plan run.Plan) error { progress.Begun(plan); return nil }
	if !p.Quiet {
		o.Stepped, o.Validated, o.Weighed = progress.Stepped, progress.Validated, progress.Weighed
	}
	result, err := run.Train(c.Context, cfg, o)
	if err != nil {
		progress.End()
		return err
	}
	if c.Bool("json") {
		return p.JSON(result)
	}
	printTrained(p.Out, result, cfg)
	return nil
}

func printTrained(w io.Writer, result folder.Result, cfg config.Run) {
	if result.Validation != nil {
		result.Validation.Print(w)
	}
	fmt.Fprintln(w, result.Verdict)
	if result.Stopped {
		fmt.Fprintf(w, "stopped early after step %d, as the last %d validations were no better\n", result.Steps, cfg.Validation.Patience)
	}
	if n := result.Corrected; n != nil {
		fmt.Fprintf(w, "%d corrections of labels: %s\n", *n, filepath.Join(result.Run, folder.CorrectionsFile))
	}
	if result.IdleTooOften() {
		fmt.Fprintf(w, "in %d of %d steps no loss had anything to learn from: no pairs in the batch, none that costs anything, or no label that the filter keeps; --batch PxK wants two images of a class and two classes\n", result.Idle, result.Steps)
	}
	files := result.Head
	if result.Backbone != "" {
		files += " on " + result.Backbone
	}
	if result.BestStep >= 0 {
		fmt.Fprintf(w, "%s: the state after step %d of %d\n", files, result.BestStep, result.Steps)
	} else {
		fmt.Fprintf(w, "%s: the state after step %d, the last\n", files, result.Steps)
	}
}
