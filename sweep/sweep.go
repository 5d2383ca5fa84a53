// Package sweep trains a grid of settings, or points drawn from ranges, each for several seeds, compares them by the validation
// split and names the best. Every training is a run folder of its own.
package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/extraction"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/text"
	"winnow/papers/recipes"
	"winnow/run"
	"winnow/run/cells"
	"winnow/run/config"
	"winnow/run/evaluation"
	"winnow/run/folder"
	"winnow/run/settings"
	"winnow/run/tuning"
	"winnow/train"
)

// Options say what is trained, and where it is kept.
type Options struct {
	Asked settings.Asked // what all trainings share
	Axes  []Axis         // what differs
	Seeds []uint64       // of the trainings
	Draws int            // points that are drawn; 0: the whole grid
	Seed  uint64         // they are drawn by
	Dir   string
	Jobs  int // trainings at once; 0: one a thread, and one where a backbone is trained

	MLflow string // folder of MLflow's files in which every training is recorded, too; "": none

	Threads int // of all together; 0: one a core
	Winnow  string
	About   folder.Facts                                           // what the caller knows for run.json: device, threads, recipe
	Host    extraction.Host                                        // takes notes; computes by Runtime
	Runtime func(threads int) (*ort.Runtime, error)                // opens what computes, for so many threads a product
	Steps   func() (at func(done, total, earlier int), end func()) // shows the steps of all trainings; may be nil
}

// Sweep is a sweep whose every configuration is checked.
type Sweep struct {
	Options
	Points []Point
	cells  []cell

	data    *datasets.Dataset
	held    string // the split that is measured beside validation, "" where there is none
	results *Results
	rt      *ort.Runtime
	jobs    int

	line  sync.Mutex // guards what follows
	at    func(done, total, earlier int)
	end   func()
	done  int // steps of all trainings of this call, with those of earlier ones
	early int // of an earlier one
	total int
}

// New checks everything that can be wrong before data are read.
func New(o Options) (*Sweep, error) {
	s := &Sweep{Options: o}
	s.Axes = slices.Clone(o.Axes)
	switch {
	case len(s.Axes) == 0:
		return nil, hint.Misused("sweep: --vary is missing: expected KEY=VALUE,VALUE,… at least once")
	case s.Draws < 0:
		return nil, hint.Misused("--draws: found %d, expected 1 or more", s.Draws)
	case s.Jobs < 0:
		return nil, hint.Misused("--jobs: found %d, expected 1 or more", s.Jobs)
	case s.Dir == "":
		return nil, hint.Misused("--out is missing")
	}
	for i, a := range s.Axes {
		if len(s.Asked[a.Key]) > 0 {
			return nil, hint.Misused("--vary %s: --%s gives it for all trainings: expected one of the two", a.Key, a.Key)
		}
		if slices.ContainsFunc(s.Axes[:i], func(b Axis) bool { return b.Key == a.Key }) {
			return nil, hint.Misused("--vary: found %s twice, expected all its values at once", a.Key)
		}
		if err := s.Axes[i].check(config.Default()); err != nil {
			return nil, hint.Misused("--vary %w", err)
		}
	}
	return s, s.plan()
}

// tunes reports whether any training trains a backbone.
func (s *Sweep) tunes() bool {
	return slices.ContainsFunc(s.cells, func(c cell) bool { return c.cfg.Finetune.On() })
}

// Run trains what is not trained yet, several at once, and writes results.csv, results.json and report.html into the folder after
// each. Trainings that fail do not end the others: they are in the results. With dry nothing is trained but the steps that are
// timed, and no results come back.
func (s *Sweep) Run(ctx context.Context, dry bool) (Plan, *Results, error) {
	var plan Plan
	s.Host = s.Host.Complete()
	note := s.Host.Note
	s.Host.Note = func(format string, args ...any) { // a line that moves is ended first
		s.line.Lock()
		defer s.line.Unlock()
		if s.end != nil {
			s.end()
		}
		note(format, args...)
	}
	if err := s.read(); err != nil {
		return plan, nil, err
	}
	held, err := cells.Hold(s.Dir, "sweep")
	if err != nil {
		return plan, nil, err
	}
	defer held.Close()
	store := s.store()
	if err := store.Prepare(); err != nil {
		return plan, nil, err
	}
	if s.jobs = s.Jobs; s.jobs == 0 && s.tunes() {
		s.jobs = 1
	}
	var threads int
	s.jobs, threads = cells.Share(s.jobs, s.Threads)
	s.rt, err = s.Runtime(threads)
	if err != nil {
		return plan, nil, err
	}
	defer s.rt.Close()
	s.Host.Runtime = func() (*ort.Runtime, error) { return s.rt, nil }
	if err := s.sameAsBefore(dry); err != nil {
		return plan, nil, err
	}
	if err := s.makeFeatures(ctx); err != nil {
		return plan, nil, err
	}
	queue := s.queue(store)
	if plan, err = s.estimate(ctx, queue); err != nil || dry {
		return plan, nil, err
	}
	s.Host.Note("%s", plan)
	s.results = newResults(s)
	if s.Steps != nil {
		s.at, s.end = s.Steps()
		s.total = plan.Steps
	}
	failed, err := queue.Go(ctx)
	s.line.Lock()
	if s.end != nil {
		s.end()
		s.at = nil
	}
	s.line.Unlock()
	for _, f := range failed {
		s.results.fail(f.Cell, f.Err)
	}
	if s.results.len() > 0 {
		err = errors.Join(err, s.results.write(s.Dir))
	}
	return plan, s.results, err
}

// read reads the manifest, and refuses one by which nothing can be chosen.
func (s *Sweep) read() (err error) {
	first := s.cells[0].cfg
	if s.data, err = datasets.Read(first.Data.Manifest, datasets.ReadOptions{Note: s.Host.Note}); err != nil {
		return err
	}
	labelled := func(split string) int {
		n := 0
		for _, i := range s.data.Select(split) {
			if s.data.Samples[i].Label != datasets.Unlabelled {
				n++
			}
		}
		return n
	}
	if labelled(datasets.Validation) == 0 {
		return hint.With(fmt.Errorf("sweep: %s: found no labelled image in the split validation, expected some: the best is chosen by them", first.Data.Manifest),
			"winnow data import --split makes one")
	}
	switch {
	case labelled(datasets.Test) > 0:
		s.held = datasets.Test
	case labelled(datasets.Query) > 0 && labelled(datasets.Gallery) > 0:
		s.held = datasets.Query
	default:
		s.Host.Note("the manifest has no test split: nothing stands beside validation, which chooses and so is too kind to the best")
	}
	return nil
}

// makeFeatures makes the features that fine-tunings start from, once for all, where none are named.
func (s *Sweep) makeFeatures(ctx context.Context) error {
	i := slices.IndexFunc(s.cells, func(c cell) bool { return c.cfg.Finetune.On() && c.cfg.Data.Features == "" })
	differ := func(keys ...string) bool {
		return slices.ContainsFunc(s.Axes, func(a Axis) bool { return slices.Contains(keys, a.Key) })
	}
	if i < 0 || differ("model", "data.model", "augment", "finetune.augment", "features", "data.features", "config", "recipe") {
		return nil // each makes its own
	}
	live, err := tuning.Open(s.cells[i].cfg, s.data.Paths(), tuning.Config{Note: s.Host.Note, Watch: unwatched})
	if err != nil {
		return err
	}
	live.Use(s.rt)
	e := live.Extraction(filepath.Join(s.Dir, folder.OwnFeatures))
	if old, err := features.Open(e.Out); err != nil || old.Key.Differs(e.Key()) != "" {
		s.Host.Note("making the features of the backbone before training, into %s, for all trainings", e.Out)
	}
	if _, err := e.Store(ctx, s.Host); err != nil {
		return errors.Join(err, live.Close())
	}
	for k := range s.cells {
		if c := &s.cells[k]; c.cfg.Data.Features == "" {
			c.asked, c.cfg.Data.Features = c.asked.With("features", e.Out), e.Out
		}
	}
	return live.Close()
}

func unwatched(string) (func(done, total int), func()) { return func(int, int) {}, func() {} }

// store keeps what came of each training, by the name of its folder.
func (s *Sweep) store() cells.Store[Outcome] {
	return cells.Store[Outcome]{Dir: filepath.Join(s.Dir, "outcomes"), For: "sweep", Whole: func(o Outcome) bool { return o.Seed > 0 }}
}

// dir is a training's run folder.
func (s *Sweep) dir(c cell) string { return filepath.Join(s.Dir, "cells", c.name) }

func (s *Sweep) queue(store cells.Store[Outcome]) cells.Queue[cell, Outcome] {
	return cells.Queue[cell, Outcome]{
		Cells: s.cells, Jobs: s.jobs, GoOn: true, Note: s.Host.Note,
		Kept: func(c cell) (Outcome, bool, error) {
			if _, err := folder.ReadResult(s.dir(c)); err != nil { // its folder is not whole, or gone
				return Outcome{}, false, nil
			}
			return store.Get(c.name)
		},
		Run: func(ctx context.Context, c cell) (Outcome, error) {
			o, err := s.train(ctx, c)
			if err == nil {
				err = store.Put(c.name, o)
			}
			return o, err
		},
		Done: func(c cell, o Outcome, before bool) error {
			s.results.add(c, o)
			if before {
				return nil
			}
			return s.results.write(s.Dir)
		},
		Describe: func(c cell) string { return fmt.Sprintf("%s, seed %d", s.words(s.Points[c.point]), c.seed) },
		Headline: func(o Outcome) string { return fmt.Sprintf("validation P@1 %.4f", o.Validation) },
	}
}

// Outcome is what came of a training.
type Outcome struct {
	Seed       uint64   `json:"seed"`
	Validation float64  `json:"validation_p@1"` // of the state that is kept
	Frozen     float64  `json:"frozen_p@1"`     // validation without training
	Whitened   float64  `json:"whitened_p@1"`
	Test       *float64 `json:"test_p@1,omitempty"`
	BestStep   int      `json:"best_step"`
	Steps      int      `json:"steps"`
	Stopped    bool     `json:"stopped_early,omitempty"`
	Seconds    float64  `json:"seconds"`
	Curve      Curve    `json:"validation_curve"`
}

// Curve is what validation found over the epochs.
type Curve struct {
	X []float64 `json:"epochs"`
	Y []float64 `json:"score"`
}

// train makes a cell's run folder, or goes on with it, and measures it.
func (s *Sweep) train(ctx context.Context, c cell) (o Outcome, err error) {
	dir, start := s.dir(c), time.Now()
	result, err := s.trainIn(ctx, c, run.Options{Resume: true})
	if bad, ok := errors.AsType[*train.CheckpointError](err); ok && ctx.Err() == nil {
		s.Host.Note("%v: the training begins again", bad)
		result, err = s.trainIn(ctx, c, run.Options{Overwrite: true})
	}
	if err != nil {
		return o, err
	}
	v := result.Validation
	if v == nil {
		return o, fmt.Errorf("sweep: %s: no image of the validation split has features: nothing can be chosen", dir)
	}
	o = Outcome{Seed: c.seed, Validation: v.Trained.PrecisionAt1, Frozen: v.Frozen.PrecisionAt1, Whitened: v.Whitened.PrecisionAt1, BestStep: result.BestStep, Steps: result.Steps, Stopped: result.Stopped}
	if s.held != "" {
		if o.Test, err = s.test(ctx, dir); err != nil {
			return o, err
		}
	}
	if o.Curve, err = readCurve(dir); err != nil {
		return o, err
	}
	o.Seconds = time.Since(start).Seconds()
	return o, nil
}

func (s *Sweep) trainIn(ctx context.Context, c cell, o run.Options) (folder.Result, error) {
	o.Dir, o.MLflow, o.Winnow, o.About, o.Host = s.dir(c), s.MLflow, s.Winnow, s.About, s.Host
	if name := c.asked["recipe"]; len(name) > 0 {
		recipe, err := recipes.Find(name[0])
		if err != nil {
			return folder.Result{}, err
		}
		o.About.Recipe, o.About.RecipeSHA256 = recipe.Name, recipe.SHA256()
	}
	o.Host.Note = func(string, ...any) {} // what is said of data and plan is the same for all
	steps := 0
	o.Begun = func(plan run.Plan) error {
		steps = plan.Steps - plan.Resumed
		s.stepped(plan.Resumed, plan.Resumed)
		return nil
	}
	o.Stepped = func(train.Step) { steps--; s.stepped(1, 0) }
	session, err := run.OpenWith(ctx, c.cfg, s.data, o)
	if err != nil {
		return folder.Result{}, err
	}
	_, result, err := session.Train(ctx)
	s.stepped(max(steps, 0), max(steps, 0)) // it ended early, or failed
	return result, errors.Join(err, session.Close())
}

// stepped counts steps, some of which were not made now.
func (s *Sweep) stepped(n, early int) {
	s.line.Lock()
	defer s.line.Unlock()
	s.done, s.early = s.done+n, s.early+early
	if s.at != nil && n > 0 && s.done <= s.total {
		s.at(s.done, s.total, min(s.early, s.done))
	}
}

// test measures a run on the images that choose nothing.
func (s *Sweep) test(ctx context.Context, dir string) (*float64, error) {
	metrics, _, err := evaluation.Choose("retrieval", nil, nil, func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	asked := evaluation.Options{Metrics: metrics}
	quiet := s.Host
	quiet.Note = func(string, ...any) {}
	r, err := folder.Open(ctx, dir, folder.Options{Host: quiet, Splits: asked.Splits(), For: "sweep"})
	if err != nil {
		return nil, err
	}
	result, err := evaluation.Run(ctx, r, asked)
	if err != nil {
		return nil, err
	}
	return &result.PrecisionAt1, nil
}

// readCurve reads what validation found while a run trained.
func readCurve(dir string) (c Curve, err error) {
	metrics, err := train.ReadMetrics(dir)
	if err != nil {
		return c, err
	}
	facts, err := folder.ReadFacts(dir)
	if err != nil {
		return c, err
	}
	for _, m := range metrics {
		if m.Validation != nil {
			c.X, c.Y = append(c.X, float64(m.Step)/float64(max(facts.StepsPerEpoch, 1))), append(c.Y, *m.Validation)
		}
	}
	return c, nil
}

// imagesSum is a hash of everything in a manifest that a training or a measurement sees.
func imagesSum(d *datasets.Dataset) string {
	h := sha256.New()
	for _, sample := range d.Samples {
		fmt.Fprintf(h, "%q %d %s\n", sample.Path, sample.Label, sample.Split)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// about says how long something takes.
func about(seconds float64) string { return text.About(time.Duration(seconds * float64(time.Second))) }

// plural writes a number of things.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
