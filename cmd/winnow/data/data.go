// Package data is winnow data: it makes, checks and corrupts manifests.
package data

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
)

// Command is winnow data.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "data",
		Usage: "make, check and corrupt manifests: which images there are and how they are labelled",
		Subcommands: []*cli.Command{
			importCommand(runImport),
			checkCommand(runCheck),
			corruptCommand(runCorrupt),
			toplineCommand(runTopline),
			joinCommand(runJoin),
			glyphsCommand(runGlyphs),
		},
	}
}

func printCounts(w io.Writer, d *datasets.Dataset) {
	for _, s := range d.Count() {
		fmt.Fprintf(w, "%-10s %7d images  %6d classes of %d to %d images", s.Split, s.Samples, s.Classes, s.Smallest, s.Largest)
		if s.Unlabelled > 0 {
			fmt.Fprintf(w, "  %d unlabelled", s.Unlabelled)
		}
		if n := len(s.Singletons); n > 0 {
			fmt.Fprintf(w, "  %d class(es) with one image", n)
		}
		fmt.Fprintln(w)
	}
}

func printNoise(w io.Writer, split string, r datasets.NoiseReport) {
	fmt.Fprintf(w, "%s: %d of %d labels wrong (%.2f %%; per class %.1f to %.1f %%)\n",
		split, r.Corrupted, r.Samples, 100*r.Rate, 100*r.ClassMin, 100*r.ClassMax)
	fmt.Fprintf(w, "pairs said alike that differ: %.2f %% (symmetric noise: %.2f %%); pairs said different that are alike: %.3f %% (%.3f %%)\n",
		100*r.WrongPositive, 100*r.ExpectedWrongPositive, 100*r.WrongNegative, 100*r.ExpectedWrongNegative)
	fmt.Fprintf(w, "%d true classes, %d given ones; rates of the classes deviate by %.2f %% (independent flips: %.2f %%)\n",
		r.Classes, r.Labels, 100*r.ClassDeviation, 100*r.BinomialDeviation)
}
