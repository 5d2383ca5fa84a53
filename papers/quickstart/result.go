package quickstart

import (
	"fmt"
	"io"
	"path/filepath"

	"winnow/eval"
	"winnow/internal/atomicfile"
	"winnow/internal/text"
	"winnow/report/page"
)

// Result is result.json. Topline, Unfiltered and PRISM are the fine-tuned networks' last states, after equal budgets:
// where labels are wrong, there is seldom a validation split with true labels to choose a state by.
type Result struct {
	Seed      uint64         `json:"seed"`
	NoiseRate float64        `json:"noise_rate"`
	Frozen    eval.Retrieval `json:"frozen"`
	Whitened  eval.Retrieval `json:"whitened"`
	Trio                     // of the fine-tuned network
	Detection eval.Detection `json:"detection"`
	// Chosen are the same trainings, with the state chosen by such a split.
	Chosen   Trio               `json:"chosen_by_validation"`
	HeadOnly Trio               `json:"frozen_features"` // a head on fixed features, last states
	Verdict  []string           `json:"verdict"`
	Seconds  map[string]float64 `json:"seconds"`
}

// Trio compares three trainings of one kind: the cost of the noise, and the share of it that the filter recovered.
type Trio struct {
	Topline    eval.Retrieval `json:"topline"`
	Unfiltered eval.Retrieval `json:"unfiltered"`
	PRISM      eval.Retrieval `json:"prism"`
	Cost       float64        `json:"noise_cost"`      // P@1 of topline minus that of unfiltered
	Recovered  *float64       `json:"recovered_share"` // by PRISM; null: the noise cost nothing
}

// formatPercents returns P@1 of the three in words.
func (t Trio) formatPercents() string {
	return fmt.Sprintf("%.1f %% (true labels), %.1f %% (no filter) and %.1f %% (PRISM)", 100*t.Topline.PrecisionAt1,
		100*t.Unfiltered.PrecisionAt1, 100*t.PRISM.PrecisionAt1)
}

// judgeCosts computes costs and shares, and writes the verdict.
func (r *Result) judgeCosts() {
	for _, t := range []*Trio{&r.Trio, &r.Chosen, &r.HeadOnly} {
		if t.Cost = t.Topline.PrecisionAt1 - t.Unfiltered.PrecisionAt1; t.Cost > 0 {
			t.Recovered = new((t.PRISM.PrecisionAt1 - t.Unfiltered.PrecisionAt1) / t.Cost)
		}
	}
	add := func(format string, args ...any) { r.Verdict = append(r.Verdict, fmt.Sprintf(format, args...)) }
	add("Of %d training labels %d are wrong; winnow's scores separate them from the right ones with an AUROC of %.3f "+
		"(average precision %.3f).", r.Detection.Samples, r.Detection.Wrong, r.Detection.AUROC, r.Detection.AP)
	cost := "The wrong labels cost nothing here"
	if r.Recovered != nil {
		cost = fmt.Sprintf("The wrong labels cost %.1f points, of which PRISM recovers %.0f %%", 100*r.Cost,
			100**r.Recovered)
	}
	add("P@1 of the fine-tuned network on unseen classes is %s. %s.", r.formatPercents(), cost)
	gain := r.PRISM.PrecisionAt1 - max(r.Frozen.PrecisionAt1, r.Whitened.PrecisionAt1)
	worth := fmt.Sprintf("fine-tuning on the filtered labels is worth %.1f points", 100*gain)
	if gain <= 0 {
		worth = "the network fine-tuned on the filtered labels is NOT better"
	}
	add("Without any training it is %.1f %% (frozen) and %.1f %% (whitened): %s.", 100*r.Frozen.PrecisionAt1,
		100*r.Whitened.PrecisionAt1, worth)
	add("These are the last states of trainings of equal length. If a validation split with true labels chooses the "+
		"state, P@1 is %s. With only a head trained, on fixed features, it is %s.", r.Chosen.formatPercents(),
		r.HeadOnly.formatPercents())
}

// listComparedRows returns the compared embeddings, in order.
func (r *Result) listComparedRows() []page.Row {
	wrong := fmt.Sprintf("labels of which %.0f %% are wrong", 100*r.NoiseRate)
	return []page.Row{
		{Name: "frozen", Note: "the backbone's features, no training", Retrieval: r.Frozen},
		{Name: "whitened", Note: "PCA whitening, no labels", Retrieval: r.Whitened},
		{Name: "head topline", Note: "a head alone, on the true labels", Retrieval: r.HeadOnly.Topline},
		{Name: "head unfiltered", Note: "a head alone, on " + wrong, Retrieval: r.HeadOnly.Unfiltered},
		{Name: "head PRISM", Note: "the same labels, filtered while training", Retrieval: r.HeadOnly.PRISM},
		{Name: "topline", Note: "the whole network, on the true labels", Retrieval: r.Topline},
		{Name: "unfiltered", Note: "the whole network, on " + wrong, Retrieval: r.Unfiltered},
		{Name: "PRISM vMF-Sim", Note: "the same labels, filtered while training", Retrieval: r.PRISM,
			Detection: &r.Detection, Strong: true},
	}
}

// Write prints the table and the verdict of a quickstart in a folder.
func (r *Result) Write(w io.Writer, dir string) {
	fmt.Fprintf(w, "%-15s %8s %8s %8s %8s   %s\n", "", "P@1", "R@8", "R-Prec", "MAP@R", "")
	for _, row := range r.listComparedRows() {
		fmt.Fprintf(w, "%-15s %8.4f %8.4f %8.4f %8.4f   %s\n", row.Name, row.Retrieval.PrecisionAt1,
			row.Retrieval.Recall[8], row.Retrieval.RPrecision, row.Retrieval.MAPAtR, row.Note)
	}
	for _, s := range r.Verdict {
		fmt.Fprintln(w, s)
	}
	fmt.Fprintf(w, "%.1f s; the comparison as a page: %s\n", r.Seconds["total"], filepath.Join(dir, "report.html"))
}

// writeFiles writes result.json and report.html.
func (r *Result) writeFiles(dir string) error {
	p := page.Report{
		Command: "quickstart", Verdict: r.Verdict,
		Title:     fmt.Sprintf("An embedding from labels of which %.0f %% are wrong", 100*r.NoiseRate),
		RowsTitle: "Retrieval on classes never seen in training", Rows: r.listComparedRows(), K: []int{2, 4, 8},
	}
	err := atomicfile.WriteAll(dir, map[string]func(io.Writer) error{"report.html": p.WriteHTML,
		"result.json": func(w io.Writer) error { return text.JSON(w, r) }})
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	return nil
}
