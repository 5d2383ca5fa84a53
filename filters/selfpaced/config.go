// Package selfpaced gives every training sample a weight in [0, 1]: near 1 if its losses are small, 0 if the sample is
// so far from its class, or so near to other classes, that its label should not be trusted. It computes the weights of
// BSPML, balanced self-paced metric learning. The other half of BSPML is a weighted loss, and training alternates
// between the two. The package imports features only, so it has no access to true labels.
//
// Symbols: sample i has the given label c, one of C classes, with N_c members. w_i is its weight, ζ_c = Σ_{i∈c} w_i and
// w̄_c = ζ_c/N_c. ξ⁺_i and ξ⁻_i are its multi-similarity losses against the whole training set ([Losses]). λ is the age
// parameter, a threshold for losses that rises from round to round. μ is the strength of the balance between classes.
//
//	L(w) = Σ_i w_i/N_c [ (ζ_c-w_i)/(N_c-1)·ξ⁺_i + 1/(C-1)·Σ_{k≠c} w̄_k·ξ⁻_i ]
//	       - λ Σ_c w̄_c + μ/(C-1) Σ_{c<k} (w̄_c - w̄_k)²
//
// The first term is missing for a class with one sample. With a single class, the second and the last term are 0. A
// class whose weights are all 0 is still counted as a class.
//
// Source: Zhang, Luo, Gu, "Denoising Multi-Similarity Formulation: A Self-paced Curriculum-Driven Approach for
// Robust Metric Learning", AAAI 2023: eq. 6 and 8, algorithms 1 and 3.
package selfpaced

import (
	"fmt"

	"winnow/internal/catalog"
)

// Config holds the settings of the weights. [Default] follows the BSPML paper where the paper specifies a setting, and
// otherwise METHODS.
type Config struct {
	Alpha float64 `yaml:"alpha" json:"alpha"` // sharpness of ξ⁺, > 0
	Beta  float64 `yaml:"beta" json:"beta"`   // sharpness of ξ⁻, > 0
	Base  float64 `yaml:"base" json:"base"`   // similarity ρ that is subtracted in both

	// Hard selects classic self-paced weights: 1 if ξ⁺+ξ⁻ ≤ λ, else 0 (eq. 2).
	Hard bool    `yaml:"hard" json:"hard,omitempty"`
	Mu   float64 `yaml:"mu" json:"mu"` // strength of the balance, μ ≥ 0; 0: the SPMS ablation

	Lambda float64 `yaml:"lambda" json:"lambda,omitempty"` // λ of the first round; 0: set by Start
	// Start is the share of the samples that are below λ in the first round, in (0, 1].
	Start     float64 `yaml:"start" json:"start"`
	Growth    float64 `yaml:"growth" json:"growth"`         // c ≥ 1, factor of λ from round to round
	LambdaMax float64 `yaml:"lambda_max" json:"lambda_max"` // λ∞ > 0

	// Printed steps are w ← clip(w - γ·G), as Algorithm 3 prints them. Otherwise, steps are w ← clip(w - γ·N_c·G): G =
	// ∂L/∂w contains the factor 1/N_c, so a plain γ would hardly move the weights of large classes.
	Printed bool    `yaml:"-" json:"-"`
	Rate    float64 `yaml:"rate" json:"rate"` // γ > 0
	// A round visits every sample, in random order, until no weight changes by more than Tolerance in one visit, but at
	// most Visits times. With Tolerance 0, it always uses all Visits.
	Tolerance float64 `yaml:"tolerance" json:"tolerance"`
	Visits    int     `yaml:"visits" json:"visits"`
	// Classes is P, the number of other classes drawn for a gradient; 0 (with PerClass 0): all samples.
	Classes  int `yaml:"classes" json:"classes"`
	PerClass int `yaml:"per_class" json:"per_class"` // K: samples drawn from each class

	Complete int `yaml:"complete" json:"complete"` // largest number of samples for which ξ sums over all samples
	// for more samples, number of random samples over which ξ sums, drawn for each block
	References int `yaml:"references" json:"references"`
}

// Default returns the settings of the BSPML paper where the paper specifies them; λ∞ = μ = 3 is the middle of [1, 5].
//
// Gradients are complete: sums over classes make them twenty times as fast as sampled gradients, and steps need not be
// small. With P = K = 5, γ = 0.5 and 2 visits, sampling noise hides the differences between samples: on 8 clusters of
// 50 with 30 % wrong labels, the weights separate wrong from right labels with an AUROC of 0.52 to 0.55.
//
// A round stops when the weights have converged. On the same clusters that takes about 500 visits, after which 170
// weights are 0 (121 of them of wrong labels) and 224 are 1. After 20 visits 17 are 0 and none is 1: the order is
// right, but almost all labels are still trained on. Drawn gradients do not converge, and use all visits.
//
// On real features, two settings need attention. λ∞ determines how many labels are trusted: G_p+G_n grows with the
// weights, so the weights converge where it equals λ. If λ∞ is larger than G_p+G_n at weights of 1, all weights become
// 1 and the method has no effect. The second setting is the step size: the weights visited first change most, because
// the mean weight is then farthest from its final value. Smaller steps and more visits cost little and rank better. One
// round on 2,990 photographs of 100 kinds of birds (MobileNetV2, whitened, 512 dimensions, 30 % wrong labels): λ∞ = 3,
// 3.5, 4 and 10 leave mean weights of 0.57, 0.66, 0.76 and 0.99; with λ∞ = 3.5 the AUROC is 0.90 at γ = 0.1 with 20
// visits, 0.97 at 0.05 with 100 and 0.98 at 0.02 with 400. Sorting all samples by ξ⁺+ξ⁻ gives 0.73; the weights are
// better because they compare a sample with its own class.
func Default() Config {
	return Config{
		Alpha: 2, Beta: 50, Base: 1, Mu: 3,
		Start: 0.6, Growth: 1.1, LambdaMax: 3,
		Rate: 0.1, Tolerance: 1e-3, Visits: 2000,
		Complete: 50_000, References: 4096,
	}
}

// steepest limits the exponent, so that no sum of e^x overflows and no term is subnormal.
const steepest = 600

// Check returns an error for settings out of range. Each test is written so that NaN fails the test.
func (c Config) Check() error {
	base := max(c.Base, -c.Base)
	limit := fmt.Sprintf("above 0 and at most %.4g", steepest/(1+base))
	check := catalog.Checker{Where: "selfpaced"}
	check.That(base <= 1, "base", c.Base, "-1 to 1")
	check.That(c.Alpha > 0 && c.Alpha*(1+base) <= steepest, "alpha", c.Alpha, limit)
	check.That(c.Beta > 0 && c.Beta*(1+base) <= steepest, "beta", c.Beta, limit)
	check.That(c.Mu >= 0 && c.Mu <= most, "mu", c.Mu, "0 or more")
	check.That(c.Lambda >= 0 && c.Lambda <= most, "lambda", c.Lambda,
		"above 0, or 0 to compute it from start")
	check.That(c.Start > 0 && c.Start <= 1, "start", c.Start, "a share above 0, at most 1")
	check.That(c.Growth >= 1 && c.Growth <= most, "growth", c.Growth, "1 or more")
	check.That(c.LambdaMax > 0 && c.LambdaMax <= most, "lambda_max", c.LambdaMax, "above 0")
	check.That(c.Rate > 0 && c.Rate <= most, "rate", c.Rate, "above 0")
	check.That(c.Tolerance >= 0 && c.Tolerance < 1, "tolerance", c.Tolerance, "0 to below 1")
	check.That(c.Visits >= 1, "visits", c.Visits, "1 or more")
	check.That(c.Classes >= 0 && c.PerClass >= 0 && (c.Classes == 0) == (c.PerClass == 0), "classes, per_class",
		[]int{c.Classes, c.PerClass}, "both above 0, or both 0 for complete gradients")
	check.That(c.Complete >= 0, "complete", c.Complete, "0 or more")
	check.That(c.References >= 1, "references", c.References, "1 or more")
	return check.Err
}

// most is the largest accepted setting; larger numbers are assumed to be mistakes.
const most = 1e12
