package report

import (
	"slices"
	"strconv"

	"winnow/report/page"
	"winnow/train"
)

// mostBoxes is the largest number of boxes that are readable in one chart.
const mostBoxes = 24

// kappaBoxes returns box plots of the classes' concentrations κ during training, as in PRISM's Fig. 5.
func kappaBoxes(diagnoses []train.Diagnosis) page.Boxes {
	drawing := page.Boxes{Frame: page.Frame{Title: "Concentration κ of the classes during training",
		X: "iteration", Y: "κ of the classes"}}
	with := slices.DeleteFunc(slices.Clone(diagnoses), func(d train.Diagnosis) bool { return d.Kappa == nil })
	every := max((len(with)+mostBoxes-1)/mostBoxes, 1)
	for i := len(with) % every; i < len(with); i += every {
		drawing.Places = append(drawing.Places, page.Place{Name: strconv.Itoa(with[i].Step),
			Boxes: []page.Box{kappaBox(with[i].Kappa)}})
	}
	return readableBoxes(drawing)
}

func kappaBox(k *train.KappaSpread) page.Box {
	if len(k.Values) > 0 {
		return page.BoxOf("κ", k.Values, 0)
	}
	return page.Box{Name: "κ", Low: k.Low, Q1: k.Q1, Median: k.Median, Q3: k.Q3, High: k.High}
}
