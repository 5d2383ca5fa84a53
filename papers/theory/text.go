package theory

import (
	"fmt"
	"io"

	"winnow/internal/text"
)

// Text writes the summary as tables, rates in percent.
func (s Summary) Text(out io.Writer) error {
	fmt.Fprintf(out, "label noise p = %s, K = %d classes\n", text.Percent(s.Rate), s.Classes)
	w := text.NewTable(out)
	title := func(cells ...string) { fmt.Fprintln(w); w.Row(cells...) }

	title("pairs", "corrected", "printed", "many classes", "source")
	w.Row("q₊: truly alike, labels differ", text.Percent(s.Pairs.Corrected.Positive),
		text.Percent(s.Pairs.Printed.Positive), text.Percent(s.Pairs.LargeK), "000 eq. 8")
	w.Row("q₋: truly different, labels agree", text.Percent(s.Pairs.Corrected.Negative),
		text.Percent(s.Pairs.Printed.Negative), text.Percent(0), "000 eq. 7")
	w.Row("P_FP: assigned positive, truly different", text.Percent(s.Contrastive.FalsePositive),
		text.Percent(s.Contrastive.FalsePositivePrinted), text.Percent(s.Pairs.LargeK), "004 sec. 4.2")
	w.Row("P_FN: assigned negative, truly alike", text.Percent(s.Contrastive.FalseNegative),
		text.PercentOr(s.Contrastive.FalseNegativePrinted, "undefined"), text.Percent(0), "004 sec. 4.2")

	title("a triplet labelled anchor = positive ≠ negative is truly", "")
	l := s.Latent
	w.Row("anchor = positive ≠ negative (clean)", text.Percent(l.Clean))
	w.Row("anchor = positive = negative", text.Percent(l.AllSame))
	w.Row("all different", text.Percent(l.AllDifferent))
	w.Row("anchor = negative ≠ positive (inverted)", text.Percent(l.Inverted))
	w.Row("positive = negative ≠ anchor (not in the paper)", text.Percent(l.Other))

	title("unhinged triplets, 1-1 sampling: noise below", fmt.Sprintf("K = %d", s.Classes), "many classes (eq. 25)",
		"Q at p", "Q printed", "at p")
	w.Row("000 eq. 22 and 24", text.Percent(s.Unhinged.Bound), text.Percent(s.Unhinged.LargeK),
		text.Number(s.Unhinged.Margin), text.Number(s.Unhinged.MarginPrinted), formatHolds(s.Unhinged.Holds))
	if o := s.OneToOne; o != nil {
		w.Row(fmt.Sprintf("with w₋ = %s instead of 1/K = %s", text.Number(o.Weight), text.Number(o.WeightPrinted)),
			text.Percent(o.Bound))
		w.Row(fmt.Sprintf("ordered pairs: %d positive, %d negative; %d triplets", o.PositivePairs, o.NegativePairs,
			o.Triplets))
	}

	title("triplet loss with mining: noise below", fmt.Sprintf("K = %d", s.Classes), "many classes (eq. 27)",
		"printed (eq. 26)", "at p")
	for _, b := range s.Triplet {
		w.Row(fmt.Sprintf("η = %v", b.Eta), text.Percent(b.Bound), text.Percent(b.LargeK), text.Percent(b.Printed),
			formatHolds(b.Holds))
	}

	title("marginal loss: noise below, for Q ≥ 0", fmt.Sprintf("K = %d", s.Classes), "many classes (eq. 37)",
		"for Q ≥ 1/2", "many classes", "noisy per clean pair (z)", "at p")
	for _, b := range s.Marginal {
		z := "no limit"
		if b.NoisyPerClean != nil {
			z = text.Number(*b.NoisyPerClean)
		}
		w.Row(fmt.Sprintf("γ = %v", b.Gamma), text.Percent(b.Bound), text.Percent(b.LargeK), text.Percent(b.Half),
			text.Percent(b.HalfLargeK), z, formatHolds(b.Holds))
	}
	return w.Flush()
}

func formatHolds(ok bool) string {
	if ok {
		return "holds"
	}
	return "exceeded"
}
