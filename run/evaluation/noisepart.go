package evaluation

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"winnow/audit"
	"winnow/datasets"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
	"winnow/internal/hint"
	"winnow/parts"
	"winnow/run/dealt"
	"winnow/train"
)

// NoiseJob names the parts of [NoisePart]; before them it makes those of NoiseSumsJob.
const (
	NoiseJob     = "noise"
	NoiseSumsJob = "noise sums"
)

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
	q = askedNoise{Named: o.Manifest.String(), Methods: o.Methods, FitSample: o.FitSample, Top: o.Top, Seed: o.Seed}
	if q.Manifest, err = filepath.Abs(o.Manifest.String()); err == nil {
		q.Features, err = filepath.Abs(o.Features)
	}
	return q, err
}

// open reads the manifest and finds the features.
func (q askedNoise) open(ctx context.Context, winnow string, progress func(done, total int), note func(format string, args ...any)) (j noiseJob, err error) {
	d, err := datasets.ReadFile(q.Manifest, datasets.ReadOptions{Once: ctx, Note: note})
	if err != nil {
		return j, err
	}
	rows, err := dealt.Open(d, q.Features, "", note)
	if err != nil {
		return j, err
	}
	j.Job = dealt.Job[askedNoise, compared, noiserate.Said]{
		Name: NoiseJob, Options: q, Rows: rows, Drawn: q.FitSample, Seed: q.Seed, Winnow: winnow, Progress: progress,
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
	return newNoiseReport(j.Options.Named, list, d, rows.IDs, rows.Labels, d.Classes), nil
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

// NoisePart makes a shard's part of the estimate that [Noise] makes by a sample, into the output o.Out: first of the sums, and when these are
// joined of what images say.
func NoisePart(ctx context.Context, o NoiseOptions, s parts.Shard, winnow string, progress func(done, total int), note func(format string, args ...any)) (parts.Made, error) {
	if o.FitSample == 0 {
		return parts.Made{}, hint.Misused("--shard deals an estimate by sums and a sample: add --fit-sample N, for example 100000")
	}
	q, err := o.askedFor()
	if err != nil {
		return parts.Made{}, err
	}
	j, err := q.open(ctx, winnow, progress, note)
	if err != nil {
		return parts.Made{}, err
	}
	return j.Part(ctx, o.Out, s)
}

// reopenNoise opens what parts are of.
func reopenNoise(ctx context.Context, w *parts.Whole, o parts.JoinOptions) (noiseJob, error) {
	q, err := dealt.OptionsOf[askedNoise](w)
	if err != nil {
		return noiseJob{}, err
	}
	return q.open(ctx, w.Parts[0].Winnow, o.Progress, o.Note)
}

// JoinNoiseSums fits to the sums of all parts and the sample what images are asked by.
func JoinNoiseSums(ctx context.Context, w *parts.Whole, o parts.JoinOptions) (parts.Result, error) {
	j, err := reopenNoise(ctx, w, o)
	if err != nil {
		return nil, err
	}
	rt, err := o.Runtime()
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	return j.JoinSums(ctx, w)
}

// JoinedNoise is an estimate of parts.
type JoinedNoise struct {
	NoiseReport
	top int
}

// Write writes it for people.
func (j JoinedNoise) Write(w io.Writer) error {
	j.NoiseReport.Write(w, j.top)
	return nil
}

// JoinNoise estimates by what the images of all parts said, as one machine does.
func JoinNoise(ctx context.Context, w *parts.Whole, o parts.JoinOptions) (parts.Result, error) {
	j, err := reopenNoise(ctx, w, o)
	if err != nil {
		return nil, err
	}
	c, said, err := j.Joined(ctx, w)
	if err != nil {
		return nil, err
	}
	r, err := j.report(ctx, c, said)
	if err != nil {
		return nil, err
	}
	return JoinedNoise{r, j.Options.Top}, r.Save(w.Out)
}
