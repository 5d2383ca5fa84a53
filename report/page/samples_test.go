package page

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// samples returns one drawing of each type that uses all its options.
func samples() map[string]Drawing {
	r := rand.New(rand.NewPCG(1, 1))
	band := Line{Name: "vMF-Sim", Tone: 1, Dots: true}
	var long Line
	long.Name, long.Tone = "ProxySim", 0
	for i := range 5000 {
		long.X, long.Y = append(long.X, float64(i)),
			append(long.Y, 0.7+0.2*(1-math.Exp(-float64(i)/900))+0.02*r.NormFloat64())
	}
	for i := range 11 {
		y := 0.5 + 0.48*(1-math.Exp(-float64(i)/2))
		band.X, band.Y = append(band.X, 500*float64(i)), append(band.Y, y)
		band.Low, band.High = append(band.Low, y-0.03), append(band.High, y+0.03)
	}
	var right, wrong []float64
	for range 3000 {
		right, wrong = append(right, 1/(1+math.Exp(-3-2*r.NormFloat64()))),
			append(wrong, 1/(1+math.Exp(3-2*r.NormFloat64())))
	}
	boxes := Boxes{Frame: Frame{Title: "κ of the classes over training", Titled: true, X: "iteration", Y: "κ"}}
	for i := range 4 {
		var a, b []float64
		for range 98 {
			a, b = append(a, 100*math.Sqrt(float64(i+1))*math.Exp(0.3*r.NormFloat64())),
				append(b, 60*math.Sqrt(float64(i+1))*math.Exp(0.3*r.NormFloat64()))
		}
		boxes.Places = append(boxes.Places,
			Place{Name: fmt.Sprint(1000 + 2000*i), Boxes: []Box{BoxOf("MCL", a, 0), BoxOf("SoftTriple", b, 1)}})
	}
	axes := Lines{Frame{Title: "loss against size", X: "samples of a class", Y: "RMSE of κ", LogX: true, LogY: true},
		[]Line{{Name: "Banerjee", X: []float64{5, 10, 20, 34, 100, 0}, Y: []float64{155.9, 71, 34, 22, 12, 3},
			Tone: 4, Dots: true}}}
	return map[string]Drawing{
		"lines": Lines{Frame{Title: "Share of right labels among the kept", Titled: true, X: "iteration",
			Y: "share of right labels", Percent: true, Marks: []Mark{{1500, "vMF-Sim begins"}}}, []Line{long, band}},
		"histogram": Histogram{Frame{Title: "P_clean", X: "P_clean", Y: "share of the labels", Percent: true,
			Marks: []Mark{{0.42, "threshold 0.42"}}}, []Bars{Count("right labels", right, 0, 1, 40, 0),
			Count("wrong labels", wrong, 0, 1, 40, 1)}},
		"boxes": boxes,
		"axes":  axes,
	}
}
