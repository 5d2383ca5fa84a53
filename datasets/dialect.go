package datasets

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// separators are what cells of tables are separated by, apart from tabs. Excel writes semicolons where the comma
// separates decimals.
var separators = []rune{',', ';', '|'}

// cellsOf splits the first line of a file, without regard to separators in quotes.
func cellsOf(line string, by rune) []string {
	cells := strings.Split(line, string(by))
	for i := range cells {
		cells[i] = strings.Trim(cells[i], ` "`)
	}
	return cells
}

// firstLine returns the first line of a file, whatever ends it, without spaces around it.
func firstLine(head []byte) string {
	if end := bytes.IndexAny(head, "\r\n"); end >= 0 {
		head = head[:end]
	}
	return string(bytes.TrimSpace(head))
}

// findSeparator returns what separates the cells of a table that is not separated by tabs: what makes its header hold
// names that are known, or else more than one name.
func (o ReadOptions) findSeparator(in *bufio.Reader) rune {
	head, _ := in.Peek(4096) // a short file gives less
	line := firstLine(head)
	for _, by := range separators {
		cells := cellsOf(line, by)
		if len(cells) > 1 && (looksNamed(cells) || o.Names.Path != "" && findColumn(cells, o.Names.Path) >= 0 ||
			o.Names.Label != "" && findColumn(cells, o.Names.Label) >= 0) {
			return by
		}
	}
	for _, by := range separators {
		if strings.ContainsRune(line, by) {
			return by
		}
	}
	return ','
}

// consumeLead consumes what may stand before a table, and returns it: a byte order mark, and a line sep=; for Excel.
func consumeLead(in *bufio.Reader) ([]byte, error) {
	lead, err := consumeMark(in)
	if err != nil {
		return nil, err
	}
	head, _ := in.Peek(16)
	if line := firstLine(head); len(line) != len("sep=;") || !strings.HasPrefix(line, "sep=") {
		return lead, nil
	}
	end := bytes.IndexAny(head, "\r\n")
	if end < 0 {
		return lead, nil
	}
	if end++; head[end-1] == '\r' && end < len(head) && head[end] == '\n' {
		end++
	}
	lead = append(lead, head[:end]...)
	_, _ = in.Discard(end) // just peeked
	return lead, nil
}

// newCells returns the reader of tables with a separator.
func newCells(r io.Reader, by rune) *separated {
	in := csv.NewReader(r)
	in.Comma, in.FieldsPerRecord, in.ReuseRecord = by, -1, true // a wrong count is reported in our own words
	return &separated{Reader: in}
}

// separated is a table whose cells may be quoted.
type separated struct {
	*csv.Reader
	header bool // was read
}

// Read returns the next row. Its slice is used again.
func (s *separated) Read() ([]string, error) {
	record, err := s.Reader.Read()
	if wrong := (*csv.ParseError)(nil); errors.As(err, &wrong) {
		if wrong.Err == csv.ErrBareQuote {
			return nil, &atLine{wrong.Line, fmt.Errorf("found a quote inside a value, expected it doubled, and the " +
				"value in quotes: \"5\"\" nail\"")}
		}
		if wrong.Err == csv.ErrQuote {
			return nil, &atLine{wrong.StartLine, fmt.Errorf("found a quote that begins a value and does not end it, "+
				"expected a quote before the next %q or the end of the row", s.Comma)}
		}
	}
	if !s.header && err == nil {
		s.header = true
		s.TrimLeadingSpace = s.Comma == ',' && hasSpaces(record)
	}
	return record, err
}

// atLine is an error in a line of a table.
type atLine struct {
	line int
	err  error
}

func (a *atLine) Error() string { return fmt.Sprintf("line %d: %v", a.line, a.err) }

// in returns the error with the place where it is.
func inTable(name string, err error) error {
	if at := (*atLine)(nil); errors.As(err, &at) {
		return fmt.Errorf("%s:%d: %w", name, at.line, at.err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// quoteField returns a cell as a table holds it, quoted if necessary.
func quoteField(s string, by rune) string {
	var out strings.Builder
	to := csv.NewWriter(&out)
	to.Comma = by
	_ = to.Write([]string{s}) // cannot fail: a builder
	to.Flush()
	return strings.TrimSuffix(out.String(), "\n")
}

// rivals are further columns of labels by their usual names. They must divide the images as the labels do.
type rivals struct {
	names  []string
	at     []int
	to, of []map[string]string // values of each column by label, and labels by its values
	rows   []rivalRow          // the first rows, as examples
}

type rivalRow struct {
	path, label string
	others      []string
}

// newRivals returns the other columns with usual names of labels, if the labels are in a column of such a name.
func (o ReadOptions) newRivals(header []string, at places) *rivals {
	usual := usualNames[labelColumn]
	if o.Names.Label != "" || at[labelColumn] < 0 ||
		!slices.Contains(usual, normalizeHeaderName(header[at[labelColumn]])) {
		return nil
	}
	r := &rivals{names: []string{header[at[labelColumn]]}}
	for i, h := range header {
		if !slices.Contains(at[:], i) && slices.Contains(usual, normalizeHeaderName(h)) {
			r.names, r.at = append(r.names, h), append(r.at, i)
			r.to, r.of = append(r.to, map[string]string{}), append(r.of, map[string]string{})
		}
	}
	if len(r.at) == 0 {
		return nil
	}
	return r
}

// checkRivals returns an error if a column divides the images in another way than the labels.
func (r *rivals) checkRivals(path, label string, value func(i int) string) error {
	if len(r.rows) < 3 {
		row := rivalRow{path: strings.Clone(path), label: strings.Clone(label)}
		for _, i := range r.at {
			row.others = append(row.others, strings.Clone(value(i)))
		}
		r.rows = append(r.rows, row)
	}
	for k, i := range r.at {
		v := value(i)
		was, known := r.to[k][label]
		back, seen := r.of[k][v]
		switch {
		case known && was == v && seen && back == label:
		case known || seen:
			return r.refuseAmbiguousColumn(k, path, label, v)
		default:
			label, v := strings.Clone(label), strings.Clone(v)
			r.to[k][label], r.of[k][v] = v, label
		}
	}
	return nil
}

func (r *rivals) refuseAmbiguousColumn(k int, path, label, value string) error {
	rows := r.rows
	if !slices.ContainsFunc(rows, func(row rivalRow) bool { return row.path == path }) {
		rows = append(slices.Clip(rows[:min(len(rows), 2)]), rivalRow{path, label, slices.Repeat([]string{value}, k+1)})
	}
	var list []string
	for _, row := range rows {
		list = append(list, fmt.Sprintf("%.80s is %.80q or %.80q", row.path, row.label, row.others[k]))
	}
	return fmt.Errorf("found labels in the columns %.80q and %.80q, which divide the images differently: %s. "+
		"Name one with --label-column (winnow data import, audit and review)", r.names[0], r.names[k+1],
		strings.Join(list, "; "))
}
