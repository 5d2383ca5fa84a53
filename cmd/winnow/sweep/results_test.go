package sweep

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"winnow/papers/studies"
	"winnow/run/grid"
)

// filled returns a sweep of two settings over some seeds. The second setting is better by .02, .03, .02, ….
func filled(seeds int) *grid.Results {
	r := &grid.Results{Axes: []grid.Axis{{Key: "lr", Values: []string{"0.0001", "0.01"}}},
		Points: []string{"lr=0.0001", "lr=0.01"}, Values: []grid.Point{{"0.0001"}, {"0.01"}}, Held: "test",
		Manifest: "m.csv", Dir: "out"}
	for seed := range seeds {
		for point := range r.Points {
			v := .5 + .02*float64(seed+1) + float64(point)*(.02+.01*float64(seed%2))
			test := v - .1
			r.Trainings = append(r.Trainings, grid.Training{Point: point, Seed: uint64(seed + 1),
				Command: "winnow train --lr " + r.Values[point][0], Outcome: &grid.Outcome{Seed: uint64(seed + 1),
					Validation: v, Frozen: .3, Whitened: .4, Test: &test, Steps: 10,
					Curve: grid.Curve{X: []float64{0, 1}, Y: []float64{.4, v}}}})
		}
	}
	return r
}

// claim returns the only comparison of a sweep of two settings.
func claim(t *testing.T, r *results) studies.Comparison {
	t.Helper()
	all := r.table.TestClaims()
	if len(all) != 1 || len(all[0].Comparisons) != 1 {
		t.Fatalf("found %+v, expected one comparison", all)
	}
	return all[0].Comparisons[0]
}

// TestResults checks that comparisons are paired, so that differences between seeds do not hide a difference between
// settings, and that a single seed has no p-value.
func TestResults(t *testing.T) {
	for _, seeds := range []int{1, 2, 4, 5} {
		r := newResults(filled(seeds))
		c := claim(t, r)
		if r.best == nil || r.best.Point != 1 || r.best.Seed != uint64(seeds) || c.N != seeds ||
			!(c.Mean > .0199 && c.Mean < .0251) || math.IsNaN(c.P) != (seeds == 1) {
			t.Errorf("%d seeds: best %+v, %+v", seeds, r.best, c)
		}
		var text, page, table, js bytes.Buffer
		for _, err := range []error{r.writeText(&text), r.table.HTML(&page), r.table.CSV(&table), r.writeJSON(&js)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !json.Valid(js.Bytes()) || strings.Count(table.String(), "\n") != 1+4*seeds {
			t.Errorf("%s\n%s", js.String(), table.String())
		}
		for _, s := range []string{text.String(), page.String()} {
			if !strings.Contains(s, "Best by validation: lr=0.01") || !strings.Contains(s, "winnow train --lr 0.01") {
				t.Errorf("%d seeds: %s", seeds, s)
			}
		}
		if strings.Count(page.String(), "<svg") != 1 { // the chart over the epochs
			t.Errorf("%d drawings", strings.Count(page.String(), "<svg"))
		}
	}
}

// TestResultsWithGaps checks that a setting with missing seeds is not chosen, and that failures are listed.
func TestResultsWithGaps(t *testing.T) {
	gaps := filled(3)
	for i := range gaps.Trainings {
		if c := &gaps.Trainings[i]; c.Point == 1 && c.Seed == 2 {
			c.Outcome, c.Failed = nil, "lr=0.01, seed 2: loss is NaN"
		} else {
			c.Outcome.BestStep = 10 * c.Point
		}
	}
	gaps.Held = ""
	r := newResults(gaps)
	if c := claim(t, r); r.best.Point != 0 || c.N != 2 || math.Abs(c.Mean-.02) > 1e-12 {
		t.Errorf("best %+v, %+v", r.best, c)
	}
	for _, want := range []string{"Failed: lr=0.01, seed 2: loss is NaN", "In 1 of 2 settings", "no test split"} {
		if got := strings.Join(r.sweepWarnings(), "\n"); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	for i := range gaps.Trainings {
		gaps.Trainings[i].Outcome = nil
	}
	var text bytes.Buffer
	if err := newResults(gaps).writeText(&text); err != nil || !strings.Contains(text.String(), "is finished") {
		t.Error(err, text.String())
	}
}
