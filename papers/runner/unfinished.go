package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"winnow/internal/lock"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/train"
)

// seenFile is the name, in the folder of a cell that is not finished, of what was seen of its training so far.
const seenFile = "seen.jsonl"

// errLost is a cell's folder that nothing can be gone on from: the cell begins again.
var errLost = errors.New("what was kept of the cell does not fit together")

// cellDir is where a cell that trains a network keeps its checkpoint until it is done.
func (r *reproduction) cellDir(key string) string { return filepath.Join(r.Dir, "unfinished", key) }

// holdCell makes a cell's folder and holds it. Where another study trains the same cell just now there is no folder: this
// one trains it without a checkpoint.
func (r *reproduction) holdCell(key string) (dir string, held io.Closer, err error) {
	dir = r.cellDir(key)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, fmt.Errorf("reproduce: %w", err)
	}
	held, err = lock.Folder(dir)
	if errors.As(err, new(*lock.Held)) {
		return "", io.NopCloser(nil), nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("reproduce: %w", err)
	}
	return dir, held, nil
}

// keepCell says where a cell's training keeps what it needs until it is measured: its checkpoint, where it trains a
// network, and what is measured of a folder, which goes with the cell.
func (r *reproduction) keepCell(opts *run.Options, t *training, seen *recorder, cell studies.Cell, ranks bool) (close func(), err error) {
	if t.cfg.Finetune.On() {
		dir, held, err := r.holdCell(cell.Key)
		if err != nil || dir != "" {
			if err != nil {
				return nil, err
			}
			t.cfg.Checkpoint, t.cfg.Scores.Record = t.every, ranks
			opts.Dir, opts.Resume = dir, true
			end := seen.keep(dir, opts)
			begun := opts.Begun
			opts.Begun = func(plan run.Plan) error {
				if plan.Resumed > 0 {
					r.say("%s: goes on after step %d of %d", r.describe(cell), plan.Resumed, plan.Steps)
				}
				return begun(plan)
			}
			return func() { end(); held.Close() }, nil // an error of the journal was told by Saving
		}
	}
	if corrects := t.cfg.Correct.On() && slices.ContainsFunc(r.Study.Measures, isCorrection); !ranks && !corrects {
		return func() {}, nil
	}
	if opts.Dir, err = os.MkdirTemp(r.Dir, ".cell-"); err != nil { // what a training leaves in its folder is measured, and goes
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	return func() { os.RemoveAll(opts.Dir) }, nil
}

// fact is a line of what was seen: one of a step, a validation, a diagnosis and a round of weights.
type fact struct {
	Step       *stepped          `json:"step,omitempty"`
	Validation *train.Validation `json:"validation,omitempty"`
	Diagnosis  *train.Diagnosis  `json:"diagnosis,omitempty"`
	Weighing   *train.Weighing   `json:"weighing,omitempty"`
}

// stepped is what the recorder wants of a step. Scores are kept by their bits: some are no numbers.
type stepped struct {
	Number    int      `json:"n"`
	Seconds   float64  `json:"s"` // of training, up to the end of the step
	IDs       []int    `json:"ids,omitempty"`
	Kept      []int    `json:"kept,omitempty"`
	Scores    []uint64 `json:"scores,omitempty"`
	Unjudged  []bool   `json:"unjudged,omitempty"`
	Judge     string   `json:"judge,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
}

// number returns the step that the fact is of.
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

// keep makes a recorder write down in a cell's folder what it sees, and take over, where the training goes on, what an
// earlier part of it saw: what comes of the cell is then that of a training which was never stopped.
func (r *recorder) keep(dir string, o *run.Options) (close func() error) {
	path := filepath.Join(dir, seenFile)
	var file *os.File
	var out *bufio.Writer
	var broken error
	begun, step, validated, diagnosed, weighed := o.Begun, o.Stepped, o.Validated, o.Diagnosed, o.Weighed
	note := func(f fact) {
		if broken != nil {
			return
		}
		if broken = json.NewEncoder(out).Encode(f); broken == nil && f.Step == nil {
			broken = out.Flush()
		}
	}
	start := time.Now()
	o.Begun = func(plan run.Plan) error {
		if err := begun(plan); err != nil {
			return err
		}
		facts, err := readFacts(path, plan.Resumed)
		if err != nil {
			return err
		}
		if file, err = os.Create(path + ".new"); err != nil {
			return fmt.Errorf("reproduce: %w", err)
		}
		out = bufio.NewWriter(file)
		for _, f := range facts {
			switch {
			case f.Validation != nil:
				validated(*f.Validation)
			case f.Diagnosis != nil:
				diagnosed(*f.Diagnosis)
			case f.Weighing != nil:
				weighed(*f.Weighing)
			default:
				step(f.Step.fact())
				r.before = time.Duration(f.Step.Seconds * float64(time.Second))
			}
			note(f)
		}
		if err := errors.Join(broken, out.Flush(), file.Sync(), os.Rename(path+".new", path)); err != nil {
			return fmt.Errorf("reproduce: %w", err)
		}
		return nil
	}
	o.Stepped = func(s train.Step) {
		step(s)
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
	o.Validated = func(v train.Validation) { validated(v); note(fact{Validation: &v}) }
	o.Diagnosed = func(d train.Diagnosis) { diagnosed(d); note(fact{Diagnosis: &d}) }
	o.Weighed = func(w train.Weighing) { weighed(w); note(fact{Weighing: &w}) }
	o.Saving = func() error { return errors.Join(broken, out.Flush(), file.Sync()) }
	return func() error {
		if file == nil {
			return nil
		}
		return errors.Join(broken, out.Flush(), file.Close())
	}
}

// fact returns the step as the trainer told it.
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

// readFacts reads what was seen up to a step. All steps must be there, or the training cannot go on.
func readFacts(path string, upTo int) (facts []fact, err error) {
	file, err := os.Open(path)
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
		if err := in.Decode(&f); err != nil { // the end, or a line that was cut off
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

// lost reports whether a cell failed because of what was kept of it before.
func lost(err error) bool {
	return errors.Is(err, errLost) || errors.As(err, new(*train.CheckpointError)) || errors.As(err, new(*train.OtherRunError))
}

// add appends a point to a trace; one of a step that was looked at twice takes the place of the earlier.
func add(t *studies.Trace, step int, y float64) {
	if n := len(t.X); n > 0 && t.X[n-1] == float64(step) {
		t.Y[n-1] = y
		return
	}
	t.X, t.Y = append(t.X, float64(step)), append(t.Y, y)
}
