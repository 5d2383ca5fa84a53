package runner

import (
	"strings"
	"testing"

	"winnow/backbone/ort"
	"winnow/papers/studies"
)

// A dry run of a study of times computes nothing: it lists the cells with their steps, and takes the time of a row
// from a finished cell.
func TestEstimateTimesNothing(t *testing.T) {
	for _, name := range []string{"prism-table5", "prism-table6"} {
		s, err := studies.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{
			Study: s, Dir: t.TempDir(), Seeds: []uint64{1, 2},
			Set: strings.Fields("inputs=6 dim=4 batch=3x2 classes=4 images=5 bank=8 steps=3 repeat=2"),
		}
		o.Runtime = func(int) (*ort.Runtime, error) { t.Error("a runtime is opened"); return nil, nil }
		plan, err := Estimate(t.Context(), o)
		if err != nil || !plan.Untimed || plan.Seconds != 0 || plan.Left != 2*s.Cells() || plan.Left != plan.Cells {
			t.Fatalf("%s: %v, found %+v", name, err, plan)
		}
		for _, row := range plan.Rows {
			if row.Each != 0 || row.Steps != 2*(2+3) { // two batches of 6 fill a bank of 8
				t.Errorf("%s: found %+v", name, row)
			}
		}
		var text strings.Builder
		err = plan.Text(&text)
		told := text.String()
		if err != nil || !strings.Contains(told, "nothing was timed") || strings.Contains(told, "0s") {
			t.Errorf("%s: %v\n%s", name, err, told)
		}
		r, err := open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, cell := range r.cells {
			if cell.Seed == 1 {
				done := studies.Outcome{
					Study: name, Row: s.Rows[cell.Row].Name, Column: s.Columns[cell.Column].Name, Seed: 1,
					Measures: map[string]float64{studies.Seconds5000: 1}, Seconds: 3,
				}
				if err := r.store.Put(cell.Key, done); err != nil {
					t.Fatal(err)
				}
			}
		}
		plan, err = Estimate(t.Context(), o)
		if err != nil || plan.Untimed || plan.Left != s.Cells() || plan.Seconds != 3*float64(plan.Left) {
			t.Errorf("%s: %v, found %+v after one seed is done", name, err, plan)
		}
	}
}
