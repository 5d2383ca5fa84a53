package report

import (
	"strconv"

	"winnow/report/page"
	"winnow/train"
)

// namedDiagnoses is a run's diagnoses of its filter, with the run's name in a drawing.
type namedDiagnoses struct {
	Name string
	List []train.Diagnosis
}

// mostBoxes is how many boxes side by side are still readable.
const mostBoxes = 24

// kappaBoxes is PRISM's Fig. 5: the spread of the classes' concentrations during training, with at most 24
// boxes for each run. The places are steps of the first run; the other runs have a box at the steps that they
// share.
func kappaBoxes(title string, runs ...namedDiagnoses) page.Boxes {
	drawing := page.Boxes{Frame: page.Frame{Title: title, X: "iteration", Y: "κ of the classes"}}
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
		place := page.Place{Name: strconv.Itoa(steps[i])}
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

func kappaBox(name string, k *train.KappaSpread, tone int) page.Box {
	if len(k.Values) > 0 {
		return page.BoxOf(name, k.Values, tone)
	}
	return page.Box{Name: name, Low: k.Low, Q1: k.Q1, Median: k.Median, Q3: k.Q3, High: k.High, Tone: tone}
}
