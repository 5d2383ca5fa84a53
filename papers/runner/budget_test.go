package runner

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"winnow/papers/studies"
)

// A budget takes what claims compare, two seeds of each column before the third, then what else fits; cells that are
// done cost nothing.
func TestBudget(t *testing.T) {
	study := studies.Study{
		Name: "made-up", Seeds: 3, Measures: []string{"p@1"},
		Columns: []studies.Column{{Name: "a"}, {Name: "b"}},
		Rows:    []studies.Row{{Name: "other"}, {Name: "filter"}, {Name: "none"}, {Name: "cheap"}},
		Claims:  []studies.Claim{{Say: "filter above none", Better: []string{"filter"}, Than: []string{"none"}}},
	}
	r := reproduction{Options: Options{Study: study, Dir: t.TempDir()}}
	r.store = newStore(r.Dir)
	if err := r.store.Prepare(); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		for j := range study.Columns {
			for i := range study.Rows {
				cell := studies.Cell{Row: i, Column: j, Seed: seed + 1, Key: fmt.Sprintf("%d%d%d", seed, j, i)}
				r.cells = append(r.cells, cell)
			}
		}
	}
	done := studies.Outcome{Study: study.Name, Row: "filter", Column: "a", Seed: 1,
		Measures: map[string]float64{"p@1": 1}, Seconds: 10}
	if err := r.store.Put("001", done); err != nil {
		t.Fatal(err)
	}
	plan := Plan{Jobs: 2, Left: 23}
	for _, row := range study.Rows {
		plan.Rows = append(plan.Rows, plannedRow{Row: row.Name, Each: 10})
	}
	plan.Rows[3].Each = 1
	for _, test := range []struct {
		seconds int
		cells   int
		want    []string // the first cells, in order
	}{
		{1, 1, []string{"001", "002"}}, // at least one
		{35, 7, []string{"001", "002", "101", "102", "011", "012", "111", "112"}},
		{37, 7 + 4, []string{"001", "002", "101", "102", "011", "012", "111", "112", "003", "103", "013", "113"}},
		{1000, 23, nil},
	} {
		r.Budget = time.Duration(test.seconds) * time.Second
		cells, fits, err := r.within(plan)
		if err != nil || fits.Cells != test.cells || len(cells) != test.cells+1 || len(fits.Columns) != 2 {
			t.Fatalf("%d s: %v, found %d cells of %v", test.seconds, err, len(cells), fits)
		}
		var keys []string
		for _, cell := range cells[:len(test.want)] {
			keys = append(keys, cell.Key)
		}
		if diff := cmp.Diff(test.want, keys); diff != "" && test.want != nil {
			t.Errorf("%d s: %s", test.seconds, diff)
		}
		if fits.Seconds > float64(test.seconds) && fits.Cells > 1 {
			t.Errorf("%d s: %v", test.seconds, fits)
		}
	}
	if !slices.ContainsFunc(r.cells, func(c studies.Cell) bool { return c.Key == "230" || c.Key == "213" }) {
		t.Error("the study's own cells are gone")
	}
	if _, _, err := r.within(Plan{Untimed: true}); err == nil {
		t.Error("a study of times took a budget")
	}
}
