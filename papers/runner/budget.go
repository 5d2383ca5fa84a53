package runner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/internal/hint"
	"winnow/papers/studies"
)

// Within says which of the cells that are left fit in a budget of time.
type Within struct {
	Budget  float64       `json:"budget_seconds"`
	Seconds float64       `json:"seconds"` // estimated, of the cells that fit
	Cells   int           `json:"cells"`   // that fit
	Left    int           `json:"left"`    // of all cells that are left to run
	Columns []columnShare `json:"columns"`
}

// columnShare counts the cells of a column that fit, of those left to run.
type columnShare struct {
	Column string `json:"column"`
	Cells  int    `json:"cells"`
	Of     int    `json:"of"`
}

// String says what fits, column by column.
func (w *Within) String() string {
	span := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)).Round(time.Second) }
	text := fmt.Sprintf("a budget of %s has room for %d of %d cells, about %s", span(w.Budget), w.Cells, w.Left,
		span(w.Seconds))
	var columns []string
	for _, c := range w.Columns {
		columns = append(columns, fmt.Sprintf("%s %d of %d", c.Column, c.Cells, c.Of))
	}
	return text + ": " + strings.Join(columns, ", ")
}

// within returns the cells that are done or fit in the budget by the plan's times, at least one, in the order in which
// they should run. Cells that tell more come first: rows that a claim compares before others, the first two seeds of
// every column before further ones, as a comparison needs two.
func (r *reproduction) within(plan Plan) ([]studies.Cell, *Within, error) {
	if plan.Untimed {
		return nil, nil, hint.Misused("reproduce: %s measures times: nothing says beforehand what fits in a budget",
			r.Study.Name)
	}
	each := map[string]float64{}
	for _, row := range plan.Rows {
		each[row.Row] = row.Each
	}
	claimed := r.Study.Claimed()
	seeds := r.seeds()
	rank := func(cell studies.Cell) []int {
		unclaimed, late := 0, 0
		if !claimed[r.Study.Rows[cell.Row].Name] {
			unclaimed = 1
		}
		nth := slices.Index(seeds, cell.Seed)
		if nth >= 2 {
			late = 1
		}
		return []int{unclaimed, late, cell.Column, nth}
	}
	cells := slices.Clone(r.cells)
	slices.SortStableFunc(cells, func(a, b studies.Cell) int { return slices.Compare(rank(a), rank(b)) })
	w := &Within{Budget: r.Budget.Seconds(), Left: plan.Left}
	shares := make([]columnShare, len(r.Study.Columns))
	queue, kept := r.queue(plan.Jobs), cells[:0]
	for _, cell := range cells {
		_, done, err := queue.KeptWhole(cell)
		if err != nil {
			return nil, nil, err
		}
		if done {
			kept = append(kept, cell)
			continue
		}
		share := &shares[cell.Column]
		share.Column, share.Of = r.Study.Columns[cell.Column].Name, share.Of+1
		seconds := w.Seconds + each[r.Study.Rows[cell.Row].Name]/float64(cmp.Or(plan.Jobs, 1))
		if w.Cells > 0 && seconds > w.Budget {
			continue
		}
		w.Seconds, w.Cells, share.Cells = seconds, w.Cells+1, share.Cells+1
		kept = append(kept, cell)
	}
	w.Columns = slices.DeleteFunc(shares, func(c columnShare) bool { return c.Of == 0 })
	return kept, w, nil
}
