package studies

import (
	"slices"
	"strings"
	"testing"
)

// Charts show the recorded boxes nearest to the given shares of the training. Titles and marks of histograms contain
// the steps, the scorer and its threshold.
func TestSpreads(t *testing.T) {
	s := parsed(t, strings.Replace(example, "columns:\n",
		"chart: {kind: boxes, trace: kappa, at: [0.25, 1]}\ncolumns:\n", 1))
	r, threshold := NewResults(s, "birds.csv", true), 0.25
	o := Outcome{Steps: 100, Measures: map[string]float64{"p@1": 1}}
	for _, step := range []int{10, 40, 90} {
		o.Spread("kappa", Spread{Step: step, Box: []float64{1, 2, 3, 4, float64(step)}})
	}
	counted := Counts{Edges: []float64{0, 0.5, 1}, N: []int{1, 3}}
	o.Spread("p-clean", Spread{Step: 50, From: 41, Judge: "vmf", Threshold: &threshold, Right: counted, Wrong: counted})
	r.Add(Cell{Seed: 1}, o)
	places := func() (names []string) {
		for _, p := range r.drawBoxes(0).Places {
			names = append(names, p.Name)
		}
		return names
	}
	if got := places(); !slices.Equal(got, []string{"10", "90"}) {
		t.Errorf("boxes after the steps %v", got)
	}
	s.Chart.Kind, s.Chart.Trace = Histograms, "p-clean"
	all := r.drawHistograms(0, 0)
	if len(all) != 1 || !strings.HasSuffix(all[0].Title, "steps 41 to 50 by vmf") || len(all[0].Marks) != 1 ||
		all[0].Marks[0].At != threshold || all[0].Bars[0].Heights[1] != 3./8 {
		t.Errorf("found %+v", all)
	}
}
