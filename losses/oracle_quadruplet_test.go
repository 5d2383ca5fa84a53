package losses

import (
	"fmt"
	"math"
	"testing"
)

func slowQuadruplet(in exactInput, squared bool, m1, m2 float64) float64 {
	g := func(i, j int) float64 {
		d := in.distance(i, j)
		if squared {
			return d * d
		}
		return d
	}
	var three, four, n3, n4 float64
	for a := range in.z {
		for p := range in.z {
			if in.kind(a, p) != 1 {
				continue
			}
			for n := range in.z {
				if in.kind(a, n) != -1 {
					continue
				}
				three += math.Max(g(a, p)-g(a, n)+m1, 0)
				n3++
				for o := range in.z {
					if in.kind(a, o) == -1 && in.kind(n, o) == -1 {
						four += math.Max(g(a, p)-g(n, o)+m2, 0)
						n4++
					}
				}
			}
		}
	}
	if n3 == 0 {
		return 0
	}
	if n4 == 0 {
		return three / n3
	}
	return three/n3 + four/n4
}

func TestQuadrupletByLoops(t *testing.T) {
	inputs := oracleInputs()
	two := conformInput(31, 9)
	for i := range two.labels {
		two.labels[i] %= 2
	}
	wide := conformInput(32, 13) // a class with enough pairs for a grid
	for i := range wide.labels {
		wide.labels[i] = max(0, i-6)
	}
	inputs["two classes"], inputs["one large class"] = two, wide
	for name, in := range inputs {
		if in.ref != nil {
			continue
		}
		for _, squared := range []bool{false, true} {
			for _, m := range [][2]float64{{1, 0.5}, {0.2, 0.2}, {0, 0}, {4, 4}, {0.1, 2}} {
				l := mustNew(t, "quadruplet", map[string]any{"squared": squared, "margin1": m[0], "margin2": m[1]},
					testEnv(conformDim, conformClasses, 1))
				slow := func() float64 { return slowQuadruplet(in, squared, m[0], m[1]) }
				checkOracle(t, fmt.Sprint(name, squared, m), l.(*similarity), in, slow)
			}
		}
	}
}
