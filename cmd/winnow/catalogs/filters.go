package catalogs

import (
	"io"
	"slices"
	"strings"

	"winnow/cmd/winnow/page"
	"winnow/filters"
	"winnow/internal/text"
)

var filterCatalog = catalog[filters.Entry]{
	name:  "filters",
	usage: "list the filters that leave out wrong labels while training, or describe one",
	description: `
While training, a filter scores every label of a batch, and the labels with the lowest scores take no part in
the step: the share that --noise-rate gives, or that auto estimates. winnow train --filter NAME chooses a
filter, --set filter.SETTING=VALUE a setting of it; with --filter none every label takes part.

Other ways against wrong labels: --screen leaves out, before training, the labels that the judge of winnow audit
calls wrong; --set correct.visits=3 gives an image that the filter keeps dropping the label on which the memory
bank agrees.

   winnow train --manifest noisy.csv --features features --filter avgsim --noise-rate 0.3 --out run
`,
	all:  func() []filters.Entry { return filters.Catalog },
	find: filters.Find,
	head: []string{"NAME", "FILTER", "JUDGES BY", "SOURCE"},
	row: func(e filters.Entry) []string {
		return []string{e.Name, e.Title, judgesBy(e), page.Source(e.Paper, e.Equation)}
	},
	json: func(e filters.Entry) any { return newFilter(e) },
	markdown: func(list []filters.Entry) [][]string {
		rows := [][]string{{"`--filter`", "filter", "judges by", "source", "settings and defaults"}}
		for _, e := range list {
			rows = append(rows, []string{"`" + e.Name + "`", e.Title, judgesBy(e), page.Source(e.Paper, e.Equation),
				defaults(newSettings(e.Settings))})
		}
		return rows
	},
	describe: writeFilter,
}

// Filter is a filter as JSON.
type Filter struct {
	Name        string    `json:"name"`
	Title       string    `json:"title"`
	Paper       string    `json:"paper"`
	Equation    string    `json:"equation"`
	JudgesBy    string    `json:"judges_by"`
	Probability bool      `json:"probability"` // scores are P(label is right); else similarities
	Thresholds  []string  `json:"thresholds"`
	Printed     string    `json:"printed,omitempty"` // what --paper-variant changes
	Settings    []Setting `json:"settings"`
}

func newFilter(e filters.Entry) Filter {
	return Filter{Name: e.Name, Title: e.Title, Paper: e.Paper, Equation: e.Equation, JudgesBy: judgesBy(e),
		Probability: e.Probability, Thresholds: thresholds(e), Printed: e.Printed, Settings: newSettings(e.Settings)}
}

func thresholds(e filters.Entry) []string {
	list := []string{filters.ThresholdSTRM, filters.ThresholdTRM, filters.ThresholdPaper}
	if e.FixedBar {
		list = append(list, filters.ThresholdFixed)
	}
	if e.Bar > 0 { // its default
		slices.Reverse(list)
	}
	return list
}

// judgesBy says what a filter compares a label with.
func judgesBy(e filters.Entry) string {
	switch {
	case e.NeedsProxy && e.NeedsBank:
		return "the loss's vectors of classes, and the memory bank"
	case e.NeedsProxy:
		return "the loss's vectors of classes"
	case e.NeedsBank:
		return "the memory bank"
	}
	return "the batch"
}

// writeFilter describes a filter for people.
func writeFilter(out io.Writer, e filters.Entry, _ Options) error {
	w := text.NewTable(out)
	w.Row("name", e.Name)
	w.Row("filter", e.Title)
	w.Row("judges by", judgesBy(e))
	scores := "cosines from −1 to 1, and 1 where nothing is known of a label"
	if e.Probability {
		scores = "probabilities that a label is right"
	}
	w.Row("scores", scores)
	w.Row("thresholds", strings.Join(thresholds(e), ", ")+" (--set filter.threshold=NAME; the first is the default)")
	w.Row("source", page.Source(e.Paper, e.Equation))
	if e.Printed != "" {
		w.Row("as printed", e.Printed+" (--paper-variant)")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return writeSettings(out, e.Settings)
}
