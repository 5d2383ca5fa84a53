package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"winnow/internal/atomicfile"
	"winnow/papers/pairs"
	"winnow/report/chart"
)

// printPairs is the result as tables.
func printPairs(out io.Writer, r pairsResult) error {
	of := "frozen features"
	if r.Run != "" {
		of = r.Run + ", " + r.Head
		if r.Step != nil {
			of += fmt.Sprintf(" (after step %d)", *r.Step)
		}
	}
	fmt.Fprintf(out, "%s: pairs of %d of %d training images, %d classes\n", of, r.Compared, r.Images, r.Classes)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	for _, l := range r.Labellings {
		row("\n"+l.Name+": "+percent(l.Wrong)+" of the labels wrong", "pairs", "cosine: mean", "5 %", "25 %", "median", "75 %", "95 %")
		for _, d := range l.Cosines.Kinds {
			cells := []string{d.Kind.String(), strconv.Itoa(d.Pairs)}
			for _, v := range []float64{d.Mean, d.P5, d.Q1, d.Median, d.Q3, d.P95} {
				cells = append(cells, cosineText(v, d.Pairs))
			}
			row(cells...)
		}
	}
	row("\ncosines of false positives", "overlap with true positives", "with true negatives", "nearer than a true positive", "than a true negative")
	for _, l := range r.Labellings {
		c := l.Cosines
		row(l.Name, percent(c.Overlap), percent(c.OverlapNegatives), percent(c.Nearer), percent(c.NearerThanNegatives))
	}
	row("\nwrong pairs of batches", "P_FP", "symmetric, on paper", "P_FN", "symmetric, on paper", "batches", "rows")
	for _, l := range r.Labellings {
		s := l.Signals
		row(l.Name, percent(s.PFP), percent(l.Formula.PFP), percent(s.PFN), percent(l.Formula.PFN), strconv.Itoa(s.Batches), strconv.Itoa(s.Rows/max(s.Batches, 1)))
	}
	row("\nof what is wrong, false positives are", "by rate, P_FP/(P_FP+P_FN)", "symmetric, on paper", "by number of pairs")
	for _, l := range r.Labellings {
		row(l.Name, percent(l.Signals.OfRates), percent(l.Formula.OfRates), percent(l.Signals.OfPairs))
	}
	for k := range lossCount(r) {
		row("\nby |∂L/∂s| of "+r.Labellings[0].Signals.Losses[k].Name, "false positives of what is wrong", "wrong of all", "weight of a false positive over a true one's")
		for _, l := range r.Labellings {
			j := l.Signals.Losses[k]
			row(l.Name, percent(j.OfWrong), percent(j.Shares[pairs.FalsePositive]+j.Shares[pairs.FalseNegative]), number(j.Weight))
		}
	}
	if lossCount(r) == 0 {
		row("\nnone of the run's losses is a function of the pairs of a batch: --loss names some")
	}
	return w.Flush()
}

func lossCount(r pairsResult) int { return len(r.Labellings[0].Signals.Losses) }

// cosineText is a cosine, – where there is no pair.
func cosineText(v float64, pairs int) string {
	if pairs == 0 {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// writePairs writes numbers, bins and drawings.
func writePairs(c *cli.Context, r pairsResult) error {
	dir := c.String("out")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("pairs: %w", err)
	}
	files := map[string]func(io.Writer) error{
		"pairs.json": func(w io.Writer) error { return printJSON(w, r) },
		"bins.csv":   func(w io.Writer) error { return pairBins(w, r) },
	}
	for _, l := range r.Labellings {
		files["cosines-"+strings.ReplaceAll(l.Name, " ", "-")+".svg"] = pairChart(r, l).WriteSVG
	}
	for name, write := range files {
		if err := atomicfile.Write(filepath.Join(dir, name), write); err != nil {
			return fmt.Errorf("pairs: %s: %w", name, err)
		}
	}
	return nil
}

// pairBins is a line for each labelling, kind and bin.
func pairBins(out io.Writer, r pairsResult) error {
	w := csv.NewWriter(out)
	w.Write([]string{"labels", "kind", "from", "to", "pairs"}) // errors stay until Error
	edges := pairEdges()
	for _, l := range r.Labellings {
		for _, d := range l.Cosines.Kinds {
			for b, n := range d.Counts {
				w.Write([]string{l.Name, d.Kind.String(), number(edges[b]), number(edges[b+1]), strconv.Itoa(n)})
			}
		}
	}
	w.Flush()
	return w.Error()
}

func pairEdges() []float64 {
	edges := make([]float64, pairs.Bins+1)
	for b := range edges {
		edges[b] = float64(2*b-pairs.Bins) / pairs.Bins
	}
	return edges
}

// pairChart is SCL-RHE's Fig. 2: shares of each kind of pairs on a logarithmic axis, false negatives left out as there,
// over the cosines that any labelling has.
func pairChart(r pairsResult, l labelling) chart.Histogram {
	h := chart.Histogram{Frame: chart.Frame{
		Title: fmt.Sprintf("Cosines of pairs, labels %s (%s wrong)", l.Name, percent(l.Wrong)), Titled: true,
		X: "cosine", Y: "share of the pairs of a kind", LogY: true,
	}}
	from, to := usedBins(r)
	for i, kind := range []pairs.Kind{pairs.TruePositive, pairs.TrueNegative, pairs.FalsePositive} {
		tone := []int{0, 2, 1}[i] // false positives stand out
		d := l.Cosines.Kinds[kind]
		h.Bars = append(h.Bars, chart.Bars{Name: kind.String(), Edges: pairEdges()[from : to+1], Heights: d.Shares()[from:to], Tone: tone})
	}
	return h
}

// usedBins are from the first to behind the last bin with a pair.
func usedBins(r pairsResult) (from, to int) {
	from = pairs.Bins
	for _, l := range r.Labellings {
		for _, d := range l.Cosines.Kinds {
			for b, n := range d.Counts {
				if n > 0 {
					from, to = min(from, b), max(to, b+1)
				}
			}
		}
	}
	return from, to
}
