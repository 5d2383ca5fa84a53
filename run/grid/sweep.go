package grid

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
)

// SweepOptions holds the settings of a sweep, its folder and its callbacks.
type SweepOptions struct {
	Asked config.Asked // flags of all trainings
	Axes  []Axis       // settings that vary
	Seeds []uint64     // seeds of the trainings
	Draws int          // number of points to draw; 0: the whole grid
	Seed  uint64       // seed of the draws
	Dir   string
	Jobs  int // number of trainings at once ([Machine].Jobs); usually 1 if a backbone is trained

	Threads int // number of threads in all; 0: one per core
	Winnow  string
	About   folder.Facts    // facts from the caller for run.json: device, threads, recipe
	Host    extraction.Host // receives notes; its Runtime is set by the sweep

	Runtime func(threads int) (*ort.Runtime, error)                  // opens the runtime with threads per operator
	Watch   func(what string) (at func(done, total int), end func()) // shows the progress; may be nil
	Write   func(*Results) error                                     // receives the results after each training
}

// newMisuse returns the error for a wrong flag of winnow sweep.
func newMisuse(flag, format string, args ...any) error {
	return hint.Misused("--%s: %w", flag, fmt.Errorf(format, args...))
}

// Sweep trains with a grid of settings, or with points drawn from ranges, each with several seeds. It compares the
// settings by the validation split. Every training has its own run folder.
type Sweep struct {
	SweepOptions
	Points []Point
	cells  []cell

	data     *datasets.Dataset
	held     string // the test split, "" if there is none
	features string // SHA-256 of the common feature store, "" if there is none
	heldOut  string // description of the images held out for validation; "" with a validation split
	grid     Grid[*cell, Outcome]
}

// NewSweep returns a sweep. It makes all checks that are possible before data are read.
func NewSweep(o SweepOptions) (*Sweep, error) {
	s := &Sweep{SweepOptions: o}
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
			return nil, newMisuse("vary", "%s: --%s gives it for all trainings: use only one of the two", a.Key, a.Key)
		}
		if slices.ContainsFunc(s.Axes[:i], func(b Axis) bool { return b.Key == a.Key }) {
			return nil, newMisuse("vary", "found %s twice, expected all its values at once", a.Key)
		}
		if a.Range != nil {
			a.Range.Whole = isWhole(a.Key)
		}
	}
	return s, s.planCells()
}

// Run runs the trainings that are not done, several at once, and passes the results to Write after each. The results
// include failed trainings, which do not stop the others. With dry, Run only times some steps and returns no results.
func (s *Sweep) Run(ctx context.Context, dry bool) (plan Plan, results *Results, err error) {
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
	s.grid = Grid[*cell, Outcome]{
		Command: "sweep", Dir: filepath.Join(s.Dir, "outcomes"), KeepGoing: true, Watch: s.Watch,
		Machine: Machine{Jobs: s.Jobs, Threads: s.Threads, Open: s.Runtime, Note: note},
		Key:     func(c *cell) string { return c.name },
		Describe: func(c *cell) string {
			return fmt.Sprintf("%s, seed %d", s.describePoint(s.Points[c.point]),
				c.seed)
		},
		Headline: func(o Outcome) string { return fmt.Sprintf("validation P@1 %.4f", o.Validation) },
		Whole: func(c *cell, o Outcome) bool {
			_, err := folder.ReadResult(s.nameRunDir(c)) // the folder may be incomplete or missing
			return o.Seed > 0 && err == nil
		},
		Train: s.trainAndTest, Time: s.timeCell, Resolve: s.resolveForTiming,
		Kind:          func(c *cell) string { return s.describePoint(s.Points[c.point]) },
		TrainsNetwork: func(c *cell) bool { return c.cfg.Finetune.On() },
	}
	for i := range s.cells {
		s.grid.Cells = append(s.grid.Cells, &s.cells[i])
		if s.cells[i].cfg.Finetune.On() {
			s.grid.Usual = 1
		}
	}
}

// readManifest reads the manifest. It checks that validation images and any common feature store exist.
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
		s.Host.Note("no test split: the validation score of the best setting is optimistic, as it chose the setting")
	}
	return nil
}

// holdOut makes every training hold out images for validation: a tenth, unless the settings give another share.
func (s *Sweep) holdOut() error {
	const key = "validation.hold_out"
	for i := range s.cells {
		c := &s.cells[i]
		given := slices.ContainsFunc(c.asked["set"], func(set string) bool { return strings.HasPrefix(set, key+"=") })
		if c.cfg.Validation.HoldOut <= 0 && !given {
			c.cfg.Validation.HoldOut = config.UsualHoldOut
		}
		if s.heldOut != "" && c.cfg.Validation.Share() > 0 {
			continue
		}
		_, held := s.data.WithValidation(c.cfg.Validation.Share(), c.seed, nil)
		if held.Images < datasets.LeastChoosing {
			return hint.With(fmt.Errorf("sweep: %s: found no labelled image in the split validation, and fewer than "+
				"%d to hold out by %s, too few to choose the best by", c.cfg.Data.Manifest, datasets.LeastChoosing,
				key), "make a split: winnow data import --split; or hold out more: %s", config.Key(key+"=0.3"))
		}
		s.heldOut = fmt.Sprintf("no validation split: %s, are held out to choose by, others for each seed", held)
	}
	s.Host.Note("%s", s.heldOut)
	return nil
}

// nameRunDir returns the run folder of a cell.
func (s *Sweep) nameRunDir(c *cell) string { return filepath.Join(s.Dir, "cells", c.name) }

// imagesSum returns a checksum of the paths, labels and splits in a manifest.
func imagesSum(d *datasets.Dataset) string {
	h := sha256.New()
	for _, sample := range d.Samples {
		fmt.Fprintf(h, "%q %d %s\n", sample.Path, sample.Label, sample.Split)
	}
	return hex.EncodeToString(h.Sum(nil))
}
