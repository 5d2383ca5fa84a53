// Package text formats numbers, sizes, names and tables for display, and writes JSON.
package text

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// Number formats a number with four figures.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// Percent formats a share with two decimals, or with three figures if it is below 1 %.
func Percent(v float64) string {
	if v := 100 * v; v != 0 && v < 1 && v > -1 {
		return strconv.FormatFloat(v, 'g', 3, 64) + " %"
	}
	return fmt.Sprintf("%.2f %%", 100*v)
}

// Chance formats a probability with no more digits than are meaningful.
func Chance(p float64) string {
	switch {
	case p < 0.001:
		return "< 0.1 %"
	case p > 0.999:
		return "> 99.9 %"
	}
	return fmt.Sprintf("%.1f %%", 100*p)
}

// Score formats a score that is not a probability with three figures.
func Score(v float64) string {
	if v != 0 && v > -1e-6 && v < 1e-6 {
		return "≈ 0"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Table aligns columns. It writes its rows when Flush is called.
type Table struct{ *tabwriter.Writer }

// NewTable starts a table on w.
func NewTable(w io.Writer) Table { return Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// Row adds a row. If the first cell starts with a line feed, a blank line precedes the row.
func (t Table) Row(cells ...string) {
	first, part := strings.CutPrefix(cells[0], "\n")
	if part {
		fmt.Fprintln(t)
	}
	fmt.Fprint(t, Line(first))
	for _, cell := range cells[1:] {
		fmt.Fprint(t, "\t", Line(cell))
	}
	fmt.Fprintln(t)
}

// Line returns a text that stays on its line and in its column: it replaces line feeds and tabs, which labels and paths
// may contain, by \n and \t.
func Line(s string) string { return inLine.Replace(s) }

var inLine = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// Aligned writes rows with equal numbers of cells: columns listed in left are left-aligned, the others right-aligned.
func Aligned(w io.Writer, rows [][]string, left ...int) {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = Line(row[i])
			wide[i] = max(wide[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, s := range row {
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(s))
			if slices.Contains(left, i) {
				line.WriteString(s + pad + "  ")
			} else {
				line.WriteString(pad + s + "  ")
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// Approx formats a number of bytes, rounded to a tenth of its unit.
func Approx(bytes int64) string {
	switch n := float64(bytes); {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", n/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", n/(1<<20))
	case bytes < 1<<10:
		return fmt.Sprintf("%d bytes", bytes)
	default:
		return fmt.Sprintf("%.1f KiB", n/(1<<10))
	}
}

// Shortened returns a name of at most n letters.
func Shortened(name string, n int) string {
	if letters := []rune(name); len(letters) > n {
		return string(letters[:max(n-1, 0)]) + "…"
	}
	return name
}

// Plural returns a number with a noun in the right form.
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// First returns the first n elements of a list, or all if there are fewer.
func First[T any](list []T, n int) []T { return list[:min(max(n, 0), len(list))] }

// JSON writes v as indented JSON.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// About formats a duration for people: 40 s, 7 minutes, 2.5 hours.
func About(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%.0f s", max(d.Seconds(), 1))
	case d < 90*time.Minute:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}
