package theory

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// DrawDirection fills v with a unit vector of R^D, D ≥ 2, drawn from the von Mises-Fisher distribution around the first
// axis, with density ∝ exp(κ v₀) and κ ≥ 0.
//
//	b = (D-1)/(2κ + √(4κ² + (D-1)²)),  x = (1-b)/(1+b),  c = κx + (D-1) log(1-x²)
//	z ~ Beta((D-1)/2, (D-1)/2),  w = (1-(1+b)z)/(1-(1-b)z)
//	v₀ = w if κw + (D-1) log(1-xw) - c ≥ log u, u uniform; v₁, v₂, … uniform on the sphere of radius √(1-w²)
//
// Source: Wood, Simulation of the von Mises Fisher distribution, Communications in Statistics 23(1), 1994,
// algorithm VM*. The form of b avoids cancellation for small κ.
func DrawDirection(v []float64, kappa float64, r *rand.Rand) {
	d := float64(len(v) - 1)
	b := d / (2*kappa + math.Sqrt(4*kappa*kappa+d*d))
	x := (1 - b) / (1 + b)
	c := kappa*x + d*math.Log(1-x*x)
	beta := distuv.Beta{Alpha: d / 2, Beta: d / 2, Src: r}
	var w float64
	for {
		z := beta.Rand()
		w = (1 - (1+b)*z) / (1 - (1-b)*z)
		if kappa*w+d*math.Log(1-x*w)-c >= math.Log(r.Float64()) {
			break
		}
	}
	var norm float64
	for norm == 0 {
		for j := 1; j < len(v); j++ {
			v[j] = r.NormFloat64()
			norm += v[j] * v[j]
		}
	}
	scale := math.Sqrt(math.Max(0, 1-w*w) / norm)
	v[0] = w
	for j := 1; j < len(v); j++ {
		v[j] *= scale
	}
}
