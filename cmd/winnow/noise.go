package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/internal/catalog"
	"winnow/run"
	"winnow/run/folder"
	"winnow/train"
)

func noiseCommand() *cli.Command {
	return &cli.Command{
		Name:      "noise",
		Usage:     "estimate how many training labels are wrong, before any training",
		ArgsUsage: "MANIFEST",
		Description: "Looks at the stored features of the labelled training images, whitened, and at the labels as given. Each image is\n" +
			"left out of its own judgement. The interval says how far the choice of images may have moved the estimate, not how\n" +
			"far the method is off: where mistakes go to similar classes ranks finds too few of them. Where the manifest knows\n" +
			"true labels the true share is printed beside.\n\n" +
			"winnow train --noise-rate auto takes the estimate of the method ranks.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "features", Required: true, Usage: "feature store `DIR` of winnow extract"},
			&cli.StringFlag{Name: "method", Value: noiserate.Auto, Usage: "how to estimate, by `NAME`: " + strings.Join(noiserate.Methods(), ", ") + ", or all"},
			&cli.IntFlag{Name: "top", Value: 5, Usage: "print the `N` classes with the most wrong labels"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the resampling behind the interval"},
			&cli.BoolFlag{Name: "json", Usage: "print everything as JSON"},
		},
		Action: showNoise,
	}
}

// noiseReport is what winnow noise says.
type noiseReport struct {
	Manifest  string             `json:"manifest"`
	Images    int                `json:"images"` // labelled, of the train split
	Estimates []folder.NoiseRate `json:"estimates"`
	True      *float64           `json:"true_rate"` // null where the manifest does not know it
	Classes   []classNoise       `json:"classes"`   // by the first estimate, the most first
}

type classNoise struct {
	Class  string  `json:"class"`
	Images int     `json:"images"`
	Rate   float64 `json:"rate"`
}

func showNoise(c *cli.Context) error {
	d, err := readManifestArg(c)
	if err != nil {
		return err
	}
	methods := []string{c.String("method")}
	if methods[0] == "all" {
		methods = noiserate.Methods()
	}
	for _, m := range methods {
		if !slices.Contains(noiserate.Methods(), m) {
			return misused("--method: found %q%s, expected %s or all", m, catalog.Ask(m, noiserate.Methods()), strings.Join(noiserate.Methods(), ", "))
		}
	}
	data, err := run.Load(d, c.String("features"), false)
	if err != nil {
		return err
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	report := noiseReport{Manifest: c.Args().First(), Images: data.Train.Len() - data.Unlabelled}
	z, err := run.JudgedVectors(data)
	if err != nil {
		return err
	}
	for i, m := range methods {
		e, err := noiserate.Of(z, len(data.Classes), m, train.Rand(c.Uint64("seed"), "noise rate", 0))
		if err != nil {
			return err
		}
		report.Estimates = append(report.Estimates, folder.WrittenRate(e))
		if i == 0 {
			report.Classes = classRates(e, data)
		}
	}
	report.True = trueRate(d, data)
	if c.Bool("json") {
		return printJSON(c.App.Writer, report)
	}
	report.print(c.App.Writer, c.Int("top"))
	return nil
}

// classRates lists the classes, those with the most wrong labels first.
func classRates(e noiserate.Estimate, data run.Data) []classNoise {
	count := make([]int, len(data.Classes))
	for _, y := range data.Train.Labels {
		if y >= 0 {
			count[y]++
		}
	}
	list := []classNoise{}
	for k, rate := range e.Classes {
		if !math.IsNaN(rate) {
			list = append(list, classNoise{data.Classes[k], count[k], rate})
		}
	}
	slices.SortStableFunc(list, func(a, b classNoise) int { return cmp.Compare(b.Rate, a.Rate) })
	return list
}

// trueRate is the share of wrong labels among those that are judged; nil where the manifest does not know.
func trueRate(d *datasets.Dataset, data run.Data) *float64 {
	if !d.HasTruth(datasets.Train) {
		return nil
	}
	wrong, all := 0, 0
	for i, id := range data.Train.IDs {
		if data.Train.Labels[i] != features.Unlabelled {
			all++
			if s := d.Samples[id]; s.Label != s.True {
				wrong++
			}
		}
	}
	rate := float64(wrong) / float64(all)
	return &rate
}

func (r noiseReport) print(w io.Writer, top int) {
	for _, e := range r.Estimates {
		fmt.Fprintf(w, "wrong labels: about %s, %d images judged\n", e, e.Judged)
	}
	if r.True != nil {
		fmt.Fprintf(w, "the manifest knows: %.1f %% are wrong\n", 100**r.True)
	}
	for _, k := range first(r.Classes, top) {
		fmt.Fprintf(w, "  %5.1f %%  %s (%d images)\n", 100*k.Rate, term.Shorten(k.Class, 32), k.Images)
	}
}
