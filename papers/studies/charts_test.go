package studies

import (
	"math"
	"slices"
	"strings"
	"testing"

	"winnow/report/page"
)

// Boxes are the recorded ones nearest to the shares of the training; histograms name the steps, the
// scorer and its threshold.
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

// Rows that are not trained are horizontal lines over the steps of the others; each seed's value counts once at each
// end.
func TestUntrainedRowsAreLevel(t *testing.T) {
	text := strings.Replace(example, "columns:\n", "chart: {kind: trace, trace: validation}\ncolumns:\n", 1)
	text = strings.Replace(text, "name: top, recipe: prism/mcl, labels: topline", "name: top, untrained: frozen", 1)
	r := NewResults(parsed(t, text), "birds.csv", true)
	trace := func(row, seed int, x, y []float64) {
		r.Add(Cell{Row: row, Seed: uint64(seed)}, Outcome{
			Measures: map[string]float64{"p@1": 1}, Traces: map[string]Trace{"validation": {X: x, Y: y}},
		})
	}
	trace(0, 1, []float64{0, 50, 100}, []float64{.5, .6, .7})
	trace(2, 1, []float64{0}, []float64{.5})
	trace(2, 2, []float64{0}, []float64{.7})
	lines := r.overSteps(0).Series
	if len(lines) != 2 || !slices.Equal(lines[0].Y, []float64{.5, .6, .7}) {
		t.Fatalf("found %+v, expected the trained row and the frozen one", lines)
	}
	if l := lines[1]; l.Name != "top" || !slices.Equal(l.X, []float64{0, 100}) || math.Abs(l.Y[0]-.6) > 1e-9 ||
		l.Y[1] != l.Y[0] || l.Low[1] != l.Low[0] {
		t.Errorf("found %+v, expected 0.6 at the steps 0 and 100", l)
	}
}

// A map is drawn for each row of each column that has points, for the lowest seed.
func TestMaps(t *testing.T) {
	text := strings.Replace(example, "columns:\n", "chart: {kind: map}\ncolumns:\n", 1)
	r := NewResults(parsed(t, text), "birds.csv", true)
	for _, seed := range []uint64{2, 1} {
		points := Points{
			X: []float64{0, 1}, Y: []float64{float64(seed), 3}, Class: []int{1, 0}, Classes: []string{"jay", "wren"},
		}
		r.Add(Cell{Seed: seed}, Outcome{Seed: seed, Measures: map[string]float64{"p@1": 1}, Points: &points})
	}
	m, ok := r.mapOf(0, 0)
	if !ok || len(m.Points) != 2 || m.Points[0].Y != 1 || m.Points[0].Group != 1 || m.Groups[1] != "wren" {
		t.Errorf("found %+v", m)
	}
	all := r.drawStudyCharts()
	if len(all) != 1 || !strings.Contains(page.Inline(all[0]), "<circle") ||
		all[0].Caption() != r.Study.Rows[0].Name+", "+r.Study.Columns[0].Name {
		t.Errorf("%d charts: %+v", len(all), all)
	}
}
