package measure

import (
	"fmt"
	"io"

	"winnow/eval"
	"winnow/run/folder"
)

// retrievalMetric is the name of the metric that the verdict uses.
const retrievalMetric = "retrieval"

// Write writes a table for each metric, and below it a line about the images.
func (r Result) Write(w io.Writer) error {
	for i, e := range r.metrics {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if e.Name == retrievalMetric {
			printRows(w, r.Split, *r.Frozen, *r.Whitened, *r.Retrieval)
			printQueries(w, r)
			continue
		}
		if why := r.Skipped[e.Name]; why != "" {
			fmt.Fprintf(w, "%s: not measured: %s\n", e.Name, why)
			continue
		}
		got := r.Metrics[e.Name]
		printRows(w, e.Name, got.Frozen, got.Whitened, got.Trained)
		printFacts(w, got)
	}
	return nil
}

func printRows(w io.Writer, title string, frozen, whitened, trained eval.Result) {
	width := max(10, len(title))
	fmt.Fprintf(w, "%-*s", width, title)
	for _, v := range frozen.Shown() {
		fmt.Fprintf(w, " %8s", v.Label)
	}
	for _, row := range []struct {
		name string
		of   eval.Result
	}{{folder.FrozenRow, frozen}, {folder.WhitenedRow, whitened}, {folder.TrainedRow, trained}} {
		fmt.Fprintf(w, "\n%-*s", width, row.name)
		for _, v := range row.of.Shown() {
			fmt.Fprintf(w, " %8.4f", v.Value)
		}
	}
	fmt.Fprintln(w)
}

// printQueries prints the number of queries and the verdict.
func printQueries(w io.Writer, r Result) {
	fmt.Fprintf(w, "%d queries", r.N)
	if r.DrawnFrom > 0 {
		fmt.Fprintf(w, " drawn from %d images", r.DrawnFrom)
	}
	if r.Lonely > 0 {
		fmt.Fprintf(w, ", %d without any positive", r.Lonely)
	}
	if r.InGallery > 0 {
		fmt.Fprintf(w, ", %d also in the gallery, where they do not match themselves", r.InGallery)
	}
	if r.Unlabelled > 0 {
		fmt.Fprintf(w, ", %d images without a label left out", r.Unlabelled)
	}
	if n := len(r.LeftOut); n > 0 {
		fmt.Fprintf(w, ", %d unreadable images left out", n)
	}
	fmt.Fprintf(w, "\n%s\n", r.Verdict)
}

// printFacts prints the images that a metric was measured on.
func printFacts(w io.Writer, m Measured) {
	switch of := m.Trained.(type) {
	case eval.Clustering:
		fmt.Fprintf(w, "%d images of %d classes; clusters: %d; seed %d\n", of.Samples, of.Classes, of.Clusters, *m.Seed)
	case eval.Accuracy:
		printFitted(w, m, of)
	case eval.Probed:
		printFitted(w, m, of.Accuracy)
		for _, row := range []struct {
			name string
			of   eval.Result
		}{{folder.FrozenRow, m.Frozen}, {folder.WhitenedRow, m.Whitened}, {folder.TrainedRow, m.Trained}} {
			if p := row.of.(eval.Probed); !p.Converged {
				fmt.Fprintf(w, "%s: the fit had not converged after %d steps: raise linear-probe.iterations\n",
					row.name, p.Iterations)
			}
		}
	}
}

func printFitted(w io.Writer, m Measured, a eval.Accuracy) {
	fmt.Fprintf(w, "%d images, fitted on %d of %s in %d classes", a.N, a.Fitted, m.FittedOn, a.Classes)
	if a.Unseen > 0 {
		what := "left out"
		if m.Settings["count_unseen"] == true {
			what = "counted as wrong"
		}
		fmt.Fprintf(w, "; %d of other classes %s", a.Unseen, what)
	}
	fmt.Fprintln(w)
}
