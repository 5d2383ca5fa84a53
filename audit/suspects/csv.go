package suspects

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/internal/seal"
)

// appendCells appends the row's values as texts, all that a checksum covers.
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

// formatCellOf returns the column's values in a row as one text.
func (c column) formatCellOf(e *Suspect) string {
	if c.list == "" {
		return c.get(e, 0)
	}
	values := make([]string, c.n(e))
	for k := range values {
		values[k] = c.get(e, k)
	}
	return joinValues(values)
}

// writeCSV leaves out true_label, checked and rate_known if no row has one. sheet quotes cells that a spreadsheet would
// compute.
func writeCSV(w io.Writer, entries []Suspect, columns []column, sheet bool) error {
	unused := map[string]bool{trueLabel: true, checked: true, rateKnown: true}
	for i := range entries {
		e := &entries[i]
		unused[trueLabel] = unused[trueLabel] && e.True == ""
		unused[checked] = unused[checked] && e.Checked == ""
		unused[rateKnown] = unused[rateKnown] && !e.RateKnown
	}
	out := csv.NewWriter(w)
	var record []string
	write := func(mark string, cell func(c column) string) error {
		record = record[:0]
		for _, c := range columns {
			if !unused[c.name] {
				record = append(record, cell(c))
			}
		}
		if sheet {
			record = append(record, mark)
		}
		return out.Write(record)
	}
	if err := write(SheetColumn, func(c column) string { return c.name }); err != nil {
		return err
	}
	for e := range Summed(entries) {
		err := write(SheetMark, func(c column) string {
			if sheet && !c.number {
				return Cell(c.formatCellOf(e))
			}
			return c.formatCellOf(e)
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func readCSV(r io.Reader, into *rows) error {
	limit := &bounded{r: r, left: mostOfRow}
	in := csv.NewReader(skipByteOrderMark(limit))
	in.FieldsPerRecord, in.ReuseRecord = -1, true // counted below
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf(": file is empty, expected a header path,given_label,suggested_label,score")
	}
	if err != nil {
		return inCSV(err)
	}
	names := make([]string, len(header))
	for i := range header {
		if strings.Contains(header[i], "\x00") {
			return fmt.Errorf(": is no text (its first line holds the byte 0), expected CSV")
		}
		names[i] = strings.ToLower(strings.TrimSpace(header[i]))
	}
	at, err := placeColumns(names, func(c column) string { return c.name })
	if err != nil {
		return fmt.Errorf(":1: %w", err)
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
			return inCSV(err)
		}
		line, _ := in.FieldPos(0)
		if len(record) != len(names) {
			return fmt.Errorf(":%d: %d fields, expected %d as in the header", line, len(record), len(names))
		}
		var e Suspect
		for i, c := range columns {
			if at[i] < 0 {
				continue
			}
			cell := record[at[i]]
			if mark >= 0 && record[mark] == SheetMark && !c.number {
				cell = unescapeCell(cell)
			}
			if values = append(values[:0], cell); c.list != "" {
				values = splitValues(values[:0], cell)
				if n := len(values); n > 0 && !c.isLeadingColumn() && n != c.n(&e) {
					return fmt.Errorf(":%d: %s: found %d values, expected one for each of %d paths", line, c.name, n,
						c.n(&e))
				}
			}
			for k, v := range values {
				if err := c.set(into, &e, k, v); err != nil {
					return fmt.Errorf(":%d: %s: %w", line, c.name, err)
				}
			}
		}
		if err := into.passRow(e); err != nil {
			return err
		}
	}
}

// inCSV puts the line of a broken row in front of an error.
func inCSV(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return fmt.Errorf(":%d: %w", p.StartLine, p.Err)
	}
	return fmt.Errorf(": %w", err)
}

var escaper = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

// joinValues makes one field of the values of a list.
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

// splitValues undoes joinValues; an empty field holds no value. A \ that is not before \ or | stands for itself.
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

// bounded limits the bytes of a row, so that a missing quote does not read the whole file into memory.
type bounded struct {
	r    io.Reader
	left int // bytes
}

// mostOfRow is the largest number of bytes of a row.
const mostOfRow = 16 << 20

var errRow = fmt.Errorf("a row takes more than %d MiB: is a quote or a bracket not closed", mostOfRow>>20)

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errRow
	}
	n, err := b.r.Read(p)
	b.left -= n
	return n, err
}

// skipByteOrderMark skips a byte order mark.
func skipByteOrderMark(r io.Reader) *bufio.Reader {
	in := bufio.NewReaderSize(r, 1<<16)
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3) // just peeked
	}
	return in
}
