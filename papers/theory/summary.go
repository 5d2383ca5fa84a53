package theory

import (
	"fmt"
	"io"

	"winnow/internal/text"
)

// Setting holds the noise rate and the other settings of [Describe].
type Setting struct {
	Rate    float64   // label noise p, 0 ≤ p < 1
	Classes int       // K ≥ 2
	Each    int       // images of a class, ≥ 2; 0: no counts of 1-1 sampling
	Eta     []float64 // skews of mining, ≥ 1
	Gamma   []float64 // skews of the marginal loss, in (0, 1]
}

// Describe writes tables of the theoretical results for one noise rate, with rates in percent. The rates of wrong pairs
// in 004 section 4.2 are, for equally frequent classes:
//
//	P_FP = 1 - (1-τ)² - τ²/(C-1) = q₊          share of positive pairs with different true classes
//	P_FN = 2τ(1-τ)/(C-1) + τ²(C-2)/(C-1)² = q₋  share of negative pairs with the same true class
func Describe(out io.Writer, s Setting) error {
	p, k := s.Rate, s.Classes
	q, printed, large := Pairs(p, k), pairsPrinted(p, k), text.Percent(largeK(p))
	percent := text.Percent
	fmt.Fprintf(out, "label noise p = %s, K = %d classes\n", percent(p), k)
	w := text.NewTable(out)
	title := func(cells ...string) { fmt.Fprintln(w); w.Row(cells...) }

	title("pairs", "corrected", "printed", "many classes", "source")
	undefined := "undefined"
	if k > 2 {
		undefined = percent(falseNegativePrinted(p, k))
	}
	w.Row("q₊: same true class, labels differ", percent(q.Positive), percent(printed.Positive), large, "000 eq. 8")
	w.Row("q₋: two true classes, labels agree", percent(q.Negative), percent(printed.Negative), percent(0), "000 eq. 7")
	w.Row("P_FP: labels agree, two true classes", percent(q.Positive), percent(falsePositivePrinted(p, k)), large,
		"004 sec. 4.2")
	w.Row("P_FN: labels differ, same true class", percent(q.Negative), undefined, percent(0), "004 sec. 4.2")

	title("true classes of a triplet labelled anchor = positive ≠ negative", "")
	l := latentTriplet(p, k)
	w.Row("anchor = positive ≠ negative (clean)", percent(l.Clean))
	w.Row("anchor = positive = negative", percent(l.AllSame))
	w.Row("all different", percent(l.AllDifferent))
	w.Row("anchor = negative ≠ positive (inverted)", percent(l.Inverted))
	w.Row("positive = negative ≠ anchor (not in the paper)", percent(l.Other))

	holds := func(bound float64) string {
		if p <= bound {
			return "holds"
		}
		return "exceeded"
	}
	title("unhinged triplets, 1-1 sampling: noise below", fmt.Sprintf("K = %d", k), "many classes (eq. 25)",
		"Q at p", "Q printed", "at p")
	w.Row("000 eq. 22 and 24", percent(unhingedBound(k)), percent(1), text.Number(computeMargin(q, float64(k))),
		text.Number(computeMargin(printed, float64(k))), holds(unhingedBound(k)))
	if s.Each > 0 {
		o := countPairs(k, s.Each)
		w.Row(fmt.Sprintf("with w₋ = %s instead of 1/K = %s", text.Number(o.Weight), text.Number(o.WeightPrinted)),
			percent(o.Bound))
		w.Row(fmt.Sprintf("ordered pairs: %d positive, %d negative; %d triplets", o.PositivePairs, o.NegativePairs,
			o.Triplets))
	}

	title("triplet loss with mining: noise below", fmt.Sprintf("K = %d", k), "many classes (eq. 27)",
		"printed (eq. 26)", "at p")
	for _, eta := range s.Eta {
		bound := tripletBound(k, eta)
		w.Row(fmt.Sprintf("η = %v", eta), percent(bound), percent(tripletBoundLimit(eta)),
			percent(tripletBoundPrinted(eta)), holds(bound))
	}

	title("marginal loss: noise below, for Q ≥ 0", fmt.Sprintf("K = %d", k), "many classes (eq. 37)",
		"for Q ≥ 1/2", "many classes", "noisy per clean pair (z)", "at p")
	for _, gamma := range s.Gamma {
		z, bound := "no limit", marginalBound(k, gamma, 0)
		if gamma < 1 {
			z = text.Number(noisyPerClean(gamma))
		}
		w.Row(fmt.Sprintf("γ = %v", gamma), percent(bound), percent(marginalBoundLimit(gamma, 0)),
			percent(marginalBound(k, gamma, 0.5)), percent(marginalBoundLimit(gamma, 0.5)), z, holds(bound))
	}
	return w.Flush()
}

// Check returns an error for settings out of range, including NaN.
func (s Setting) Check() error {
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

// maxCount keeps the numbers of triplets within 64 bits; they grow with the cube of a count.
const maxCount = 1_000_000
