package grid

import (
	"cmp"
	"context"
	"fmt"
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
	Kinds   []Kind  `json:"kinds"`
}

// Kind is the plan for cells that take equally long.
type Kind struct {
	Name  string `json:"name"`
	Cells int    `json:"cells"`
	Done  int    `json:"done"`

	first any // cell that is not done
}

// mostTimed is how many kinds of cells are timed; others are assumed to take the mean of these.
const mostTimed = 24

// Plan lists the cells, and times a few steps of one cell of each kind that is left. A kind that cannot be timed will
// fail when it is run; with KeepGoing it is an error only if no kind can.
func (g *Grid[C, O]) Plan(ctx context.Context) (Plan, error) {
	p := Plan{Cells: len(g.Cells), Jobs: g.atOnce}
	at := map[string]int{} // of Kinds
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
	timed, steps, seconds := 0, 0, 0.0
	var failed error
	for _, kind := range p.Kinds[:min(len(p.Kinds), mostTimed)] {
		if kind.first == nil || g.Time == nil {
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
		timed, steps, seconds = timed+left, steps+left*cost.Steps, seconds+float64(left)*cost.Seconds
		p.AtMost = p.AtMost || cost.AtMost
	}
	if timed == 0 {
		if p.Left < p.Cells {
			failed = nil
		}
		return p, failed
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
	case p.Seconds == 0:
		return fmt.Sprintf("%d of %d cells left to run, not timed", p.Left, p.Cells)
	}
	most := ""
	if p.AtMost {
		most = "at most "
	}
	return fmt.Sprintf("%d of %d cells left to run, %s%d steps: %sabout %s, %d at once", p.Left, p.Cells, most, p.Steps,
		most, text.About(time.Duration(p.Seconds*float64(time.Second))), p.Jobs)
}
