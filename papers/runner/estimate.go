package runner

import (
	"context"
	"fmt"
	"io"
	"time"

	"winnow/features"
	"winnow/internal/text"
	"winnow/papers/studies"
	"winnow/run"
)

// Steps of a training in a dry run: the first ones warm up, the others are timed.
const (
	dryWarmUp = 5
	drySteps  = 30
)

// Estimate lists what [Run] would do, and estimates its time from a few steps of each row. It times nothing of a study
// that measures times, except what finished cells tell.
func Estimate(ctx context.Context, o Options) (Plan, error) {
	r, err := open(ctx, o)
	if err != nil {
		return Plan{}, err
	}
	jobs := 1
	if !r.timesSteps() {
		if jobs, err = r.start(ctx); err != nil {
			return Plan{}, err
		}
		defer func() { r.rt.Close() }()
	}
	plan, err := r.estimateAll(ctx, jobs)
	if err == nil && r.Budget > 0 {
		_, plan.Within, err = r.within(plan)
	}
	return plan, err
}

// estimateAll times a few steps of each row that has cells left.
func (r *reproduction) estimateAll(ctx context.Context, jobs int) (Plan, error) {
	queue := r.queue(jobs)
	plan := Plan{Study: r.Study.Name, Jobs: jobs}
	type line struct {
		cells, done int
		each        time.Duration
	}
	rows := make([]line, len(r.Study.Rows))
	first := map[int]studies.Cell{}
	for _, cell := range r.cells {
		at := &rows[cell.Row]
		at.cells++
		o, done, err := queue.KeptWhole(cell)
		if err != nil {
			return plan, err
		}
		if done {
			at.done++
			at.each = time.Duration(o.Seconds * float64(time.Second))
		} else if _, there := first[cell.Row]; !there {
			first[cell.Row] = cell
		}
	}
	for i, row := range r.Study.Rows {
		at := rows[i]
		if at.cells == 0 {
			continue
		}
		p := plannedRow{Row: row.Name, Cells: at.cells, Done: at.done}
		if cell, ok := first[i]; ok && r.timesSteps() {
			timing, err := r.timing(cell)
			if err == nil {
				p.Steps, err = timing.length()
			}
			if err != nil {
				return plan, fmt.Errorf("%s: %w", r.describe(cell), err)
			}
			plan.Untimed = plan.Untimed || at.done == 0
		} else if ok {
			if r.Study.Drawn() {
				r.Host.Note("measuring %s once", row.Name)
			} else {
				r.Host.Note("timing %d steps of %s", drySteps, row.Name)
			}
			var err error
			if p.Steps, at.each, err = r.estimate(ctx, cell); err != nil {
				return plan, fmt.Errorf("%s: %w", r.describe(cell), err)
			}
		}
		p.Each = at.each.Seconds()
		plan.Rows = append(plan.Rows, p)
		plan.Cells, plan.Left = plan.Cells+p.Cells, plan.Left+p.Cells-p.Done
		plan.Seconds += p.Each * float64(p.Cells-p.Done) / float64(jobs)
	}
	return plan, nil
}

// Plan is the result of a dry run.
type Plan struct {
	Study   string       `json:"study"`
	Jobs    int          `json:"jobs"` // cells at once
	Cells   int          `json:"cells"`
	Left    int          `json:"left"`              // cells that are not done
	Seconds float64      `json:"seconds"`           // time of the cells left
	Untimed bool         `json:"untimed,omitempty"` // the time of some rows is unknown: the study measures it
	Rows    []plannedRow `json:"rows"`
	Within  *Within      `json:"budget,omitempty"` // what fits in Options.Budget; nil: no budget
}

// plannedRow is the plan for a row.
type plannedRow struct {
	Row   string  `json:"row"`
	Cells int     `json:"cells"`
	Done  int     `json:"done"`
	Steps int     `json:"steps,omitempty"` // of a training; 0 if all cells are done
	Each  float64 `json:"seconds_each"`
}

// Text writes the plan as a table.
func (p Plan) Text(to io.Writer) error {
	rows := [][]string{{"cells", "done", "steps", "each", "left", "row"}}
	for _, row := range p.Rows {
		steps, each := "–", time.Duration(row.Each*float64(time.Second))
		if row.Steps > 0 {
			steps = fmt.Sprint(row.Steps)
		}
		rest := each * time.Duration(row.Cells-row.Done)
		line := []string{
			fmt.Sprint(row.Cells), fmt.Sprint(row.Done), steps,
			each.Round(100 * time.Millisecond).String(), rest.Round(time.Second).String(), row.Row,
		}
		if p.Untimed && row.Done == 0 {
			line[3], line[4] = "–", "–"
		}
		rows = append(rows, line)
	}
	text.Aligned(to, rows, 5)
	if p.Untimed {
		_, err := fmt.Fprintf(to, "%d of %d cells left to run, %d at once; nothing was timed: the study measures "+
			"times\n", p.Left, p.Cells, p.Jobs)
		return err
	}
	_, err := fmt.Fprintln(to, p)
	if err == nil && p.Within != nil {
		_, err = fmt.Fprintln(to, p.Within)
	}
	return err
}

// String sums the plan up in a line.
func (p Plan) String() string {
	all := time.Duration(p.Seconds * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%d of %d cells left to run: about %s, %d at once", p.Left, p.Cells, all, p.Jobs)
}

// long is a time for which a run of networks says beforehand how long it takes, from a few steps of each row.
const long = 30 * time.Minute

// announce says how long a run takes if, by a few steps of its first network, it takes long.
func (r *reproduction) announce(ctx context.Context, jobs int) error {
	left, first, err := r.networks()
	rows := map[int]bool{}
	for _, cell := range r.cells {
		rows[cell.Row] = true
	}
	if err != nil || left < 2*len(rows) { // timing each row takes a good part of so few cells
		return err
	}
	_, each, err := r.estimate(ctx, first)
	if err != nil {
		return fmt.Errorf("%s: %w", r.describe(first), err)
	}
	if each*time.Duration(left/jobs) < long {
		return nil
	}
	plan, err := r.estimateAll(ctx, jobs)
	if err == nil {
		r.Host.Note("%s%s", plan, r.Advice)
	}
	return err
}

// estimate returns the steps of a cell's training and the time of the whole cell, estimated from a few steps and one
// measurement.
func (r *reproduction) estimate(ctx context.Context, cell studies.Cell) (steps int, each time.Duration, err error) {
	if r.Study.Rows[cell.Row].Recipe == "" {
		o, err := r.cell(ctx, cell)
		return 0, time.Duration(o.Seconds * float64(time.Second)), err
	}
	t, on, err := r.brief(ctx, cell)
	if err != nil {
		return 0, 0, err
	}
	defer on.Close()
	timed, err := on.Time(ctx, dryWarmUp, drySteps)
	if err != nil {
		return 0, 0, err
	}
	each = time.Duration(on.Steps) * timed.Each()
	start := time.Now()
	o := studies.Outcome{Measures: map[string]float64{}, Seed: cell.Seed}
	if err := r.measure(ctx, &o, embedding(ctx, on, timed.Outcome.Head), encoding(ctx, on), t); err != nil {
		return 0, 0, err
	}
	return on.Steps, each + time.Since(start), nil
}

// brief resolves a cell's training for some of its steps: without validation, and without a folder.
func (r *reproduction) brief(ctx context.Context, cell studies.Cell) (t training, on *run.Training, err error) {
	if t, err = r.prepare(ctx, cell); err != nil {
		return t, nil, err
	}
	t.data.Validation = features.Set{}
	on, err = run.Resolve(ctx, t.cfg, run.Input{Data: &t.data}, r.options())
	return t, on, err
}
