// Package sweep trains a grid of settings, or points drawn from ranges, each for several seeds. It compares them by the
// validation split and names the best. Every training has its own run folder.
package sweep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/text"
	"winnow/run"
	"winnow/run/cells"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/settings"
)

// Options say what is trained, and where it is kept.
type Options struct {
	Asked settings.Asked // shared by all trainings
	Axes  []Axis         // what differs
	Seeds []uint64       // of the trainings
	Draws int            // points to draw; 0: the whole grid
	Seed  uint64         // of the draws
	Dir   string
	Jobs  int // trainings at once, as [cells.Machine] takes it; usually one if a backbone is trained

	Threads int // in all; 0: one per core
	Winnow  string
	About   folder.Facts    // the caller's, for run.json: device, threads, recipe
	Host    extraction.Host // takes notes; computes by Runtime

	Runtime func(threads int) (*ort.Runtime, error)                // opens the runtime; threads of a product
	Steps   func() (at func(done, total, earlier int), end func()) // shows the steps of all trainings; may be nil
}

// OptionError is misuse of an option.
type OptionError struct {
	Option string // vary, draws, jobs or out
	Err    error
}

// Error implements error.
func (e OptionError) Error() string { return e.Option + ": " + e.Err.Error() }

// Unwrap returns the error without the option.
func (e OptionError) Unwrap() error { return e.Err }

func misused(option, format string, args ...any) error {
	return hint.AsMisuse(OptionError{option, fmt.Errorf(format, args...)})
}

// Sweep is a sweep with checked configurations.
type Sweep struct {
	Options
	Points []Point
	cells  []cell

	data     *datasets.Dataset
	held     string // the test split, "" if there is none
	features string // sha256 of the store that all share, "" if there is none
	heldOut  string // what trainings hold out for validation, in words; "" if the manifest has a validation split
	results  *Results
	rt       *ort.Runtime
	jobs     int
	screens  run.Screenings // so that labels are judged once a seed, not once a training

	line  sync.Mutex // guards what follows
	at    func(done, total, earlier int)
	end   func()
	done  int // steps of all trainings
	early int // of these, made by an earlier call
	total int
}

// New checks everything that can be checked before data are read.
func New(o Options) (*Sweep, error) {
	s := &Sweep{Options: o}
	s.Axes = slices.Clone(o.Axes)
	switch {
	case len(s.Axes) == 0:
		return nil, misused("vary", "expected KEY=VALUE,VALUE,… at least once")
	case s.Draws < 0:
		return nil, misused("draws", "found %d, expected 1 or more", s.Draws)
	case s.Dir == "":
		return nil, misused("out", "expected a folder")
	}
	for i, a := range s.Axes {
		if len(s.Asked[a.Key]) > 0 {
			return nil, misused("vary", "%s: --%s gives it for all trainings: expected one of the two", a.Key, a.Key)
		}
		if slices.ContainsFunc(s.Axes[:i], func(b Axis) bool { return b.Key == a.Key }) {
			return nil, misused("vary", "found %s twice, expected all its values at once", a.Key)
		}
		if err := s.Axes[i].check(config.Default()); err != nil {
			return nil, misused("vary", "%w", err)
		}
	}
	return s, s.plan()
}

// tunes reports whether any training trains a backbone.
func (s *Sweep) tunes() bool {
	return slices.ContainsFunc(s.cells, func(c cell) bool { return c.cfg.Finetune.On() })
}

// Run trains what is not trained yet, several at once, and after each training writes results.csv, results.json and
// report.html into the folder. Trainings that fail are in the results and do not stop the others. With dry it only
// times some steps, and returns no results.
func (s *Sweep) Run(ctx context.Context, dry bool) (Plan, *Results, error) {
	var plan Plan
	s.Host = s.Host.Complete()
	note := s.Host.Note
	s.Host.Note = func(format string, args ...any) { // ends the progress line first
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
	sources, err := s.sources(ctx)
	if err != nil {
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
	if s.rt, err = s.Runtime(s.Threads); err != nil {
		return plan, nil, err
	}
	defer func() { s.rt.Close() }()
	s.Host.Runtime = func() (*ort.Runtime, error) { return s.rt, nil }
	if err := s.sameAsBefore(dry); err != nil {
		return plan, nil, err
	}
	if err := s.makeFeatures(ctx, sources); err != nil {
		return plan, nil, err
	}
	if err := s.start(ctx, store); err != nil {
		return plan, nil, err
	}
	queue := s.queue(store)
	if plan, err = s.estimate(ctx, queue); err != nil || dry {
		return plan, nil, err
	}
	s.Host.Note("%s", plan)
	if others := s.others(); len(others) > 0 {
		s.Host.Note("what is varied also changes: %s; name a setting to keep it the same in all trainings",
			strings.Join(others, ", "))
	}
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

// read reads the manifest and checks that there are features, if they are shared, and validation images.
func (s *Sweep) read() (err error) {
	if s.data, err = datasets.ReadFile(s.cells[0].cfg.Data.Manifest,
		datasets.ReadOptions{Note: s.Host.Note}); err != nil {
		return err
	}
	if dir := s.cells[0].cfg.Data.Features; dir != "" && len(s.Asked["features"]) > 0 {
		store, err := features.Open(dir)
		if err != nil {
			return hint.With(err, "%s", features.Advice(err))
		}
		s.features = store.Sum
	}
	if len(s.data.Labelled(datasets.Validation)) == 0 {
		if err := s.holdOut(); err != nil {
			return err
		}
	}
	switch {
	case len(s.data.Labelled(datasets.Test)) > 0:
		s.held = datasets.Test
	case len(s.data.Labelled(datasets.Query)) > 0 && len(s.data.Labelled(datasets.Gallery)) > 0:
		s.held = datasets.Query
	default:
		s.Host.Note("the manifest has no test split: validation chooses the best, so its score is too high")
	}
	return nil
}

// holdOut makes every training hold out images for validation, a tenth unless the settings say how many.
func (s *Sweep) holdOut() error {
	type draw struct {
		share float64
		seed  uint64
	}
	drawn := map[draw]datasets.Held{}
	for i := range s.cells {
		c := &s.cells[i]
		said := slices.ContainsFunc(c.asked["set"],
			func(set string) bool { return strings.HasPrefix(set, holdOutKey+"=") })
		if c.cfg.Validation.HoldOut == 0 && !said {
			c.cfg.Validation.HoldOut = config.UsualHoldOut
			c.asked = c.asked.With(holdOutKey, fmt.Sprint(config.UsualHoldOut))
		}
		of := draw{c.cfg.Validation.Share(), c.seed}
		held, ok := drawn[of]
		if !ok {
			_, held = s.data.WithValidation(of.share, of.seed)
			drawn[of] = held
		}
		if held.Images == 0 {
			return hint.With(fmt.Errorf("sweep: %s: found no labelled image in the split validation, and none to "+
				"hold out by %s: expected some to choose the best by", c.cfg.Data.Manifest, holdOutKey),
				"winnow data import --split makes one; or hold out more of the training images: %s",
				config.Key("validation.hold_out=0.3"))
		}
		if i == 0 {
			s.heldOut = fmt.Sprintf("no validation split: %s, are held out to choose by, others for each seed", held)
			s.Host.Note("%s", s.heldOut)
		}
	}
	return nil
}

// holdOutKey is the setting that says what is held out.
const holdOutKey = "validation.hold_out"

// start opens the runtime again, for the trainings that run at once.
func (s *Sweep) start(ctx context.Context, store cells.Store[Outcome]) error {
	if err := s.rt.Close(); err != nil {
		return err
	}
	m := cells.Machine{Jobs: s.Jobs, Threads: s.Threads, Runtime: s.Runtime, Note: s.Host.Note}
	if s.tunes() {
		m.Usual = 1
	}
	queue, networks, first := s.queue(store), 0, cell{}
	for _, c := range s.cells {
		_, done, err := queue.Kept(c)
		if done && err == nil || !c.cfg.Finetune.On() {
			continue
		}
		if networks++; networks == 1 {
			first = c
		}
	}
	rt, jobs, err := m.Start(ctx, networks, func(rt *ort.Runtime) (*run.Training, error) {
		s.rt = rt
		return s.resolve(ctx, first)
	})
	if err == nil {
		s.rt, s.jobs = rt, jobs
	}
	return err
}

// store returns the store of the outcomes, by the names of the cells' folders.
func (s *Sweep) store() cells.Store[Outcome] {
	return cells.Store[Outcome]{Dir: filepath.Join(s.Dir, "outcomes"), For: "sweep",
		Whole: func(o Outcome) bool { return o.Seed > 0 }}
}

// dir returns a cell's run folder.
func (s *Sweep) dir(c cell) string { return filepath.Join(s.Dir, "cells", c.name) }

func (s *Sweep) queue(store cells.Store[Outcome]) cells.Queue[cell, Outcome] {
	return cells.Queue[cell, Outcome]{
		Cells: s.cells, Jobs: s.jobs, GoOn: true, Note: s.Host.Note,
		Kept: func(c cell) (Outcome, bool, error) {
			if _, err := folder.ReadResult(s.dir(c)); err != nil { // its folder is incomplete, or gone
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

// imagesSum returns a hash of everything in a manifest that trainings and measurements use.
func imagesSum(d *datasets.Dataset) string {
	h := sha256.New()
	for _, sample := range d.Samples {
		fmt.Fprintf(h, "%q %d %s\n", sample.Path, sample.Label, sample.Split)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// about returns a duration for people.
func about(seconds float64) string { return text.About(time.Duration(seconds * float64(time.Second))) }
