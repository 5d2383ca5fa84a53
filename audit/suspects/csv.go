package suspects

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/internal/seal"
)

// appendCells appends the row's values as texts: everything that the checksum covers.
func (e *Suspect) appendCells(cells []string) []string {
	for _, c := range columns {
		if c.name == seal.RowColumn {
			continue
		}
		cell := c.formatCellOf(e)
		if !utf8.ValidString(cell) {
			cell = string([]rune(cell)) // as in JSON
		}
		cells = append(cells, cell)
	}
	return cells
}

// formatCellOf returns the column's value in a row, or its values joined into one text.
func (c column) formatCellOf(e *Suspect) string {
	if c.n == nil {
		return c.get(e, 0)
	}
	values := make([]string, c.n(e))
	for k := range values {
		values[k] = c.get(e, k)
	}
	return joinValues(values)
}

// writeCSV writes a list as CSV. It leaves out true_label, checked and rate_known if no row has a value.
func writeCSV(w io.Writer, entries []Suspect, columns []column) error {
	unused := map[string]bool{trueLabel: true, checked: true, rateKnown: true}
	for i := range entries {
		e := &entries[i]
		unused[trueLabel] = unused[trueLabel] && e.True == ""
		unused[checked] = unused[checked] && e.Checked == ""
		unused[rateKnown] = unused[rateKnown] && !e.RateKnown
	}
	columns = slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return unused[c.name] })
	out, record := csv.NewWriter(w), make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.name
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for e := range Summed(entries) {
		for i, c := range columns {
			record[i] = c.formatCellOf(e)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func readCSV(r io.Reader, into *rows) error {
	limit := &bounded{r: r, left: mostOfRow}
	in := csv.NewReader(skipByteOrderMark(limit))
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return err
	}
	names := make([]string, len(header))
	for i := range header {
		names[i] = strings.ToLower(strings.TrimSpace(header[i]))
	}
	at, err := placeColumns(names)
	if err != nil {
		return err
	}
	mark := slices.Index(names, SheetColumn)
	var values []string
	for {
		limit.left = mostOfRow
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := in.FieldPos(0)
		var e Suspect
		for i, c := range columns {
			if at[i] < 0 {
				continue
			}
			cell := record[at[i]]
			if mark >= 0 && record[mark] == SheetMark {
				cell = unescapeCell(cell)
			}
			if values = append(values[:0], cell); c.n != nil {
				values = splitValues(values[:0], cell)
				if n := len(values); n > 0 && !c.leads && n != c.n(&e) {
					return fmt.Errorf("line %d: %s: %d values, expected %d as in the column of paths", line, c.name,
						n, c.n(&e))
				}
			}
			for k, v := range values {
				if err := c.set(into, &e, k, v); err != nil {
					return fmt.Errorf("line %d: %s: %w", line, c.name, err)
				}
			}
		}
		if err := into.passRow(e); err != nil {
			return err
		}
	}
}

var escaper = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// joinValues joins the values of a list into one field.
func joinValues(values []string) string {
	var out strings.Builder
	for i, s := range values {
		if i > 0 {
			out.WriteByte('|')
		}
		_, _ = escaper.WriteString(&out, s) // a builder never fails
	}
	return out.String()
}

// splitValues undoes joinValues. An empty field is an empty list. A \ that is not before \ or | is literal.
func splitValues(values []string, joined string) []string {
	if joined == "" {
		return values
	}
	var value strings.Builder
	for i := 0; i < len(joined); i++ {
		c := joined[i]
		if c == '|' {
			values = append(values, value.String())
			value.Reset()
			continue
		}
		if c == '\\' && i+1 < len(joined) && (joined[i+1] == '\\' || joined[i+1] == '|') {
			i++
			c = joined[i]
		}
		value.WriteByte(c)
	}
	return append(values, value.String())
}
