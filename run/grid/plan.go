package grid

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"winnow/internal/text"
)

// Plan says what a grid will run, and how long it may take.
type Plan struct {
	Cells   int     `json:"cells"`
	Left    int     `json:"left"` // cells that are not done
	Jobs    int     `json:"jobs"` // cells at once
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`           // of the cells left, estimated
	AtMost  bool    `json:"at_most,omitempty"` // some may stop early
	Untimed bool    `json:"untimed,omitempty"` // the cells measure times: nothing is timed beforehand
	Kinds   []Kind  `json:"kinds"`
}

// Kind is the plan for cells that take equally long.
type Kind struct {
	Name    string  `json:"name"`
	Cells   int     `json:"cells"`
	Done    int     `json:"done"`
	Steps   int     `json:"steps,omitempty"` // of a training; 0: not timed
	Seconds float64 `json:"seconds_each"`

	first any // cell that is not done
}

// mostTimed is how many kinds of cells are timed; others are assumed to take the mean of these.
const mostTimed = 24

// Plan lists the cells, and times a few steps of one cell of each kind that is left. A kind that cannot be timed will
// fail when it is run; with KeepGoing it is an error only if nothing is done and no kind can.
func (g *Grid[C, O]) Plan(ctx context.Context) (Plan, error) {
	p := Plan{Cells: len(g.Cells), Jobs: g.atOnce, Untimed: g.Time == nil}
	at := map[string]int{} // of Kinds
	for _, cell := range g.Cells {
		name := g.Kind(cell)
		k, found := at[name]
		if !found {
			k, at[name] = len(p.Kinds), len(p.Kinds)
			p.Kinds = append(p.Kinds, Kind{Name: name})
		}
		kind := &p.Kinds[k]
		kind.Cells++
		_, done, err := g.readOutcome(cell)
		switch {
		case err != nil:
			return p, err
		case done:
			kind.Done++
			continue
		case kind.first == nil:
			kind.first = cell
		}
		p.Left++
	}
	if p.Untimed || p.Left == 0 {
		return p, nil
	}
	timed, steps, seconds := 0, 0, 0.0
	var failed error
	for k := range p.Kinds {
		kind := &p.Kinds[k]
		if kind.first == nil || k >= mostTimed {
			continue
		}
		cost, err := g.Time(ctx, kind.first.(C))
		if ctx.Err() != nil {
			return p, ctx.Err()
		}
		if err != nil {
			failed = cmp.Or(failed, fmt.Errorf("%s: %w", g.Describe(kind.first.(C)), err))
			continue
		}
		kind.Steps, kind.Seconds, p.AtMost = cost.Steps, cost.Seconds, p.AtMost || cost.AtMost
		left := kind.Cells - kind.Done
		timed, steps, seconds = timed+left, steps+left*cost.Steps, seconds+float64(left)*cost.Seconds
	}
	if failed != nil && (!g.KeepGoing || p.Left == p.Cells && timed == 0) {
		return p, failed
	}
	if timed == 0 {
		return p, nil
	}
	share := float64(p.Left) / float64(timed)
	p.Steps = int(share * float64(steps))
	p.Seconds = share * seconds / float64(max(min(p.Jobs, p.Left), 1))
	return p, nil
}

// String sums the plan up in a line.
func (p Plan) String() string {
	switch {
	case p.Left == 0:
		return fmt.Sprintf("%s, all done before", text.Plural(p.Cells, "cell"))
	case p.Untimed:
		return fmt.Sprintf("%d of %d cells left to run; they measure times, so nothing was timed", p.Left, p.Cells)
	}
	most := ""
	if p.AtMost {
		most = "at most "
	}
	return fmt.Sprintf("%d of %d cells left to run, %s%d steps: %sabout %s, %d at once", p.Left, p.Cells, most, p.Steps,
		most, text.About(convertSeconds(p.Seconds)), p.Jobs)
}

// convertSeconds returns a duration.
func convertSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Text writes the plan as a table.
func (p Plan) Text(to io.Writer) error {
	rows := [][]string{{"cells", "done", "steps", "each", "cells of"}}
	for _, kind := range p.Kinds {
		line := []string{fmt.Sprint(kind.Cells), fmt.Sprint(kind.Done), "–", "–", kind.Name}
		if kind.Steps > 0 {
			line[2] = fmt.Sprint(kind.Steps)
		}
		if kind.Seconds > 0 {
			line[3] = convertSeconds(kind.Seconds).Round(100 * time.Millisecond).String()
		}
		rows = append(rows, line)
	}
	text.Aligned(to, rows, 4)
	_, err := fmt.Fprintln(to, p)
	return err
}
