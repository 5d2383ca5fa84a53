package grid

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"winnow/internal/text"
)

// Plan holds the number of cells that a grid will run, and the estimated time.
type Plan struct {
	Cells   int     `json:"cells"`
	Left    int     `json:"left"` // number of cells that are not done
	Jobs    int     `json:"jobs"` // number of cells at once
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`           // estimated time for the cells left
	AtMost  bool    `json:"at_most,omitempty"` // some trainings may stop early
	Timed   int     `json:"timed"`             // number of cells left whose kind was timed
	Kinds   []Kind  `json:"kinds"`
}

// Kind is the plan for cells that take equally long.
type Kind struct {
	Name  string `json:"name"`
	Cells int    `json:"cells"`
	Done  int    `json:"done"`

	first any // the first cell that is not done
}

// mostTiming is the time after which no further kind of cells is timed; others are assumed to take the mean time.
const mostTiming = 5 * time.Second

// Plan counts the cells, and times a few steps of one cell of each kind that is left. A kind that cannot be timed is an
// error; with KeepGoing, only if no kind can be timed.
func (g *Grid[C, O]) Plan(ctx context.Context) (Plan, error) {
	p := Plan{Cells: len(g.Cells), Jobs: g.atOnce}
	at := map[string]int{} // index in Kinds
	for _, cell := range g.Cells {
		name := g.Kind(cell)
		if _, found := at[name]; !found {
			at[name] = len(p.Kinds)
			p.Kinds = append(p.Kinds, Kind{Name: name})
		}
		kind := &p.Kinds[at[name]]
		kind.Cells++
		if _, done, err := g.readOutcome(cell); err != nil {
			return p, err
		} else if done {
			kind.Done++
			continue
		}
		kind.first = cmp.Or(kind.first, any(cell))
		p.Left++
	}
	steps, seconds, start := 0, 0.0, time.Now()
	var failed error
	for _, kind := range p.Kinds {
		if kind.first == nil || g.Time == nil || p.Timed > 0 && time.Since(start) > mostTiming {
			continue
		}
		cost, err := g.Time(ctx, kind.first.(C))
		if ctx.Err() != nil || err != nil && !g.KeepGoing {
			return p, cmp.Or(ctx.Err(), err)
		}
		if err != nil {
			failed = err
			continue
		}
		left := kind.Cells - kind.Done
		p.Timed, steps, seconds = p.Timed+left, steps+left*cost.Steps, seconds+float64(left)*cost.Seconds
		p.AtMost = p.AtMost || cost.AtMost
	}
	if p.Timed == 0 {
		if p.Left < p.Cells {
			failed = nil
		}
		return p, failed
	}
	share := float64(p.Left) / float64(p.Timed)
	p.Steps = int(share * float64(steps))
	p.Seconds = share * seconds / float64(max(min(p.Jobs, p.Left), 1))
	return p, nil
}

// String returns the plan as a line of text.
func (p Plan) String() string {
	switch {
	case p.Left == 0:
		return fmt.Sprintf("%s, all done before", text.Plural(p.Cells, "cell"))
	case p.Seconds == 0:
		return fmt.Sprintf("%d of %d cells left to run, not timed", p.Left, p.Cells)
	}
	most, rough := "", ""
	if p.AtMost {
		most = "at most "
	}
	if p.Timed < p.Left {
		rough = fmt.Sprintf("; a rough estimate, from the kinds of %d cells", p.Timed)
	}
	return fmt.Sprintf("%d of %d cells left to run, %s%d steps: %sabout %s, %d at once%s", p.Left, p.Cells, most,
		p.Steps, most, text.About(time.Duration(p.Seconds*float64(time.Second))), p.Jobs, rough)
}
