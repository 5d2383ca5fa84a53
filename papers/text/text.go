// Package text prints the papers' numbers and tables for people.
package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Number returns a number with four figures.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// Percent returns a share with two decimals, or three figures where that would leave less.
func Percent(v float64) string {
	if v := 100 * v; v != 0 && v < 1 && v > -1 {
		return strconv.FormatFloat(v, 'g', 3, 64) + " %"
	}
	return fmt.Sprintf("%.2f %%", 100*v)
}

// PercentOr returns a share that may be missing.
func PercentOr(v *float64, otherwise string) string {
	if v == nil {
		return otherwise
	}
	return Percent(*v)
}

// Table aligns columns; nothing is written before Flush.
type Table struct{ *tabwriter.Writer }

// NewTable begins a table on w.
func NewTable(w io.Writer) Table { return Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// Row adds a row. A cell that begins with a line break begins another part of the table.
func (t Table) Row(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")) }
