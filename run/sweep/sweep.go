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

	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/grid"
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
	Jobs  int // trainings at once, as [grid.Machine] takes it; usually one if a backbone is trained

	Threads int // in all; 0: one per core
	Winnow  string
	About   folder.Facts    // the caller's, for run.json: device, threads, recipe
	Host    extraction.Host // takes notes; computes by Runtime

	Runtime func(threads int) (*ort.Runtime, error)                  // opens the runtime; threads of a product
	Watch   func(what string) (at func(done, total int), end func()) // shows the progress; may be nil
	Write   func(*Results) error                                     // takes the results after each training
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

func newMisuse(option, format string, args ...any) error {
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
	grid     grid.Grid[*cell, Outcome]
	screens  run.Screenings // so that labels are judged once a seed, not once a training

	noteScreening sync.Once
}

// New checks everything that can be checked before data are read.
func New(o Options) (*Sweep, error) {
	s := &Sweep{Options: o}
	s.Axes = slices.Clone(o.Axes)
	switch {
	case len(s.Axes) == 0:
		return nil, newMisuse("vary", "expected KEY=VALUE,VALUE,… at least once")
	case s.Draws < 0:
		return nil, newMisuse("draws", "found %d, expected 1 or more", s.Draws)
	case s.Dir == "":
		return nil, newMisuse("out", "expected a folder")
	}
	for i, a := range s.Axes {
		if len(s.Asked[a.Key]) > 0 {
			return nil, newMisuse("vary", "%s: --%s gives it for all trainings: expected one of the two", a.Key, a.Key)
		}
		if slices.ContainsFunc(s.Axes[:i], func(b Axis) bool { return b.Key == a.Key }) {
			return nil, newMisuse("vary", "found %s twice, expected all its values at once", a.Key)
		}
		if err := s.Axes[i].checkAxis(config.Default()); err != nil {
			return nil, newMisuse("vary", "%w", err)
		}
	}
	return s, s.planCells()
}

// Run trains what is not trained yet, several at once, and passes the results to Write after each training. Trainings
// that fail are in the results and do not stop the others. With dry it only times some steps, and returns no results.
func (s *Sweep) Run(ctx context.Context, dry bool) (plan grid.Plan, results *Results, err error) {
	s.Host = s.Host.Complete()
	note := s.Host.Note
	if err := s.readManifest(); err != nil {
		return plan, nil, err
	}
	sources, err := s.listStoresToMake(ctx)
	if err != nil {
		return plan, nil, err
	}
	s.openGrid(note)
	s.Host.Note = s.grid.Say
	held, err := s.grid.Hold(s.Dir)
	if err != nil {
		return plan, nil, err
	}
	defer held.Close()
	if err := s.sameAsBefore(dry); err != nil {
		return plan, nil, err
	}
	if err := s.makeFeatures(ctx, sources); err != nil {
		return plan, nil, err
	}
	s.Host.Runtime = s.grid.Runtime
	defer func() { err = errors.Join(err, s.grid.Close()) }()
	if err := s.grid.Start(ctx); err != nil {
		return plan, nil, err
	}
	if plan, err = s.grid.Plan(ctx); err != nil || dry {
		return plan, nil, err
	}
	s.Host.Note("%s", plan)
	if others := s.listOtherSettings(); len(others) > 0 {
		s.Host.Note("what is varied also changes: %s; name a setting to keep it the same in all trainings",
			strings.Join(others, ", "))
	}
	results = s.newResults()
	s.grid.Done = func(c *cell, o Outcome) error {
		results.findTrainingOf(c).Outcome = &o
		return s.Write(results)
	}
	failed, err := s.grid.Run(ctx)
	for _, f := range failed {
		results.findTrainingOf(f.Cell).Failed = f.Err.Error()
	}
	if results.Finished() > 0 {
		err = errors.Join(err, s.Write(results))
	}
	return plan, results, err
}

// openGrid sets up the grid that runs the trainings.
func (s *Sweep) openGrid(note func(format string, args ...any)) {
	s.grid = grid.Grid[*cell, Outcome]{
		Command: "sweep", Dir: filepath.Join(s.Dir, "outcomes"), KeepGoing: true, Watch: s.Watch,
		Machine: grid.Machine{Jobs: s.Jobs, Threads: s.Threads, Open: s.Runtime, Note: note},
		Key:     func(c *cell) string { return c.name },
		Describe: func(c *cell) string {
			return fmt.Sprintf("%s, seed %d", s.describePoint(s.Points[c.point]),
				c.seed)
		},
		Headline: func(o Outcome) string { return fmt.Sprintf("validation P@1 %.4f", o.Validation) },
		Whole: func(c *cell, o Outcome) bool {
			_, err := folder.ReadResult(s.nameRunDir(c)) // its folder may be incomplete, or gone
			return o.Seed > 0 && err == nil
		},
		Train: s.trainAndTest, Time: s.timeCell, Kind: s.kindNames(), Resolve: s.resolveForTiming,
		TrainsNetwork: func(c *cell) bool { return c.cfg.Finetune.On() },
	}
	for i := range s.cells {
		s.grid.Cells = append(s.grid.Cells, &s.cells[i])
		if s.cells[i].cfg.Finetune.On() {
			s.grid.Usual = 1
		}
	}
}

// readManifest reads the manifest and checks that there are features, if they are shared, and validation images.
func (s *Sweep) readManifest() (err error) {
	data := s.cells[0].cfg.Data
	if s.data, err = datasets.ReadFile(data.Manifest,
		datasets.ReadOptions{Root: location.At(data.Root), Note: s.Host.Note}); err != nil {
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
		s.Host.Note("no test split: the best setting's validation score is optimistic, since that score chose it")
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

// nameRunDir returns a cell's run folder.
func (s *Sweep) nameRunDir(c *cell) string { return filepath.Join(s.Dir, "cells", c.name) }

// imagesSum returns a hash of everything in a manifest that trainings and measurements use.
func imagesSum(d *datasets.Dataset) string {
	h := sha256.New()
	for _, sample := range d.Samples {
		fmt.Fprintf(h, "%q %d %s\n", sample.Path, sample.Label, sample.Split)
	}
	return hex.EncodeToString(h.Sum(nil))
}
