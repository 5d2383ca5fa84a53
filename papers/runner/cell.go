package runner

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"winnow/audit"
	"winnow/datasets"
	"winnow/features"
	"winnow/filters"
	"winnow/head"
	"winnow/papers/studies"
	"winnow/papers/watch"
	"winnow/run"
	"winnow/run/comparison"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
	"winnow/train/samples"
)

// training is a cell that can be trained.
type training struct {
	cfg    config.Run
	labels *labelled
	data   run.Data
	from   *data
	on     tuning.Backbone // as stored, or trained with the head
}

// prepare joins a cell's labels with their features.
func (r *reproduction) prepare(ctx context.Context, cell studies.Cell) (t training, err error) {
	row, column := r.Study.Rows[cell.Row], r.Study.Columns[cell.Column]
	t.from, t.on = r.of(column, cell.Seed), tuning.Stored{}
	if t.cfg, err = r.config(cell); err != nil {
		return t, err
	}
	if t.labels, err = t.from.as(ctx, row.Labels, column, cell.Seed); err != nil {
		return t, err
	}
	if t.data, err = run.Join(ctx, t.labels.data, t.from.store); err != nil {
		return t, err
	}
	t.cfg.Bank.Size = min(t.cfg.Bank.Size, t.data.Train.Len()) // recipes name the papers' sizes: no image is in the bank several times over
	if t.cfg.Finetune.On() {
		t.cfg.Data = config.Data{Manifest: t.from.from.Manifest, Features: t.from.store.Dir, Root: t.from.from.Root}
		watch := func(string) (func(done, total int), func()) { return func(int, int) {}, func() {} }
		live, err := tuning.Open(t.cfg, t.labels.data.Paths(), tuning.Config{Note: r.Host.Note, Watch: watch})
		if err != nil {
			return t, err
		}
		live.Use(r.rt)
		t.on = live
	}
	return t, nil
}

// embedder gives vectors for the features of images.
type embedder func(features.Set) (features.Set, error)

// cell makes one: by a training, or by what needs none.
func (r *reproduction) cell(ctx context.Context, cell studies.Cell) (studies.Outcome, error) {
	row, column := r.Study.Rows[cell.Row], r.Study.Columns[cell.Column]
	o := studies.Outcome{Study: r.Study.Name, Row: row.Name, Column: column.Name, Seed: cell.Seed, Data: r.of(column, cell.Seed).name, Version: r.Winnow, Measures: map[string]float64{}}
	t, err := r.prepare(ctx, cell)
	if err != nil {
		return o, err
	}
	defer t.on.Close()
	o.NoiseRate = t.labels.rate
	o.Inputs = map[string]string{"features": t.data.StoreSum, "images": t.data.Sum}
	start := time.Now()
	switch {
	case row.Recipe != "":
		err = r.train(ctx, &o, t, row)
	case row.Estimate != "":
		err = estimateRate(ctx, &o, t, row.Estimate)
	case row.Untrained != "":
		var embed embedder
		if embed, err = untrained(ctx, row.Untrained, t); err == nil {
			err = r.measure(ctx, &o, embed, t)
		}
	default:
		err = r.judge(ctx, &o, t, t.data.Train, audit.Options{Scorer: row.Judge, Whiten: true})
	}
	o.Seconds = time.Since(start).Seconds()
	if row.Recipe == "" {
		o.Measures[seconds] = o.Seconds
	}
	return o, err
}

// untrained returns the features as they are, or whitened to the dimension that a head would have.
func untrained(ctx context.Context, how string, t training) (embedder, error) {
	if how == studies.Frozen {
		return func(set features.Set) (features.Set, error) { return comparison.Frozen(ctx, set) }, nil
	}
	white, err := head.Whitening(ctx, t.data.Train, min(t.cfg.Head.Out, t.data.Train.Dim()), t.cfg.Head.Bias)
	if err != nil {
		return nil, err
	}
	return func(set features.Set) (features.Set, error) { return white.EmbedSet(ctx, set) }, nil
}

// trained returns what the head makes of images, on the network as it is now.
func (t training) trained(ctx context.Context, h *head.Head) embedder {
	return func(set features.Set) (features.Set, error) {
		now, err := t.on.Now(ctx, set)
		if err != nil {
			return now, err
		}
		return h.EmbedSet(ctx, now)
	}
}

// train trains and measures a cell.
func (r *reproduction) train(ctx context.Context, o *studies.Outcome, t training, row studies.Row) error {
	opts := run.Options{Last: r.Study.State == studies.Last}
	seen := r.follow(&opts, t.labels.data)
	if opts.Last && seen.trace != validation {
		t.data.Validation = features.Set{} // nothing depends on it
	}
	ranks := row.Judge == samples.SmallLoss || row.Judge == samples.Ensemble || row.Judge == samples.Forgetting
	if corrects := t.cfg.Correct.On() && slices.ContainsFunc(r.Study.Measures, isCorrection); ranks || corrects {
		var err error // what a training leaves in its folder is measured, and goes
		if opts.Dir, err = os.MkdirTemp(r.Dir, ".cell-"); err != nil {
			return fmt.Errorf("reproduce: %w", err)
		}
		defer os.RemoveAll(opts.Dir)
	}
	start := time.Now()
	out, err := run.RunOn(ctx, t.on, t.cfg, t.data, opts)
	if err != nil {
		return err
	}
	o.Measures[seconds] = time.Since(start).Seconds()
	o.Untrained = r.Study.State == studies.Best && out.BestStep == 0
	o.Steps, o.Settings = out.Step, config.Flatten(out.Config)
	seen.end(o)
	if err := r.measure(ctx, o, t.trained(ctx, out.Head), t); err != nil {
		return err
	}
	if t.cfg.Correct.On() && opts.Dir != "" {
		if err := corrections(o, opts.Dir, t); err != nil {
			return err
		}
	}
	switch {
	case row.Judge == "" && slices.Contains(r.Study.Measures, auroc):
		return auditOutcome(ctx, o, out, t.labels.data, t.from.store)
	case row.Judge == "":
		return nil
	}
	z, err := t.trained(ctx, out.Head)(t.data.Train)
	if err != nil {
		return err
	}
	asked := audit.Options{Scorer: row.Judge}
	if ranks {
		list, err := folder.ReadSamples(opts.Dir)
		if err != nil {
			return err
		}
		return r.judgeBySamples(ctx, o, t, z, list, row.Judge)
	}
	return r.judge(ctx, o, t, z, asked)
}

// What a study's chart may follow over the steps of a training.
const (
	accuracy   = "filter-accuracy" // share of right labels among the kept of a batch, smoothed
	validation = "validation"      // what validation measures
	scores     = "p-clean"         // P_clean of right and of wrong labels
	kappa      = "kappa"           // concentrations of the classes
)

// scoreWindow is how many steps' scores a histogram counts.
const scoreWindow = 50

// recorder watches a training for what the study's chart and measures need.
type recorder struct {
	*watch.Training
	trace string // "" for none
	at    []int  // steps after which values are spread out
}

func (r *reproduction) follow(o *run.Options, d *datasets.Dataset) *recorder {
	rec := &recorder{}
	var shares []float64 // of the training
	if c := r.Study.Chart; c != nil {
		rec.trace, shares = c.Trace, c.At
	}
	if rec.trace != accuracy && rec.trace != scores && !slices.Contains(r.Study.Measures, filterAccuracy) {
		d = nil
	}
	rec.Training = watch.Follow(o, d, func(plan run.Plan) ([]int, int) {
		for _, share := range shares {
			rec.at = append(rec.at, max(int(share*float64(plan.Steps)+0.5), 1))
		}
		return rec.at, scoreWindow
	})
	return rec
}

// end writes down what was seen.
func (r *recorder) end(o *studies.Outcome) {
	switch r.trace {
	case validation:
		t := studies.Trace{}
		for _, v := range r.Validations {
			t.X, t.Y = append(t.X, float64(v.Step)), append(t.Y, v.Score)
		}
		o.Traces = map[string]studies.Trace{validation: t}
	case kappa:
		r.nearest(o)
	}
	if r.Filter == nil {
		return
	}
	steps, share := r.Filter.Accuracy(watch.PaperSmoothing)
	if n := len(share); n > 0 {
		o.Measures[filterAccuracy] = share[n-1]
	}
	switch r.trace {
	case accuracy:
		o.Traces = map[string]studies.Trace{accuracy: thinned(steps, share)}
	case scores:
		for _, s := range r.Filter.Scores() {
			o.Spread(scores, studies.Spread{Step: s.Step, Right: counts(s.Right, s.Wrong), Wrong: counts(s.Wrong, s.Right)})
		}
	}
}

// nearest notes the concentrations that were looked at nearest to each of the steps wanted.
func (r *recorder) nearest(o *studies.Outcome) {
	looked := slices.DeleteFunc(slices.Clone(r.Diagnoses), func(d train.Diagnosis) bool { return d.Kappa == nil })
	for _, step := range r.at {
		if len(looked) == 0 {
			return
		}
		away := func(d train.Diagnosis) int { return max(d.Step-step, step-d.Step) }
		d := slices.MinFunc(looked, func(a, b train.Diagnosis) int { return cmp.Compare(away(a), away(b)) })
		o.Spread(kappa, studies.Spread{Step: d.Step, Box: []float64{d.Kappa.Low, d.Kappa.Q1, d.Kappa.Median, d.Kappa.Q3, d.Kappa.High}})
	}
}

// tracePoints bounds what is kept of a trace: every so many steps, so that a run has about this many points.
const tracePoints = 400

// thinned keeps the last point of each stretch.
func thinned(x, y []float64) (t studies.Trace) {
	every := max((len(x)+tracePoints-1)/tracePoints, 1)
	for i := range x {
		if (i+1)%every == 0 || i == len(x)-1 {
			t.X, t.Y = append(t.X, x[i]), append(t.Y, y[i])
		}
	}
	return t
}

// counts returns a histogram in bins as wide as those of the other, so that the two can be drawn over each other.
func counts(h, other filters.Histogram) (c studies.Counts) {
	if h.Total() == 0 {
		return c
	}
	if other.Total() > 0 {
		h = h.AtLeast(other.Exponent)
	}
	return studies.Counts{Edges: h.Edges(), N: h.Counts}
}
