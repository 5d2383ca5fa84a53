package theory

import "fmt"

// Setting is the setting of a [Summary].
type Setting struct {
	Rate    float64   // label noise p, 0 ≤ p < 1
	Classes int       // K ≥ 2
	Each    int       // images of a class, ≥ 2; 0: no OneToOne
	Eta     []float64 // skews of mining, ≥ 1
	Gamma   []float64 // skews of the marginal loss, in (0, 1]
}

// Summary is everything that theory says about one noise rate.
type Summary struct {
	Rate        float64        `json:"rate"`
	Classes     int            `json:"classes"`
	Pairs       PairRates      `json:"pairs"`
	Contrastive Contrastive    `json:"contrastive"`
	Unhinged    UnhingedLimit  `json:"unhinged"`
	Triplet     []TripletLimit `json:"triplet"`
	Marginal    []MarginLimit  `json:"marginal"`
	Latent      Latent         `json:"latent_triplet"`
	OneToOne    *OneToOne      `json:"one_to_one,omitempty"`
}

// PairRates is the pair noise: corrected, printed, and q₊ for many classes.
type PairRates struct {
	Corrected PairNoise `json:"corrected"`
	Printed   PairNoise `json:"printed"`
	LargeK    float64   `json:"positive_large_k"`
}

// Contrastive holds the rates of 004 section 4.2:
//
//	P_FP = 1 - (1-τ)² - τ²/(C-1)               share of the assigned positive pairs that truly differ
//	P_FN = 2τ(1-τ)/(C-1) + τ²(C-2)/(C-1)²      share of the assigned negative pairs that are truly alike
//
// With equally frequent classes P_FP is also q₊, and P_FN q₋. FalseNegativePrinted is nil for two classes, for
// which it is undefined.
type Contrastive struct {
	FalsePositive        float64  `json:"false_positive"`
	FalsePositivePrinted float64  `json:"false_positive_printed"`
	FalseNegative        float64  `json:"false_negative"`
	FalseNegativePrinted *float64 `json:"false_negative_printed"`
}

// UnhingedLimit is Q of the unhinged triplet loss at this rate, and the rate at which it is 0.
type UnhingedLimit struct {
	Margin        float64 `json:"q"`
	MarginPrinted float64 `json:"q_printed"` // with the printed q₊
	Bound         float64 `json:"bound"`
	LargeK        float64 `json:"bound_large_k"` // 1, eq. 25
	Holds         bool    `json:"holds"`         // Q ≥ 0
}

// TripletLimit is the bound of the triplet loss for one skew of mining.
type TripletLimit struct {
	Eta     float64 `json:"eta"`
	Bound   float64 `json:"bound"`         // at K classes
	LargeK  float64 `json:"bound_large_k"` // eq. 27
	Printed float64 `json:"bound_printed"` // eq. 26 read literally
	Holds   bool    `json:"holds"`         // the rate is within Bound
}

// MarginLimit is the bound of the marginal loss for one skew of its weights. NoisyPerClean is nil if there is no limit.
type MarginLimit struct {
	Gamma         float64  `json:"gamma"`
	Bound         float64  `json:"bound"`              // Q ≥ 0 at K classes
	LargeK        float64  `json:"bound_large_k"`      // eq. 37
	Half          float64  `json:"bound_half"`         // Q ≥ 1/2 at K classes
	HalfLargeK    float64  `json:"bound_half_large_k"` // Q ≥ 1/2
	NoisyPerClean *float64 `json:"noisy_per_clean"`
	Holds         bool     `json:"holds"` // the rate is within Bound
}

// Describe computes the summary; settings out of range are an error.
func Describe(s Setting) (Summary, error) {
	if err := s.checkSetting(); err != nil {
		return Summary{}, err
	}
	p, k := s.Rate, s.Classes
	q, printed := Pairs(p, k), pairsPrinted(p, k)
	out := Summary{
		Rate: p, Classes: k,
		Pairs: PairRates{Corrected: q, Printed: printed, LargeK: largeK(p)},
		Contrastive: Contrastive{
			FalsePositive: q.Positive, FalsePositivePrinted: falsePositivePrinted(p, k),
			FalseNegative: q.Negative,
		},
		Unhinged: UnhingedLimit{
			Margin: computeMargin(q, float64(k)), MarginPrinted: computeMargin(printed, float64(k)),
			Bound: unhingedBound(k), LargeK: 1, Holds: p <= unhingedBound(k),
		},
		Latent: latentTriplet(p, k),
	}
	if k > 2 {
		out.Contrastive.FalseNegativePrinted = new(falseNegativePrinted(p, k))
	}
	for _, eta := range s.Eta {
		b := TripletLimitOf(k, eta)
		b.Holds = p <= b.Bound
		out.Triplet = append(out.Triplet, b)
	}
	for _, gamma := range s.Gamma {
		b := MarginLimitOf(k, gamma)
		b.Holds = p <= b.Bound
		out.Marginal = append(out.Marginal, b)
	}
	if s.Each > 0 {
		out.OneToOne = new(countPairs(k, s.Each))
	}
	return out, nil
}

// TripletLimitOf returns every bound of one skew η ≥ 1, with Holds for the rate 0.
func TripletLimitOf(classes int, eta float64) TripletLimit {
	return TripletLimit{Eta: eta, Bound: tripletBound(classes, eta), LargeK: tripletBoundLimit(eta),
		Printed: tripletBoundPrinted(eta), Holds: true}
}

// MarginLimitOf returns every bound of one skew γ in (0, 1], with Holds for the rate 0.
func MarginLimitOf(classes int, gamma float64) MarginLimit {
	m := MarginLimit{
		Gamma: gamma,
		Bound: marginalBound(classes, gamma, 0), LargeK: marginalBoundLimit(gamma, 0),
		Half: marginalBound(classes, gamma, 0.5), HalfLargeK: marginalBoundLimit(gamma, 0.5),
		Holds: true,
	}
	if gamma < 1 {
		m.NoisyPerClean = new(noisyPerClean(gamma))
	}
	return m
}

// checkSetting returns an error for settings out of range, including NaN.
func (s Setting) checkSetting() error {
	switch {
	case !(s.Rate >= 0 && s.Rate < 1):
		return fmt.Errorf("theory: noise rate is %v, expected 0 ≤ rate < 1", s.Rate)
	case s.Classes < 2 || s.Classes > maxCount:
		return fmt.Errorf("theory: %d classes, expected 2 to %d", s.Classes, maxCount)
	case s.Each != 0 && (s.Each < 2 || s.Each > maxCount/s.Classes):
		return fmt.Errorf("theory: %d images of each of %d classes, expected 2 to %d", s.Each, s.Classes,
			maxCount/s.Classes)
	}
	for _, eta := range s.Eta {
		if !(eta >= 1 && eta <= maxCount) {
			return fmt.Errorf("theory: skew η is %v, expected 1 to %d", eta, maxCount)
		}
	}
	for _, gamma := range s.Gamma {
		if !(gamma > 0 && gamma <= 1) {
			return fmt.Errorf("theory: skew γ is %v, expected 0 < γ ≤ 1", gamma)
		}
	}
	return nil
}

// maxCount keeps the counts of triplets, which grow with its cube, within 64 bits.
const maxCount = 1_000_000

// RateOfPairs returns [labelNoiseOf] with its arguments checked.
func RateOfPairs(q float64, classes int) (float64, error) {
	if classes < 2 {
		return 0, fmt.Errorf("theory: %d classes, expected 2 or more", classes)
	}
	if most := float64(classes-1) / float64(classes); !(q >= 0 && q <= most) {
		return 0, fmt.Errorf("theory: pair noise q₊ is %v, expected 0 to %.4g for %d classes", q, most, classes)
	}
	return labelNoiseOf(q, classes), nil
}
