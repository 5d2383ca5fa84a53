package losses

import (
	"fmt"
	"math"
	"testing"
)

// slowMargin returns ArcFace or CosFace with k centres per class by loops, from raw rows and raw centres. own
// turns the angle to the own class into its logit before scaling.
func slowMargin(in exactInput, centres [][]float64, k int, scale float64, own func(theta float64) float64) float64 {
	var loss float64
	for i, x := range in.z {
		var total, mine float64
		for c := range len(centres) / k {
			theta := math.Pi
			for _, p := range centres[c*k : (c+1)*k] {
				theta = math.Min(theta, math.Acos(slowCosine(x, p)))
			}
			logit := math.Cos(theta)
			if c == in.labels[i] {
				logit = own(theta)
				mine = scale * logit
			}
			total += math.Exp(scale * logit)
		}
		loss += (math.Log(total) - mine) / float64(len(in.z))
	}
	return loss
}

func slowAngle(m float64) func(theta float64) float64 {
	return func(theta float64) float64 {
		if theta+m < math.Pi {
			return math.Cos(theta + m)
		}
		return math.Cos(theta) - m*math.Sin(m)
	}
}

func slowCosineMargin(m float64) func(theta float64) float64 {
	return func(theta float64) float64 { return math.Cos(theta) - m }
}

func TestMarginLossesByLoops(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings map[string]any
		centres  int
		scale    float64
		own      func(theta float64) float64
	}{
		{"arcface", nil, 1, 64, slowAngle(0.5)},
		{"arcface", map[string]any{"scale": 8, "margin": 1.5}, 1, 8, slowAngle(1.5)}, // half of the rows beyond π
		{"cosface", nil, 1, 64, slowCosineMargin(0.35)},
		{"cosface", map[string]any{"scale": 5, "margin": 1}, 1, 5, slowCosineMargin(1)},
		{"sub_center_arcface", nil, 3, 64, slowAngle(0.5)},
		{"sub_center_arcface", map[string]any{"scale": 4, "margin": 0.2, "centers": 7}, 7, 4, slowAngle(0.2)},
	} {
		for name, in := range classInputs() {
			l := mustNew(t, c.name, c.settings, testEnv(conformDim, conformClasses, 1)).(*proxied)
			centres := widen64(l.p.Data, l.p.Cols)
			checkOwner(t, fmt.Sprint(c.name, c.settings, name), in, [][][]float64{centres},
				func() (float64, [][]float64, [][][]float64) {
					loss, grad, own := exactProxies(l, in, centres)
					return loss, grad, [][][]float64{own}
				}, func() float64 { return slowMargin(in, centres, c.centres, c.scale, c.own) })
		}
	}
}
