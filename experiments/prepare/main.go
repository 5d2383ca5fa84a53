// Command prepare converts published dataset files to a manifest for the experiments. If winnow cannot read the images,
// it also converts them. See README.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"winnow/datasets"
)

const usage = `usage: prepare cifar10n -images SHEETS.zip -labels cifar10n.csv.gz -out DIR [-validation N]
       prepare omniglot -out DIR [-test 60] [-validation 40] [-seed 1] IMAGES.zip...
       prepare cub      -out FILE.csv [-protocol prism|half] IMAGES.zip
`

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	commands := map[string]func([]string, io.Writer, io.Writer) error{"cifar10n": cifar10n, "omniglot": omniglot,
		"cub": cub}
	if len(args) == 0 || commands[args[0]] == nil {
		fmt.Fprint(stderr, usage)
		return flag.ErrHelp
	}
	return commands[args[0]](args[1:], stdout, stderr)
}

// newFlags returns a command's flags; every command has -out.
func newFlags(name string, stderr io.Writer) (*flag.FlagSet, *string) {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(stderr)
	return f, f.String("out", "", "output file or folder")
}

// writeManifest writes a dataset and prints its counts.
func writeManifest(path string, d *datasets.Dataset, stdout io.Writer) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := datasets.WriteFile(path, d, nil); err != nil {
		return err
	}
	fmt.Fprintln(stdout, path)
	for _, s := range d.Count() {
		fmt.Fprintf(stdout, "  %-10s %6d images, %4d classes of %d to %d\n", s.Split, s.Samples, s.Classes,
			s.Smallest, s.Largest)
	}
	if d.HasTruth(datasets.Train) {
		fmt.Fprintf(stdout, "  wrong labels in train: %.2f %%\n", 100*d.Noise(datasets.Train).Rate)
	}
	return nil
}
