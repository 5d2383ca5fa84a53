package grid

import (
	"fmt"
	"path/filepath"
	"slices"

	"winnow/run/folder"
)

// Results holds the results of a sweep so far.
type Results struct {
	Axes      []Axis
	Points    []string // points as text, in the order of the axes' values
	Values    []Point
	Trainings []Training
	Held      string // split of the test results, "" if there is none
	HeldOut   string // description of the images held out for validation
	Dir       string
	Manifest  string
	Shared    string // flags of all trainings, as part of a command
}

// Training is a training of a sweep.
type Training struct {
	Point   int      `json:"setting"` // index of Points
	Seed    uint64   `json:"seed"`
	Folder  string   `json:"folder"`
	Command string   `json:"command"` // command that repeats the training
	Outcome *Outcome `json:"outcome"` // nil: not done
	Failed  string   `json:"error,omitempty"`
}

func (s *Sweep) newResults() *Results {
	r := &Results{Axes: s.Axes, Values: s.Points, Held: s.held, HeldOut: s.heldOut, Dir: s.Dir,
		Manifest: s.cells[0].cfg.Data.Manifest, Shared: s.Asked.String()}
	for _, p := range s.Points {
		r.Points = append(r.Points, s.describePoint(p))
	}
	for i := range s.cells {
		c := &s.cells[i]
		dir := s.nameRunDir(c)
		r.Trainings = append(r.Trainings, Training{Point: c.point, Seed: c.seed, Folder: dir,
			Command: fmt.Sprintf("winnow train --config %q --out best", filepath.Join(dir, folder.ConfigFile))})
	}
	return r
}

// findTrainingOf returns the training of a cell.
func (r *Results) findTrainingOf(c *cell) *Training {
	return &r.Trainings[slices.IndexFunc(r.Trainings, func(t Training) bool {
		return t.Point == c.point && t.Seed == c.seed
	})]
}

// Finished returns the number of finished trainings.
func (r *Results) Finished() (n int) {
	for _, t := range r.Trainings {
		if t.Outcome != nil {
			n++
		}
	}
	return n
}

// Failures returns the failed trainings.
func (r *Results) Failures() (list []Training) {
	for _, t := range r.Trainings {
		if t.Failed != "" {
			list = append(list, t)
		}
	}
	return list
}

// State returns done, failed or open.
func (t Training) State() string {
	switch {
	case t.Outcome != nil:
		return "done"
	case t.Failed != "":
		return "failed"
	}
	return "open"
}
