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
	"winnow/run/extraction"
)

// Job divides an audit that judges rows apart.
var Job = cluster.Job[part]{Name: "audit", Unit: "images", Merge: mergeAudits}

type (
	part = dealt.Part[asked, audit.Judged]
	job  = dealt.Job[asked, *audit.Basis, audit.Judged]
)

// asked are the options of a part. The join needs them.
type asked struct {
	Manifest         location.Source `json:"-"` // as Features, named differently on other machines
	Features         string          `json:"-"`
	View, Scorer     string
	IncludeEval      bool
	Folds, FitSample int
	Seed             uint64
	Rate             *float64
	Copies           float64
	Files            Files
	Columns          datasets.Names
}

// apart is an audit that judges rows apart from each other.
type apart struct {
	auditing
	job
	in    Input
	whole *datasets.Dataset // as it was read
}

// openApart finds the stored features of d, the dataset to judge.
func openApart(ctx context.Context, in Input, whole, d *datasets.Dataset, o auditing) (*apart, error) {
	o.Scorer = audit.Named(o.Scorer).Name
	rows, err := dealt.Open(ctx, d, in.Features, in.View, o.Note)
	if err != nil {
		return nil, err
	}
	if o.pictures != nil {
		o.Same, o.Hashes = samePictures(o.pictures, d, rows.IDs), hashesOf(o.looks, rows.IDs)
	}
	return &apart{o, job{
		Rows: rows, Drawn: o.FitSample, Seed: o.Seed,
		Fit: func(ctx context.Context, sums *leaveout.Sums, sample features.Set) (*audit.Basis, error) {
			return o.Auditor.Basis(ctx, sums, sample, rows, o.Options.Options)
		},
		Judge: func(ctx context.Context, b *audit.Basis, block features.Set) (audit.Judged, error) {
			return b.Judge(ctx, block)
		},
		Progress: func(done, total int) {
			if o.Host.Told != nil {
				o.Host.Told(done, total, 0, "images")
			}
		},
	}, in, whole}, nil
}

// withinApart refuses an audit of images, of wide features, that does not fit into memory; kept is the
// number of images whose judgements are held.
func (o Options) withinApart(images, wide, classes, kept int) error {
	dim, judged := int64(wide), int64(min(wide, head.Widest))
	u := budget.Use{What: fmt.Sprintf("audit: %d images of %d values in %d classes", images, dim, classes),
		Beside: int64(images)*budget.Named + int64(kept)*budget.Told + int64(classes)*(16*dim+8*judged)}
	sample := min(max(o.FitSample, dealt.LeastOfClass*classes), images)
	u.Other = u.Beside + budget.Covariance(wide) + crossfit.Held(sample, wide, classes) + int64(sample)*8*dim +
		int64(max(o.Folds, 5))*int64(classes)*8*judged
	_, err := u.With(o.Held).Similarities(o.MaxMem)
	return err
}

// bySample judges d, the images of whole to judge, by sums over their stored features and fits to a sample.
func bySample(ctx context.Context, in Input, whole, d *datasets.Dataset, o auditing) (*Report, error) {
	a, err := openApart(ctx, in, whole, d, o)
	if err != nil {
		return nil, err
	}
	rows := a.job.Rows
	if err := o.withinApart(rows.Len(), rows.Store.Dim, len(d.Classes), rows.Len()); err != nil {
		return nil, err
	}
	b, judged, err := a.job.Run(ctx)
	if err != nil {
		return nil, err
	}
	return a.reportApart(ctx, b, judged)
}

// reportApart names the results.
func (a *apart) reportApart(ctx context.Context, b *audit.Basis, judged []audit.Judged) (*Report, error) {
	rows := a.job.Rows
	result, err := b.Conclude(ctx, rows.Labels, judged, a.auditing.Options.Options)
	if err != nil {
		return nil, err
	}
	r := &Report{LeftOut: rows.LeftOut, from: a.in.Manifest, source: a.whole, Reading: a.whole.Reading}
	if rows.Store.Views() > 1 {
		r.View = a.in.View
	}
	return r, r.nameResult(result, rows.IDs, rows.Manifest, rows.Manifest.Classes, a.Note)
}

// StorePart makes a shard's part of the audit that [Judge] makes of a manifest by a sample, into the output f.Out.
// The first machine fits for all. The join writes the other files of f.
func StorePart(ctx context.Context, in Input, options Options, h Host, f Files, s cluster.Shard,
	winnow string) (made cluster.Made, err error) {
	o := newAuditing(options, h)
	if o.FitSample == 0 {
		return made, hint.Unfit("shard", "only an audit by a sample can be divided: expected a fit sample, for "+
			"example of 100000 images, which heads are trained on")
	}
	if err := in.checkInput(o.Options); err != nil {
		return made, err
	}
	q := asked{View: in.View, Scorer: audit.Named(o.Scorer).Name, IncludeEval: o.IncludeEval, Folds: o.Folds,
		FitSample: o.FitSample, Seed: o.Seed, Rate: o.Rate, Copies: o.Copies, Features: in.Features, Files: f,
		Columns: in.Columns}
	if q.Manifest, err = in.Manifest.Absolute(); err != nil { // the join may run in another folder
		return made, err
	}
	q.Files.Out = ""
	for _, path := range []*string{&q.Features, &q.Files.Classes, &q.Files.Clean} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return made, err
		}
	}
	a, err := q.openSampled(ctx, o)
	if err != nil {
		return made, err
	}
	rows := a.job.Rows
	if err := o.withinApart(rows.Len(), rows.Store.Dim, len(rows.Manifest.Classes), 0); err != nil {
		return made, err
	}
	a.job.Options, a.job.Winnow = q, winnow
	return a.job.Part(ctx, Job, location.At(f.Out), s)
}

// openSampled reads the manifest and finds the features.
func (q asked) openSampled(ctx context.Context, o auditing) (*apart, error) {
	whole, err := datasets.Read(q.Manifest, datasets.ReadOptions{Once: ctx, Names: q.Columns,
		Root: extraction.PicturesOf(q.Features), Note: o.Note})
	if err != nil {
		return nil, err
	}
	return openApart(ctx, Input{Manifest: q.Manifest, Features: q.Features, View: q.View}, whole, o.asJudged(whole), o)
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

// mergeAudits makes the audit from the judgements of all parts, as one machine does, and writes its files.
func mergeAudits(ctx context.Context, w *cluster.Whole, values iter.Seq2[part, error],
	o cluster.JoinOptions) (cluster.Result, error) {
	var q asked
	var a *apart
	b, judged, err := dealt.Join(ctx, w, values, func(options asked) (j job, err error) {
		q = options
		a, err = q.openSampled(ctx, newAuditing(Options{IncludeEval: q.IncludeEval, FitSample: q.FitSample,
			Options: audit.Options{Scorer: q.Scorer, Folds: q.Folds, Seed: q.Seed, Rate: q.Rate}},
			Host{Host: extraction.Host{Note: o.Note}}))
		if err != nil {
			return j, err
		}
		return a.job, nil
	})
	if err != nil {
		return nil, err
	}
	r, err := a.reportApart(ctx, b, judged)
	if err != nil {
		return nil, err
	}
	q.Files.Out = w.Out.Path()
	return Joined{r, q.Files.Top}, r.Save(ctx, q.Files, a.auditing.Options, a.Note)
}
