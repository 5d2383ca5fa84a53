package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/head"
	"winnow/internal/config"
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

// noiseEstimate is an estimate as it is written, in run.json too.
type noiseEstimate struct {
	Method string  `json:"method"`
	Rate   float64 `json:"rate"`
	Low    float64 `json:"low"` // of the interval of 95 %
	High   float64 `json:"high"`
	Judged int     `json:"judged"` // images
}

// noiseReport is what winnow noise says.
type noiseReport struct {
	Manifest  string          `json:"manifest"`
	Images    int             `json:"images"` // labelled, of the train split
	Estimates []noiseEstimate `json:"estimates"`
	True      *float64        `json:"true_rate"` // null where the manifest does not know it
	Classes   []classNoise    `json:"classes"`   // by the first estimate, the most first
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
			return misused("--method: found %q, expected %s or all", m, strings.Join(noiserate.Methods(), ", "))
		}
	}
	data, err := loadTrainData(d, c.String("features"), false)
	if err != nil {
		return err
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	report := noiseReport{Manifest: c.Args().First(), Images: data.Train.Len() - data.Unlabelled}
	z, err := judgedVectors(data)
	if err != nil {
		return err
	}
	for i, m := range methods {
		e, err := noiserate.Of(z, len(data.Classes), m, train.Rand(c.Uint64("seed"), "noise rate", 0))
		if err != nil {
			return err
		}
		report.Estimates = append(report.Estimates, writtenEstimate(e))
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

// noiseDim is the dimension that features are whitened to before labels are judged.
const noiseDim = 512

// judgedVectors are the training images as labels are judged by: stored features, whitened, which asks no label.
func judgedVectors(data trainData) (features.Set, error) {
	cfg := head.Default()
	cfg.In = data.Train.Dim()
	cfg.Out = min(noiseDim, cfg.In, max(data.Train.Len()-1, 1))
	h, err := head.New(cfg, data.Train.X, train.Rand(0, "judged vectors", 0)) // draws only for directions in which nothing varies
	if err != nil {
		return features.Set{}, err
	}
	return embed(h, data.Train)
}

// resolveRate puts an estimate where the configuration asks for one; nil: it asks for none.
func resolveRate(cfg *config.Run, data trainData) (*noiseEstimate, error) {
	if !cfg.NeedsRate() {
		return nil, nil
	}
	z, err := judgedVectors(data)
	if err != nil {
		return nil, err
	}
	e, err := noiserate.Of(z, len(data.Classes), noiserate.Auto, train.Rand(cfg.Seed, "noise rate", 0))
	if err != nil {
		return nil, withHint(err, "give the share of wrong labels: --noise-rate P")
	}
	cfg.SetRate(math.Round(1e4*e.Rate) / 1e4)
	w := writtenEstimate(e)
	return &w, nil
}

func writtenEstimate(e noiserate.Estimate) noiseEstimate {
	return noiseEstimate{Method: e.Method, Rate: e.Rate, Low: e.Low, High: e.High, Judged: e.Judged}
}

// String is the estimate for people.
func (e noiseEstimate) String() string {
	return fmt.Sprintf("%.1f %% (95 %%: %.1f to %.1f %%, by %s)", 100*e.Rate, 100*e.Low, 100*e.High, e.Method)
}

// classRates lists the classes, those with the most wrong labels first.
func classRates(e noiserate.Estimate, data trainData) []classNoise {
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
func trueRate(d *datasets.Dataset, data trainData) *float64 {
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
		fmt.Fprintf(w, "  %5.1f %%  %s (%d images)\n", 100*k.Rate, shorten(k.Class), k.Images)
	}
}
