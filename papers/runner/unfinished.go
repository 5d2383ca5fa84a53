package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"winnow/internal/lock"
	"winnow/internal/regular"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/train"
)

// seenFile is the file, in the folder of an unfinished cell, of what the recorder saw of its training so far.
const seenFile = "seen.jsonl"

// errLost is the error of a cell's folder from which the training cannot resume: the cell starts again.
var errLost = errors.New("the cell's files do not fit together")

// cellDir is where a cell that trains a network keeps its checkpoint until it is done.
func (r *reproduction) cellDir(key string) string { return filepath.Join(r.Dir, "unfinished", key) }

// resolve resolves a cell's training. dir is its folder, if it has one: for the checkpoint of a network, or for files
// that are measured. If another study trains the same network now, this one keeps no checkpoint. end closes the
// training and removes the files that are only measured.
func (r *reproduction) resolve(ctx context.Context, t training, cell studies.Cell, ranks bool) (
	plan *run.Training, dir string, end func(), err error) {
	opts, in := r.options(), run.Input{Data: &t.data}
	opts.Last = r.Study.State == studies.Last
	if t.cfg.Finetune.On() {
		cfg := t.cfg
		cfg.Checkpoint, cfg.Scores.Record = t.every, ranks
		opts.Dir, opts.Resume = r.cellDir(cell.Key), true
		if err := os.MkdirAll(opts.Dir, 0o755); err != nil {
			return nil, "", nil, fmt.Errorf("reproduce: %w", err)
		}
		plan, err = run.Resolve(ctx, cfg, in, opts)
		if err == nil && plan.Resumed > 0 {
			r.say("%s: resumes after step %d of %d", r.describe(cell), plan.Resumed, plan.Steps)
		}
		if !errors.As(err, new(*lock.Held)) {
			return plan, opts.Dir, func() { plan.Close() }, err
		}
		opts.Dir, opts.Resume = "", false
	}
	remove := func() {}
	if corrects := t.cfg.Correct.On() && slices.ContainsFunc(r.Study.Measures, isCorrection); ranks || corrects {
		// The files of the training are measured, then removed.
		if opts.Dir, err = os.MkdirTemp(r.Dir, ".cell-"); err != nil {
			return nil, "", nil, fmt.Errorf("reproduce: %w", err)
		}
		remove = func() { os.RemoveAll(opts.Dir) }
	}
	if plan, err = run.Resolve(ctx, t.cfg, in, opts); err != nil {
		remove()
		return nil, "", nil, err
	}
	return plan, opts.Dir, func() { plan.Close(); remove() }, nil
}

// fact is a line of seenFile: a step, a validation, a diagnosis or a round of weights.
type fact struct {
	Step       *stepped          `json:"step,omitempty"`
	Validation *train.Validation `json:"validation,omitempty"`
	Diagnosis  *train.Diagnosis  `json:"diagnosis,omitempty"`
	Weighing   *train.Weighing   `json:"weighing,omitempty"`
}

// stepped holds the values of a step that the recorder uses. Scores are stored as bits, since some are NaN.
type stepped struct {
	Number    int      `json:"n"`
	Seconds   float64  `json:"s"` // training time up to the end of the step
	IDs       []int    `json:"ids,omitempty"`
	Kept      []int    `json:"kept,omitempty"`
	Scores    []uint64 `json:"scores,omitempty"`
	Unjudged  []bool   `json:"unjudged,omitempty"`
	Judge     string   `json:"judge,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
}

// number returns the step of the fact.
func (f fact) number() int {
	switch {
	case f.Step != nil:
		return f.Step.Number
	case f.Validation != nil:
		return f.Validation.Step
	case f.Diagnosis != nil:
		return f.Diagnosis.Step
	case f.Weighing != nil:
		return f.Weighing.Step
	}
	return math.MaxInt
}

// keep reads what an earlier part of a training saw up to the step resumed, and returns an observer that writes what is
// seen from then on to the cell's folder. The outcome of the cell is then that of a training that never stopped. start
// is the start of this part.
func (r *recorder) keep(dir string, resumed int, start time.Time) (o run.Observer, close func() error, err error) {
	path, seen := filepath.Join(dir, seenFile), r.observer()
	facts, err := readFacts(path, resumed)
	if err != nil {
		return o, nil, err
	}
	file, err := regular.OpenOwn(path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return o, nil, fmt.Errorf("reproduce: %w", err)
	}
	out := bufio.NewWriter(file)
	var broken error
	note := func(f fact) {
		if broken != nil {
			return
		}
		if broken = json.NewEncoder(out).Encode(f); broken == nil && f.Step == nil {
			broken = out.Flush()
		}
	}
	for _, f := range facts {
		switch {
		case f.Validation != nil:
			seen.Validated(*f.Validation)
		case f.Diagnosis != nil:
			seen.Diagnosed(*f.Diagnosis)
		case f.Weighing != nil:
			seen.Weighed(*f.Weighing)
		default:
			seen.Stepped(f.Step.fact())
			r.before = time.Duration(f.Step.Seconds * float64(time.Second))
		}
		note(f)
	}
	if err := errors.Join(broken, out.Flush(), file.Sync(), os.Rename(path+".new", path)); err != nil {
		return o, nil, fmt.Errorf("reproduce: %w", errors.Join(err, file.Close()))
	}
	o.Stepped = func(s train.Step) {
		seen := &stepped{Number: s.Number, Seconds: (r.before + time.Since(start)).Seconds()}
		if r.filter != nil {
			seen.IDs, seen.Kept, seen.Unjudged, seen.Judge = s.IDs, s.Kept, s.Unjudged, s.Judge
			for _, v := range s.Scores {
				seen.Scores = append(seen.Scores, math.Float64bits(v))
			}
			if s.HasThreshold {
				seen.Threshold = &s.Threshold
			}
		}
		note(fact{Step: seen})
	}
	o.Validated = func(v train.Validation) { note(fact{Validation: &v}) }
	o.Diagnosed = func(d train.Diagnosis) { note(fact{Diagnosis: &d}) }
	o.Weighed = func(w train.Weighing) { note(fact{Weighing: &w}) }
	o.Saving = func() error { return errors.Join(broken, out.Flush(), file.Sync()) }
	return o, func() error { return errors.Join(broken, out.Flush(), file.Close()) }, nil
}

// fact returns the step as the trainer reported it.
func (s *stepped) fact() train.Step {
	f := train.Step{Number: s.Number, IDs: s.IDs, Kept: s.Kept, Unjudged: s.Unjudged, Judge: s.Judge}
	for _, v := range s.Scores {
		f.Scores = append(f.Scores, math.Float64frombits(v))
	}
	if s.Threshold != nil {
		f.Threshold, f.HasThreshold = *s.Threshold, true
	}
	return f
}

// readFacts reads what was seen up to a step. If a step is missing, the training cannot resume.
func readFacts(path string, upTo int) (facts []fact, err error) {
	file, err := regular.Open(path)
	if errors.Is(err, fs.ErrNotExist) && upTo == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errLost, err)
	}
	defer file.Close()
	in, steps := json.NewDecoder(bufio.NewReader(file)), 0
	for {
		var f fact
		if err := in.Decode(&f); err != nil { // the end, or an incomplete line
			break
		}
		if f.number() > upTo {
			continue
		}
		if f.Step != nil {
			if steps++; f.Step.Number != steps {
				return nil, fmt.Errorf("%w: %s: found step %d, expected %d", errLost, path, f.Step.Number, steps)
			}
		}
		facts = append(facts, f)
	}
	if steps != upTo {
		return nil, fmt.Errorf("%w: %s: found %d steps, expected the checkpoint's %d", errLost, path, steps, upTo)
	}
	return facts, nil
}

// lost reports whether a cell failed because of files that an earlier part left.
func lost(err error) bool {
	return errors.Is(err, errLost) || errors.As(err, new(*train.CheckpointError)) ||
		errors.As(err, new(*train.OtherRunError))
}

// add appends a point to a trace. It replaces an earlier point of the same step.
func add(t *studies.Trace, step int, y float64) {
	if n := len(t.X); n > 0 && t.X[n-1] == float64(step) {
		t.Y[n-1] = y
		return
	}
	t.X, t.Y = append(t.X, float64(step)), append(t.Y, y)
}
