package theory_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"winnow/filters"
	"winnow/papers/theory"
)

// TestFigure4 reproduces PRISM's Fig. 4: κ = 537 in 128 dimensions, 200 classes. An independent program (METHODS,
// 001-3) measured RMSE 155.9, MSE 2.4e4 and MAE 148.8 for 5 members, and RMSE 22.1 for 34 members. The caption of the
// figure has 155.6 for 5 members.
func TestFigure4(t *testing.T) {
	s := theory.Concentration{Kappa: 537, Dim: 128, Trials: 200, Seed: 1}
	got := map[string]theory.Errors{}
	for _, n := range []int{5, 34} {
		s.Samples = n
		list, err := theory.EstimateConcentration(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			got[fmt.Sprint(n, " ", e.Estimator)] = e
			if math.Abs(e.RMSE*e.RMSE-e.MSE) > 1e-9*e.MSE || e.MAE > e.RMSE || math.Abs(e.Bias) > e.MAE+1e-9 {
				t.Errorf("the errors contradict each other: %+v", e)
			}
		}
	}
	for _, c := range []struct {
		of               string
		found, want, off float64
	}{
		{"RMSE of 5", got["5 banerjee"].RMSE, 155.9, 6},
		{"MSE of 5", got["5 banerjee"].MSE, 2.4e4, 2000},
		{"MAE of 5", got["5 banerjee"].MAE, 148.8, 6},
		{"bias of 5, relative", got["5 banerjee"].Bias / s.Kappa, 0.28, 0.02},
		{"RMSE of 34", got["34 banerjee"].RMSE, 22.1, 2},
		{"bias of 5, debiased", got["5 debiased"].Bias, 0, 12},
	} {
		if math.Abs(c.found-c.want) > c.off {
			t.Errorf("%s: %v, expected %v ± %v", c.of, c.found, c.want, c.off)
		}
	}
	if got["5 printed"].Mean >= got["5 banerjee"].Mean || got["5 debiased"].RMSE >= got["5 banerjee"].RMSE {
		t.Errorf("printed %+v, debiased %+v", got["5 printed"], got["5 debiased"])
	}
}

// The draws have the mean and the variance of the density along its axis, for small and large κ.
func TestDrawHasTheMoments(t *testing.T) {
	for _, c := range []struct {
		dim   int
		kappa float64
	}{{2, 0.5}, {3, 4}, {16, 1e-9}, {16, 40}, {128, 537}, {5, 1e4}} {
		r := rand.New(rand.NewPCG(7, uint64(c.dim)))
		const n = 20000
		var mean, square, other float64
		v := make([]float64, c.dim)
		for range n {
			theory.DrawDirection(v, c.kappa, r)
			var norm float64
			for _, x := range v {
				norm += x * x
			}
			if math.Abs(norm-1) > 1e-12 {
				t.Fatalf("D = %d, κ = %v: squared length %v", c.dim, c.kappa, norm)
			}
			mean, square, other = mean+v[0]/n, square+v[0]*v[0]/n, other+v[c.dim-1]/n
		}
		// A_D(κ) by the ratio of Bessel functions; E v₀² = 1 - (D-1) A/κ.
		a := math.Exp(filters.LogBesselI(float64(c.dim)/2, c.kappa) - filters.LogBesselI(float64(c.dim)/2-1, c.kappa))
		second := 1 - float64(c.dim-1)*a/c.kappa
		sd := math.Sqrt(math.Max(square-mean*mean, 0) / n)
		if math.Abs(mean-a) > 5*sd || math.Abs(other) > 5/math.Sqrt(n) {
			t.Errorf("D = %d, κ = %v: mean %v across %v, expected %v ± %v", c.dim, c.kappa, mean, other, a, sd)
		}
		if math.Abs(square-second) > 10*sd+1e-9 {
			t.Errorf("D = %d, κ = %v: mean square %v, expected %v", c.dim, c.kappa, square, second)
		}
	}
}
