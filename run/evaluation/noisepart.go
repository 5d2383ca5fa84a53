package evaluation

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"winnow/audit"
	"winnow/cluster"
	"winnow/datasets"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
	"winnow/internal/hint"
	"winnow/run/dealt"
	"winnow/train"
)

// NoiseJob divides an estimate by a sample.
var NoiseJob = cluster.Job[noisePart]{Name: "noise", Unit: "images", Merge: mergeNoise}

type noisePart = dealt.Part[askedNoise, noiserate.Said]

// askedNoise is what the parts of an estimate keep for the join.
type askedNoise struct {
	Manifest, Features, Named string `json:"-"` // with the names that other machines may have for them, and the manifest's as given
	Methods                   []string
	FitSample, Top            int
	Seed                      uint64
}

// compared is what images are compared by: the classes of all, and what similarities to them mean.
type compared struct {
	Whole       *leaveout.Whole
	Calibration noiserate.Calibration
}

// noiseJob is an estimate that asks images apart from each other.
type noiseJob struct {
	dealt.Job[askedNoise, compared, noiserate.Said]
}

// askedFor checks what is asked for.
func (o NoiseOptions) askedFor() (q askedNoise, err error) {
	if o.FitSample < 0 {
		return q, hint.Misused("--fit-sample: found %d, expected 1 or more", o.FitSample)
	}
	for _, m := range o.Methods {
		if !slices.Contains(noiserate.Dealt(), m) {
			return q, hint.Misused("--fit-sample: the method %s needs all images at once, expected %s", m, strings.Join(noiserate.Dealt(), " or "))
		}
	}
	q = askedNoise{Named: o.Manifest, Methods: o.Methods, FitSample: o.FitSample, Top: o.Top, Seed: o.Seed}
	if q.Manifest, err = filepath.Abs(o.Manifest); err == nil {
		q.Features, err = filepath.Abs(o.Features)
	}
	return q, err
}

// open reads the manifest and finds the features.
func (q askedNoise) open(ctx context.Context, winnow string, progress func(done, total int), note func(format string, args ...any)) (j noiseJob, err error) {
	d, err := datasets.Read(q.Manifest, datasets.ReadOptions{Once: ctx, Note: note})
	if err != nil {
		return j, err
	}
	rows, err := dealt.Open(d, q.Features, "", note)
	if err != nil {
		return j, err
	}
	j.Job = dealt.Job[askedNoise, compared, noiserate.Said]{
		Options: q, Rows: rows, Drawn: q.FitSample, Seed: q.Seed, Winnow: winnow, Progress: progress,
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

// report estimates by what all rows said.
func (j noiseJob) report(ctx context.Context, c compared, blocks []noiserate.Said) (NoiseReport, error) {
	var said noiserate.Said
	for _, b := range blocks {
		said.Given, said.Ranked = append(said.Given, b.Given...), append(said.Ranked, b.Ranked...)
	}
	d, rows := j.Rows.Manifest, j.Rows
	var judged []int // labels of the rows that said something
	for _, y := range rows.Labels {
		if y >= 0 && c.Whole.Column[y] >= 0 {
			judged = append(judged, y)
		}
	}
	var list []noiserate.Estimate
	for _, m := range j.Options.Methods {
		e, err := noiserate.FromSaid(ctx, said, judged, len(d.Classes), len(c.Whole.Classes), m, train.Rand(j.Options.Seed, "noise rate", 0))
		if err != nil {
			return NoiseReport{}, err
		}
		list = append(list, e)
	}
	return newNoiseReport(j.Options.Named, list, d, rows.IDs, rows.Labels, d.Classes, j.Options.Top), nil
}

func noiseBySample(ctx context.Context, o NoiseOptions, progress func(done, total int), note func(format string, args ...any)) (NoiseReport, error) {
	q, err := o.askedFor()
	if err != nil {
		return NoiseReport{}, err
	}
	j, err := q.open(ctx, "", progress, note)
	if err != nil {
		return NoiseReport{}, err
	}
	c, said, err := j.Run(ctx)
	if err != nil {
		return NoiseReport{}, err
	}
	return j.report(ctx, c, said)
}

// NoisePart makes a shard's part of the estimate that [Noise] makes by a sample, into the output o.Out.
func NoisePart(ctx context.Context, o NoiseOptions, s cluster.Shard, winnow string, progress func(done, total int), note func(format string, args ...any)) (cluster.Made, error) {
	if o.FitSample == 0 {
		return cluster.Made{}, hint.Misused("--shard deals an estimate by a sample: add --fit-sample N, for example 100000")
	}
	q, err := o.askedFor()
	if err != nil {
		return cluster.Made{}, err
	}
	j, err := q.open(ctx, winnow, progress, note)
	if err != nil {
		return cluster.Made{}, err
	}
	return j.Part(ctx, NoiseJob, o.Out, s)
}

// mergeNoise estimates by what the images of all parts said, as one machine does.
func mergeNoise(ctx context.Context, w *cluster.Whole, values iter.Seq2[noisePart, error], o cluster.JoinOptions) (cluster.Result, error) {
	list, q, err := dealt.First(values)
	if err != nil {
		return nil, err
	}
	j, err := q.open(ctx, w.Parts[0].Winnow, o.Progress, o.Note)
	if err != nil {
		return nil, err
	}
	c, said, err := j.Joined(ctx, w, list)
	if err != nil {
		return nil, err
	}
	r, err := j.report(ctx, c, said)
	if err != nil {
		return nil, err
	}
	return r, cluster.Save(w.Out, r)
}
