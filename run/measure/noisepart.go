package measure

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"winnow/audit"
	"winnow/cluster"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
	"winnow/internal/hint"
	"winnow/run/dealt"
	"winnow/train"
)

// NoiseJob divides an estimate by a sample.
var NoiseJob = cluster.Job[noisePart]{Name: "noise", Unit: "images", Merge: mergeNoise}

type (
	noisePart  = dealt.Part[NoiseOptions, noiserate.Said]
	dealtNoise = dealt.Job[NoiseOptions, compared, noiserate.Said]
)

// compared is the fit: the classes of all images, and the calibration of similarities to them.
type compared struct {
	Whole       *leaveout.Whole
	Calibration noiserate.Calibration
}

// noiseJob is an estimate that compares images one by one with all classes.
type noiseJob struct{ dealtNoise }

// open reads the manifest and finds the features.
func (o NoiseOptions) open(ctx context.Context, progress func(done, total int),
	note func(format string, args ...any)) (j noiseJob, err error) {
	d, err := o.readManifest(ctx, note)
	if err != nil {
		return j, err
	}
	rows, err := dealt.Open(ctx, d, o.Features, "", note)
	if err != nil {
		return j, err
	}
	j.dealtNoise = dealtNoise{
		Options: o, Rows: rows, Drawn: o.FitSample, Seed: o.Seed, Winnow: o.Winnow, Progress: progress,
		Fit: func(ctx context.Context, sums *leaveout.Sums, sample features.Set) (c compared, err error) {
			if _, c.Whole, err = audit.NewSpace(sums); err == nil {
				c.Calibration, err = noiserate.Calibrate(ctx, c.Whole.Compare(sample.X, sample.Labels))
			}
			return c, err
		},
		Judge: func(ctx context.Context, c compared, block features.Set) (noiserate.Said, error) {
			return c.Calibration.Ask(ctx, c.Whole.Compare(block.X, block.Labels))
		},
	}
	return j, nil
}

// report makes the estimates from the answers of all rows.
func (j noiseJob) report(ctx context.Context, c compared, blocks []noiserate.Said) (NoiseReport, error) {
	var said noiserate.Said
	for _, b := range blocks {
		said.Given, said.Ranked = append(said.Given, b.Given...), append(said.Ranked, b.Ranked...)
	}
	d, rows := j.Rows.Manifest, j.Rows
	var judged []int // labels of the rows that were judged
	for _, y := range rows.Labels {
		if y >= 0 && c.Whole.Column[y] >= 0 {
			judged = append(judged, y)
		}
	}
	var list []noiserate.Estimate
	for _, m := range j.Options.Methods {
		e, err := noiserate.FromSaid(ctx, said, judged, len(d.Classes), len(c.Whole.Classes), m,
			train.Rand(j.Options.Seed, "noise rate", 0))
		if err != nil {
			return NoiseReport{}, err
		}
		list = append(list, e)
	}
	return newNoiseReport(j.Options, list, d, rows.IDs, rows.Labels, d.Classes), nil
}

// bySample compares images one by one with the classes, on one machine, or makes the part of a shard.
func (o NoiseOptions) bySample(ctx context.Context, progress func(done, total int),
	note func(format string, args ...any)) (cluster.Result, error) {
	for _, m := range o.Methods {
		if !slices.Contains(noiserate.Dealt(), m) {
			return nil, hint.Unfit("fit-sample", "the method %s needs all images at once, expected %s",
				m, strings.Join(noiserate.Dealt(), " or "))
		}
	}
	var err error // the join may run in another folder
	if o.Manifest, err = o.Manifest.Absolute(); err != nil {
		return nil, err
	}
	if o.Features, err = filepath.Abs(o.Features); err != nil {
		return nil, err
	}
	j, err := o.open(ctx, progress, note)
	if err != nil {
		return nil, err
	}
	if !o.Shard.Whole() {
		return j.Part(ctx, NoiseJob, location.At(o.Out), o.Shard)
	}
	c, said, err := j.Run(ctx)
	if err != nil {
		return nil, err
	}
	return j.report(ctx, c, said)
}

// mergeNoise estimates from the answers of all parts, as one machine does.
func mergeNoise(ctx context.Context, w *cluster.Whole, values iter.Seq2[noisePart, error],
	o cluster.JoinOptions) (cluster.Result, error) {
	var j noiseJob
	c, said, err := dealt.Join(ctx, w, values, func(asked NoiseOptions) (_ dealtNoise, err error) {
		j, err = asked.open(ctx, o.Progress, o.Note)
		return j.dealtNoise, err
	})
	if err != nil {
		return nil, err
	}
	r, err := j.report(ctx, c, said)
	if err != nil {
		return nil, err
	}
	return r, cluster.Save(w.Out.Path(), r)
}
