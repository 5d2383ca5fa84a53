package quickstart

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"

	"winnow/datasets/glyphs/names"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/internal/atomicfile"
	"winnow/internal/text"
	"winnow/report"
	"winnow/report/chart"
	"winnow/report/page"
)

// Write prints the table and the verdict.
func (r *Result) Write(w io.Writer) {
	fmt.Fprintf(w, "%-15s %8s %8s %8s %8s   %s\n", "", "P@1", "R@8", "R-Prec", "MAP@R", "")
	for _, row := range r.rows() {
		fmt.Fprintf(w, "%-15s %8.4f %8.4f %8.4f %8.4f   %s\n", row.Name, row.Retrieval.PrecisionAt1,
			row.Retrieval.Recall[8], row.Retrieval.RPrecision, row.Retrieval.MAPAtR, row.Note)
	}
	for _, s := range r.Verdict {
		fmt.Fprintln(w, s)
	}
	fmt.Fprintf(w, "%.1f s; the report: %s\n", r.Seconds["total"], filepath.Join(r.dir, "report.html"))
}

// write writes result.json and report.html.
func (d *quickstart) write(ctx context.Context) error {
	page, err := d.report(ctx)
	if err != nil {
		return err
	}
	err = atomicfile.WriteAll(d.o.Dir, map[string]func(io.Writer) error{"report.html": page.WriteHTML,
		"result.json": func(w io.Writer) error { return text.JSON(w, d.result) }})
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	return nil
}

func (d *quickstart) report(ctx context.Context) (page.Report, error) {
	r := page.Report{
		Command: "quickstart",
		Title:   fmt.Sprintf("An embedding from labels of which %.0f %% are wrong", 100*d.result.NoiseRate),
		Verdict: d.result.Verdict, RowsTitle: "Retrieval on classes never seen in training", Rows: d.result.rows(),
		K: []int{2, 4, 8}, Charts: d.charts(),
		Facts: []page.Fact{
			{Name: "data", Value: fmt.Sprintf("glyphs: %d drawn characters, %d images; train, validation and test "+
				"have different characters", len(d.clean.Classes), len(d.clean.Samples))},
			{Name: "noise", Value: fmt.Sprintf("symmetric, rate %g: %d of %d training labels wrong",
				d.result.NoiseRate, d.result.Detection.Wrong, d.result.Detection.Samples)},
			{Name: "backbone", Value: Backbone + ", " + d.store.Key.Model[:12] + "…"},
			{Name: "training", Value: "topline, unfiltered and PRISM: the whole network and a head; head …: a " +
				"head on the stored features. The settings of each run are in config.yaml in its folder; runs of a " +
				"kind differ only in labels and filter"},
			{Name: "seed", Value: fmt.Sprint(d.o.Seed)},
			{Name: "seconds", Value: fmt.Sprintf("%.1f on %d cores", d.result.Seconds["total"], runtime.GOMAXPROCS(0))},
			{Name: "winnow", Value: d.o.Host.Winnow},
		},
	}
	var err error
	if r.Suspects, err = d.suspects(24); err != nil {
		return r, err
	}
	r.Queries, err = d.queries(ctx, 8, 8)
	return r, err
}

func (d *quickstart) charts() []chart.Drawing {
	loss := chart.Lines{Frame: chart.Frame{Title: "Training loss (smoothed; rises while the memory bank fills)",
		X: "epoch", Y: "loss"}}
	score := chart.Lines{Frame: chart.Frame{Title: "P@1 on validation classes", X: "epoch", Y: "P@1", Percent: true}}
	purity := chart.Lines{Frame: chart.Frame{Title: "Share of right labels among the kept (smoothed)", X: "epoch",
		Y: "right labels", Percent: true}}
	for _, c := range d.curves {
		series := func(x, y []float64) chart.Line { return chart.Line{Name: c.name, Tone: c.tone, X: x, Y: y} }
		const weight = 0.95 // of the past
		loss.Series = append(loss.Series, series(c.loss.x, filters.Smooth(weight, c.loss.y)))
		score.Series = append(score.Series, series(c.score.x, c.score.y))
		if c.name != "topline" {
			x, y := c.trace.Accuracy(weight)
			for i := range x {
				x[i] /= float64(c.epoch)
			}
			purity.Series = append(purity.Series, series(x, y))
		}
	}
	return []chart.Drawing{score, purity, loss, report.LabelScores(d.audited.Images)}
}

// suspects shows the most suspect labels, then some near the boundary between wrong and right ones.
func (d *quickstart) suspects(n int) ([]page.SuspectCard, error) {
	at := make([]int, 0, n)
	for i := range min(n*2/3, len(d.audited.Images)) {
		at = append(at, i)
	}
	edge := int(d.result.NoiseRate * float64(len(d.audited.Images)))
	for i := max(edge-(n-len(at)), len(at)); i < edge; i++ {
		at = append(at, i)
	}
	return report.SuspectCards(d.audited.Images, at, nil, d.picture)
}

func (d *quickstart) picture(path, caption string) (page.Picture, error) {
	data, err := fs.ReadFile(d.images, path)
	return page.Picture{Data: data, Caption: caption}, err
}

// queries shows n test images, spread over the test classes, and their k nearest by the filtered network.
func (d *quickstart) queries(ctx context.Context, n, k int) ([]page.QueryCard, error) {
	z := d.found
	rows := make([]int, n)
	for i := range rows {
		rows[i] = (2*i + 1) * z.Len() / (2 * n)
	}
	lists, err := eval.Nearest(ctx, z.Rows(rows), &z, k+1, 0) // including the query itself
	if err != nil {
		return nil, err
	}
	var cards []page.QueryCard
	for i, list := range lists {
		card, err := d.queryCard(z, rows[i], list, k)
		if err != nil {
			return nil, err
		}
		cards = append(cards, card)
	}
	return cards, nil
}

func (d *quickstart) queryCard(z features.Set, row int, list []eval.Neighbour, k int) (page.QueryCard, error) {
	sample := d.clean.Samples[z.IDs[row]]
	var card page.QueryCard
	var err error
	if card.Query, err = d.picture(sample.Path, names.Readable(d.clean.Classes[sample.Label])); err != nil {
		return card, err
	}
	for _, near := range list {
		if near.Row == row || len(card.Nearest) == k {
			continue
		}
		other := d.clean.Samples[z.IDs[near.Row]]
		pic, err := d.picture(other.Path, names.Readable(d.clean.Classes[other.Label]))
		if err != nil {
			return card, err
		}
		pic.Good = other.Label == sample.Label
		card.Nearest = append(card.Nearest, pic)
	}
	return card, nil
}
