package report

import (
	"fmt"
	"strconv"

	"winnow/eval"
	"winnow/report/chart"
	"winnow/train"
)

// PaperSmoothing is the weight of the past in PRISM's Fig. 2.
const PaperSmoothing = 0.7

// NamedTrace is a filter's trace under the name it has in a drawing.
type NamedTrace struct {
	Name  string
	Trace *eval.FilterTrace
}

// AccuracyChart is PRISM's Fig. 2: the share of right labels among the kept, a line for each run.
func AccuracyChart(title string, weight float64, traces ...NamedTrace) chart.Lines {
	drawing := chart.Lines{Frame: chart.Frame{Title: title, X: "iteration", Y: "right labels among the kept", Percent: true}}
	for i, t := range traces {
		x, y := t.Trace.Accuracy(weight)
		drawing.Series = append(drawing.Series, chart.Line{Name: t.Name, X: x, Y: y, Tone: i})
	}
	return drawing
}

// ScoresChart is PRISM's Fig. 3: the scores of right and of wrong labels around an iteration, with the threshold if
// one is given. Heights are shares of all the labels counted, so that the two sets can be compared.
func ScoresChart(s eval.FilterScores, threshold *float64) chart.Histogram {
	drawing := chart.Histogram{Frame: chart.Frame{
		Title: fmt.Sprintf("P_clean by %s, iterations %d to %d", s.Judge, s.From, s.Step), X: "P_clean", Y: "share of the labels", Percent: true,
	}}
	if threshold != nil {
		drawing.Marks = []chart.Mark{{At: *threshold, Name: "threshold " + strconv.FormatFloat(*threshold, 'g', 3, 64)}}
	}
	all := float64(max(s.Right.Total()+s.Wrong.Total(), 1))
	exponent := max(s.Right.Exponent, s.Wrong.Exponent)
	if s.Right.Total() == 0 || s.Wrong.Total() == 0 {
		exponent = -64 // there is only one
	}
	for i, name := range []string{"right labels", "wrong labels"} {
		h := s.Right.AtLeast(exponent)
		if i == 1 {
			h = s.Wrong.AtLeast(exponent)
		}
		bars := chart.Bars{Name: name, Edges: h.Edges(), Tone: i}
		for _, n := range h.Counts {
			bars.Heights = append(bars.Heights, float64(n)/all)
		}
		drawing.Bars = append(drawing.Bars, bars)
	}
	return drawing
}

// NamedDiagnoses is what a run saw of its filter, under the name it has in a drawing.
type NamedDiagnoses struct {
	Name string
	List []train.Diagnosis
}

// mostBoxes is the number of boxes side by side that can still be read.
const mostBoxes = 24

// KappaBoxes is PRISM's Fig. 5: how the concentrations of the classes are spread over training, at most 24 boxes of
// each run. Places are those of the first run; the others have a box where they looked at the same step.
func KappaBoxes(title string, runs ...NamedDiagnoses) chart.Boxes {
	drawing := chart.Boxes{Frame: chart.Frame{Title: title, X: "iteration", Y: "κ of the classes"}}
	if len(runs) == 0 {
		return drawing
	}
	var steps []int
	for _, d := range runs[0].List {
		if d.Kappa != nil {
			steps = append(steps, d.Step)
		}
	}
	every := (len(steps) + mostBoxes - 1) / mostBoxes
	for i := len(steps) % max(every, 1); i < len(steps); i += every {
		place := chart.Place{Name: strconv.Itoa(steps[i])}
		for tone, run := range runs {
			for _, d := range run.List {
				if d.Step == steps[i] && d.Kappa != nil {
					place.Boxes = append(place.Boxes, kappaBox(run.Name, d.Kappa, tone))
				}
			}
		}
		drawing.Places = append(drawing.Places, place)
	}
	return drawing
}

func kappaBox(name string, k *train.KappaSpread, tone int) chart.Box {
	if len(k.Values) > 0 {
		return chart.BoxOf(name, k.Values, tone)
	}
	return chart.Box{Name: name, Low: k.Low, Q1: k.Q1, Median: k.Median, Q3: k.Q3, High: k.High, Tone: tone}
}
