package theory

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"winnow/filters"
)

// Concentration holds the settings of [EstimateConcentration].
type Concentration struct {
	Kappa   float64 // true concentration, above 0
	Dim     int     // dimension D of the vectors, ≥ 2
	Trials  int     // number of classes drawn
	Samples int     // number of members of a class, ≥ 2
	Seed    uint64
}

// Estimator estimates κ from R, the length of the mean of n unit vectors of R^D.
type Estimator struct {
	Name     string
	Estimate func(dim, n int, r float64) float64
}

// Estimators lists the estimators of the filter vMF-Sim.
var Estimators = []Estimator{
	{"banerjee", limitEstimator(filters.KappaBanerjee)}, // R(D-R²)/(1-R²)
	{"printed", limitEstimator(filters.KappaPrinted)},   // R(D-R)/(1-R²)
	{"sra", limitEstimator(filters.KappaSra)},           // two Newton steps
	{"debiased", func(dim, n int, r float64) float64 {
		return limitEstimator(filters.KappaBanerjee)(dim, n, filters.Debiased(r, n))
	}},
}

func limitEstimator(estimate filters.Estimator) func(dim, n int, r float64) float64 {
	return func(dim, _ int, r float64) float64 {
		return estimate(dim, r, filters.DefaultLimits())
	}
}

// Errors holds the errors of an estimator.
type Errors struct {
	Estimator string
	Mean      float64 // mean estimate
	Bias      float64 // mean estimate - κ
	RMSE      float64
	MSE       float64
	MAE       float64
}

// EstimateConcentration measures the errors of the estimates that the filter vMF-Sim makes of a class's concentration κ
// from few members (PRISM, Fig. 4). It draws Trials classes and compares the estimates with the true κ. All estimators
// use the same draws. The axis of PRISM's Fig. 4 is labelled MSE, but its numbers are RMSE.
func EstimateConcentration(ctx context.Context, s Concentration) ([]Errors, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	sums := make([]Errors, len(Estimators))
	for trial := range s.Trials {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := meanLength(s, rand.New(rand.NewPCG(s.Seed, uint64(s.Samples)<<32|uint64(trial))))
		for i, e := range Estimators {
			got := e.Estimate(s.Dim, s.Samples, r)
			off := got - s.Kappa
			sums[i].Mean += got
			sums[i].MSE += off * off
			sums[i].MAE += math.Abs(off)
		}
	}
	trials := float64(s.Trials)
	for i, e := range sums {
		sums[i] = Errors{Estimator: Estimators[i].Name, Mean: e.Mean / trials, Bias: e.Mean/trials - s.Kappa,
			RMSE: math.Sqrt(e.MSE / trials), MSE: e.MSE / trials, MAE: e.MAE / trials}
	}
	return sums, nil
}

// meanLength draws the members of a class and returns the length of their mean, R.
func meanLength(s Concentration, r *rand.Rand) float64 {
	sum, v := make([]float64, s.Dim), make([]float64, s.Dim)
	for range s.Samples {
		DrawDirection(v, s.Kappa, r)
		for j := range v {
			sum[j] += v[j]
		}
	}
	var norm float64
	for _, x := range sum {
		norm += x * x
	}
	return math.Sqrt(norm) / float64(s.Samples)
}

// Check returns an error if the setting is invalid.
func (s Concentration) Check() error {
	switch most := filters.DefaultLimits().Kappa; {
	case !(s.Kappa > 0 && s.Kappa <= most):
		return fmt.Errorf("theory: kappa is %v, expected a number above 0 and up to %g", s.Kappa, most)
	case s.Dim < 2 || s.Dim > 1<<16:
		return fmt.Errorf("theory: dim is %d, expected 2 to %d", s.Dim, 1<<16)
	case s.Trials < 1 || s.Trials > 1e6:
		return fmt.Errorf("theory: found %d trials, expected 1 to %d", s.Trials, 1000000)
	case s.Samples < 2 || s.Samples > 1e6:
		return fmt.Errorf("theory: found %d samples of a class, expected 2 to %d", s.Samples, 1000000)
	}
	return nil
}
