package catalogs

import (
	"fmt"
	"io"
	"text/tabwriter"

	"winnow/cmd/winnow/page"
	"winnow/eval"
	"winnow/internal/text"
	"winnow/losses"
)

// Options choose an entry of a catalog and the output format.
type Options struct {
	Name           string // "": all
	JSON, Markdown bool
}

// writeLosses prints one loss or the list of all.
func writeLosses(w io.Writer, o Options) error {
	list := losses.Catalog
	if o.Name != "" {
		e, err := losses.Find(o.Name)
		if err != nil {
			return err
		}
		list = []losses.Entry{e}
	}
	switch {
	case o.JSON:
		out := make([]Loss, len(list))
		for i, e := range list {
			out[i] = newLoss(e)
		}
		if o.Name != "" {
			return text.JSON(w, out[0])
		}
		return text.JSON(w, out)
	case o.Markdown:
		_, err := io.WriteString(w, lossTable(list))
		return err
	case o.Name != "":
		return writeLoss(w, list[0])
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tLOSS\tCOMPARES WITH\tSOURCE")
	for _, e := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", e.Name, e.Title, against(e),
			text.Shortened(page.Source(e.Paper, e.Equation), 70))
	}
	return table.Flush()
}

// writeMetrics prints one metric or the list of all.
func writeMetrics(w io.Writer, o Options) error {
	if o.Name != "" {
		e, err := eval.Find(o.Name)
		if err != nil {
			return err
		}
		if o.JSON {
			return text.JSON(w, newMetric(e))
		}
		return writeMetric(w, newMetric(e))
	}
	list := make([]Metric, len(eval.Catalog))
	for i, e := range eval.Catalog {
		list[i] = newMetric(e)
	}
	switch {
	case o.JSON:
		return text.JSON(w, list)
	case o.Markdown:
		return writeMetricTable(w, list)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tNUMBERS\tNEEDS\tCOMMAND\tSOURCE")
	for _, m := range list {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", m.Name, m.labels(), m.Needs, m.Command,
			text.Shortened(m.source(), 60))
	}
	return table.Flush()
}
