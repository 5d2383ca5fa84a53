package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/imageroot"
)

func dataCheckCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "report unreadable images, duplicates, leaks between splits, classes with one sample, label counts",
		ArgsUsage: "MANIFEST",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "root", Usage: "`DIR` (or .zip file) the manifest's paths are relative to (default: the manifest's folder)"},
			&cli.BoolFlag{Name: "strict", Usage: "exit with 1 if an image cannot be read or a picture stands in two splits"},
			&cli.BoolFlag{Name: "json", Usage: "print the whole report as JSON"},
		},
		Action: dataCheck,
	}
}

func dataCheck(c *cli.Context) error {
	d, err := readManifestArg(c)
	if err != nil {
		return err
	}
	root, err := imageroot.Open(imageroot.Resolve(c.String("root"), c.Args().First()))
	if err != nil {
		return err
	}
	var progress func(done, total int)
	if !c.Bool("quiet") {
		line := newProgressLine(c.App.ErrWriter, "images", time.Now)
		defer line.End()
		progress = func(done, total int) { line.At(done, total, 0, "") }
	}
	report, err := datasets.Check(c.Context, root, d, func(data []byte) error {
		_, err := backbone.Decode(data, backbone.DecodeOptions{})
		return err
	}, progress)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = printJSON(c.App.Writer, report)
	} else {
		printCheck(c.App.Writer, d, report)
	}
	if err != nil || !c.Bool("strict") {
		return err
	}
	leaks := 0
	for _, dup := range report.Duplicates {
		if dup.Leak {
			leaks++
		}
	}
	if len(report.Unreadable) > 0 || leaks > 0 {
		return fmt.Errorf("data check: %d unreadable images and %d pictures in two splits, expected none", len(report.Unreadable), leaks)
	}
	return nil
}

func printCheck(w io.Writer, d *datasets.Dataset, r *datasets.CheckReport) {
	printCounts(w, d)
	for _, split := range slices.Sorted(maps.Keys(r.Shared)) {
		if n := r.Shared[split]; n > 0 {
			fmt.Fprintf(w, "%d classes of %s are also in train: this measures known classes, not the papers' unseen ones\n", n, split)
		}
	}
	if r.Noise != nil {
		printNoise(w, datasets.Train, *r.Noise)
	}
	for _, s := range r.Splits {
		if len(s.Singletons) > 0 {
			fmt.Fprintf(w, "%s: %d classes have one image and so no positive pair: %s\n", s.Split, len(s.Singletons), strings.Join(first(s.Singletons, listed), ", "))
		}
	}
	fmt.Fprintf(w, "unreadable: %d\n", len(r.Unreadable))
	for _, p := range first(r.Unreadable, listed) {
		fmt.Fprintf(w, "  %s: %s\n", p.Path, p.Reason)
	}
	writeMore(w, len(r.Unreadable))
	leaks, vary := 0, 0
	for _, dup := range r.Duplicates {
		if dup.Leak {
			leaks++
		}
		if dup.LabelsVary {
			vary++
		}
	}
	fmt.Fprintf(w, "the same bytes under several paths: %d groups, %d with different labels, %d in two splits\n", len(r.Duplicates), vary, leaks)
	for _, dup := range first(r.Duplicates, listed) {
		fmt.Fprint(w, " ")
		for i, p := range dup.Paths {
			fmt.Fprintf(w, " %s (%s, %s)", p, dup.Labels[i], dup.Splits[i])
		}
		fmt.Fprintln(w)
	}
	writeMore(w, len(r.Duplicates))
}

// writeMore says where the rest of a list is that was cut off.
func writeMore(w io.Writer, n int) {
	if n > listed {
		fmt.Fprintf(w, "  … %d more: --json lists all\n", n-listed)
	}
}
