package inspect

import (
	"context"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"winnow/audit"
	"winnow/audit/crossfit"
	"winnow/cluster"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/head"
	"winnow/internal/budget"
	"winnow/internal/hint"
	"winnow/run/dealt"
)

// Job divides an audit that judges rows apart.
var Job = cluster.Job[part]{Name: "audit", Unit: "images", Merge: merge}

type part = dealt.Part[asked, audit.Judged]

// asked are the options of an audit that judges rows apart. Parts keep them for the join.
type asked struct {
	Manifest         location.Source `json:"-"` // as Features, named differently on other machines
	Features         string          `json:"-"`
	View, Scorer     string
	IncludeEval      bool
	Folds, FitSample int
	Seed             uint64
	Rate             *float64
	Files            Files
}

// apart is an audit that judges rows apart from each other.
type apart struct {
	asked
	job  dealt.Job[asked, *audit.Basis, audit.Judged]
	opts Options
	d    *datasets.Dataset // as it was read
}

// open reads the manifest and finds the features.
func (q asked) open(ctx context.Context, o Options, winnow string) (*apart, error) {
	d, err := q.read(ctx, o)
	if err != nil {
		return nil, err
	}
	return q.of(d, o, winnow)
}

func (q asked) read(ctx context.Context, o Options) (*datasets.Dataset, error) {
	return datasets.Read(q.Manifest, datasets.ReadOptions{Once: ctx, Note: o.Note})
}

// of finds the features of a manifest that is read.
func (q asked) of(d *datasets.Dataset, o Options, winnow string) (*apart, error) {
	a := &apart{asked: q, opts: o, d: d}
	rows, err := dealt.Open(o.asJudged(a.d), q.Features, q.View, o.Note)
	if err != nil {
		return nil, err
	}
	a.job = dealt.Job[asked, *audit.Basis, audit.Judged]{
		Options: q, Rows: rows, Drawn: q.FitSample, Seed: q.Seed, Winnow: winnow,
		Fit: func(ctx context.Context, sums *leaveout.Sums, sample features.Set) (*audit.Basis, error) {
			return audit.NewBasis(ctx, sums, sample, o.Options)
		},
		Judge: func(ctx context.Context, b *audit.Basis, block features.Set) (audit.Judged, error) {
			return b.Judge(ctx, block.X, block.Labels, block.IDs)
		},
		Progress: func(done, total int) {
			if o.Told != nil {
				o.Told(done, total, 0, "images")
			}
		},
	}
	return a, nil
}

// askedFor checks what is asked for, and completes it.
func askedFor(in Input, o *Options, f Files) (q asked, err error) {
	if err := in.check(*o); err != nil {
		return q, err
	}
	o.Scorer = audit.Named(o.Scorer).Name
	q = asked{View: in.View, Scorer: o.Scorer, IncludeEval: o.IncludeEval, Folds: o.Folds, FitSample: o.FitSample,
		Seed: o.Seed, Rate: o.Rate, Files: f}
	if q.Manifest, err = in.Manifest.Absolute(); err != nil {
		return q, err
	}
	for _, path := range []struct {
		to   *string
		from string
	}{{&q.Features, in.Features}, {&q.Files.Classes, f.Classes}, {&q.Files.Clean, f.Clean}} {
		if *path.to = path.from; path.from == "" {
			continue
		}
		if *path.to, err = filepath.Abs(path.from); err != nil {
			return q, err
		}
	}
	q.Files.Out = ""
	return q, nil
}

// within refuses more than the memory holds: said is the number of rows whose judgement is kept.
func (a *apart) within(said int) error {
	return a.opts.withinApart(a.job.Rows.Len(), a.job.Rows.Store.Dim, len(a.d.Classes), said)
}

// withinApart is [apart.within] before there are features.
func (o Options) withinApart(rows, wide, classes, said int) error {
	dim, judged := int64(wide), int64(min(wide, head.Widest))
	u := budget.Use{What: fmt.Sprintf("audit: %d images of %d values in %d classes", rows, dim, classes),
		Beside: int64(rows)*budget.Named + int64(said)*budget.Told + int64(classes)*(16*dim+8*judged)}
	sample := min(max(o.FitSample, dealt.LeastOfClass*classes), rows)
	u.Other = u.Beside + budget.Covariance(wide) + crossfit.Held(sample, wide, classes) + int64(sample)*8*dim +
		int64(max(o.Folds, 5))*int64(classes)*8*judged
	_, err := u.With(o.Held).Similarities(o.MaxMem)
	return err
}

// bySample judges the training labels of a manifest by sums over its stored features and fits to a sample.
func bySample(ctx context.Context, in Input, o Options) (*Report, error) {
	q, err := askedFor(in, &o, Files{})
	if err != nil {
		return nil, err
	}
	d, err := q.read(ctx, o)
	if err != nil {
		return nil, err
	}
	r, err := q.whole(ctx, d, o)
	if err != nil {
		return nil, err
	}
	r.from = in.Manifest
	return r, nil
}

// whole judges all images of d here.
func (q asked) whole(ctx context.Context, d *datasets.Dataset, o Options) (*Report, error) {
	a, err := q.of(d, o, "")
	if err != nil {
		return nil, err
	}
	if err := a.within(a.job.Rows.Len()); err != nil {
		return nil, err
	}
	b, said, err := a.job.Run(ctx)
	if err != nil {
		return nil, err
	}
	return a.report(ctx, b, said)
}

// report names what was found.
func (a *apart) report(ctx context.Context, b *audit.Basis, said []audit.Judged) (*Report, error) {
	rows := a.job.Rows
	result, err := b.Conclude(ctx, rows.Labels, said, a.opts.Options)
	if err != nil {
		return nil, err
	}
	if n := len(rows.Labels) - len(result.Suspects); n > 0 {
		a.opts.Note("%d images have no label and are not judged", n)
	}
	r := &Report{LeftOut: rows.LeftOut, from: a.Manifest, source: a.d}
	if rows.Store.Views() > 1 {
		r.View = a.View
	}
	return r, r.name(result, rows.IDs, rows.Manifest, rows.Manifest.Classes, a.opts.Note)
}

// StorePart makes a shard's part of the audit that [Judge] makes of a manifest by a sample, into the output f.Out.
// The first machine fits for all. The rest of f is written by the join.
func StorePart(ctx context.Context, in Input, o Options, f Files, s cluster.Shard, winnow string) (cluster.Made,
	error) {
	o = o.completed()
	if o.FitSample == 0 {
		return cluster.Made{}, hint.Misused("--shard deals an audit by a sample: add --fit-sample N, for example " +
			"100000, for the images that heads are trained on")
	}
	q, err := askedFor(in, &o, f)
	if err != nil {
		return cluster.Made{}, err
	}
	a, err := q.open(ctx, o, winnow)
	if err != nil {
		return cluster.Made{}, err
	}
	if err := a.within(0); err != nil {
		return cluster.Made{}, err
	}
	return a.job.Part(ctx, Job, location.At(f.Out), s)
}

// Joined is an audit joined from parts.
type Joined struct {
	*Report
	top int
}

// Write writes it for people.
func (j Joined) Write(w io.Writer) error {
	j.WriteText(w, j.top)
	return nil
}

// merge makes the audit from the judgements of all parts, as one machine does, and writes its files.
func merge(ctx context.Context, w *cluster.Whole, values iter.Seq2[part, error],
	o cluster.JoinOptions) (cluster.Result, error) {
	list, q, err := dealt.First(values)
	if err != nil {
		return nil, err
	}
	told := func(done, total, _ int, _ string) { o.Progress(done, total) }
	a, err := q.open(ctx, Options{Options: audit.Options{Scorer: q.Scorer, Folds: q.Folds, Seed: q.Seed, Rate: q.Rate,
		Told: told},
		IncludeEval: q.IncludeEval, FitSample: q.FitSample, Note: o.Note}.completed(), w.Parts[0].Winnow)
	if err != nil {
		return nil, err
	}
	b, said, err := a.job.Joined(ctx, w, list)
	if err != nil {
		return nil, err
	}
	r, err := a.report(ctx, b, said)
	if err != nil {
		return nil, err
	}
	a.Files.Out = w.Out.Path()
	return Joined{r, a.Files.Top}, r.Save(ctx, a.Files, a.opts)
}
