package theory

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"winnow/internal/atomicfile"
	"winnow/internal/text"
	"winnow/report/page"
)

// Text writes the result as tables.
func (r PairResult) Text(out io.Writer) error {
	fmt.Fprintf(out, "%s: pairs of %d training images, %d classes\n", r.Name, r.Images, r.Classes)
	w := text.NewTable(out)
	for _, l := range r.Labellings {
		w.Row("\n"+l.Name+": "+text.Percent(l.Wrong)+" of the labels wrong", "pairs", "mean cosine")
		for _, d := range l.Cosines.Kinds {
			w.Row(d.Kind.String(), strconv.Itoa(d.Pairs), cosineText(d.Mean, d.Pairs))
		}
	}
	w.Row("\ncosines of false positives", "overlap with true positives", "with true negatives")
	for _, l := range r.Labellings {
		c := l.Cosines
		w.Row(l.Name, text.Percent(c.Overlap), text.Percent(c.OverlapNegatives))
	}
	w.Row("\nwrong pairs in batches", "P_FP", "symmetric, theory", "P_FN", "symmetric, theory", "batches", "rows")
	for _, l := range r.Labellings {
		s := l.Signals
		w.Row(l.Name, text.Percent(s.PFP), text.Percent(l.Formula.Positive), text.Percent(s.PFN),
			text.Percent(l.Formula.Negative), strconv.Itoa(s.Batches), strconv.Itoa(s.Rows/max(s.Batches, 1)))
	}
	w.Row("\nshare of false positives among wrong pairs", "by rate, P_FP/(P_FP+P_FN)", "symmetric, theory",
		"by number of pairs")
	for _, l := range r.Labellings {
		w.Row(l.Name, text.Percent(l.Signals.OfRates),
			text.Percent(computeShare(l.Formula.Positive, l.Formula.Negative)), text.Percent(l.Signals.OfPairs))
	}
	for k := range r.countLosses() {
		w.Row("\nby |∂L/∂s| of "+r.Labellings[0].Signals.Losses[k].Name, "false positives among wrong pairs",
			"wrong pairs among all", "weight of a false / true positive")
		for _, l := range r.Labellings {
			j := l.Signals.Losses[k]
			w.Row(l.Name, text.Percent(j.OfWrong), text.Percent(j.Shares[FalsePositive]+j.Shares[FalseNegative]),
				text.Number(j.Weight))
		}
	}
	if r.countLosses() == 0 {
		w.Row("\nno loss of the run is a function of the pairs of a batch: select other losses")
	}
	return w.Flush()
}

func (r PairResult) countLosses() int { return len(r.Labellings[0].Signals.Losses) }

// cosineText returns a cosine, or – if there is no pair.
func cosineText(v float64, pairs int) string {
	if pairs == 0 {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// Write writes the charts into a folder.
func (r PairResult) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("theory: %w", err)
	}
	files := map[string]func(io.Writer) error{}
	for _, l := range r.Labellings {
		files["cosines-"+strings.ReplaceAll(l.Name, " ", "-")+".svg"] = r.drawCosines(l).WriteSVG
	}
	if err := atomicfile.WriteAll(dir, files); err != nil {
		return fmt.Errorf("theory: %w", err)
	}
	return nil
}

func binEdges() []float64 {
	edges := make([]float64, Bins+1)
	for b := range edges {
		edges[b] = float64(2*b-Bins) / Bins
	}
	return edges
}

// drawCosines draws SCL-RHE's Fig. 2: shares of each kind of pairs on a logarithmic axis, without false negatives.
func (r PairResult) drawCosines(l Labelling) page.Histogram {
	h := page.Histogram{Frame: page.Frame{
		Title: fmt.Sprintf("Cosines of pairs, labels %s (%s wrong)", l.Name, text.Percent(l.Wrong)), Titled: true,
		X: "cosine", Y: "share of the pairs of a kind", LogY: true,
	}}
	for i, kind := range []Kind{TruePositive, TrueNegative, FalsePositive} {
		tone := []int{0, 2, 1}[i] // a tone that makes false positives stand out
		d := l.Cosines.Kinds[kind]
		h.Bars = append(h.Bars, page.Bars{Name: kind.String(), Edges: binEdges(),
			Heights: d.computePairShares(), Tone: tone})
	}
	return h
}
