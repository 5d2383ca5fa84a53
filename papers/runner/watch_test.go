package runner

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
)

// traced returns a Filter for eight samples. The labels of samples 0, 2 and 4 are right and those of 1, 3 and 5 wrong;
// samples 6 and 7 lack a true or a given label.
func traced(at ...int) *Filter {
	d := &datasets.Dataset{Classes: []string{"a", "b"}}
	for i := range 8 {
		d.Samples = append(d.Samples, datasets.Sample{Label: 0, True: i % 2})
	}
	d.Samples[6].True = datasets.Unlabelled
	d.Samples[7].Label = datasets.Unlabelled
	return NewFilter(d, at, 2)
}

func TestFilterByHand(t *testing.T) {
	tr := traced(3, 9, 3)
	tr.Step(1, []int{0, 1, 2, 3, 6}, []int{0, 1, 2, 4}, []float64{0.2, 0.2, 0.2, 0.2, 0.2}, make([]bool, 5), "avgsim")
	// the filter keeps only a row that is ignored, because it has no given label
	tr.Step(2, []int{1, 3, 5, 7}, []int{3}, []float64{0.25, 1, 0.3, 0.5}, []bool{false, true, false, false}, "avgsim")
	tr.Step(3, []int{0, 2, 1}, []int{0, 1}, []float64{0.9, 1, 0.1}, make([]bool, 3), "vmf")
	tr.Step(4, []int{0, 2, 4}, []int{0, 1, 2}, nil, nil, "")

	near := func(what string, steps, values, wantSteps, want []float64) {
		t.Helper()
		if diff := cmp.Diff(wantSteps, steps); diff != "" {
			t.Errorf("%s: steps: %s", what, diff)
		}
		near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-12 })
		if diff := cmp.Diff(want, values, near); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	x, y := tr.Accuracy(0.7)
	e := 2. / 3
	near("accuracy", x, y, []float64{1, 3, 4}, []float64{e, 0.7*e + 0.3, 0.7*(0.7*e+0.3) + 0.3})

	want := map[string]float64{"kept-right": 1, "right-kept": 1, "dropped-wrong": 1, "batch-right": 1 - 4./9}
	if diff := cmp.Diff(want, tr.Total(1)); diff != "" {
		t.Error(diff)
	}
	if got := tr.Total(4); len(got) > 0 {
		t.Errorf("totals without steps: %v", got)
	}

	scores := tr.Scores()
	if len(scores) != 1 || scores[0].Step != 3 || scores[0].Judge != "vmf" || scores[0].Right.Total() != 2 ||
		scores[0].Wrong.Total() != 1 || scores[0].Unknown != 0 {
		t.Fatalf("scores %+v", scores)
	}
	other := traced(2)
	other.Step(1, []int{0, 1, 6}, nil, []float64{0.2, 0.3, 0.1}, make([]bool, 3), "avgsim")
	other.Step(2, []int{1, 3, 5}, []int{1}, []float64{0.25, 1, 0.3}, []bool{false, true, false}, "avgsim")
	if s := other.Scores()[0]; s.Right.Total() != 1 || s.Wrong.Total() != 3 || s.Unknown != 1 {
		t.Errorf("scores of two steps: %+v", s)
	}
}
