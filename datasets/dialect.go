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

// separator returns what separates the cells of a table that is not separated by tabs: what makes its header hold
// names that are known, or else more than one name.
func (o ReadOptions) separator(in *bufio.Reader) rune {
	head, _ := in.Peek(4096) // a short file gives less
	line := firstLine(head)
	for _, by := range separators {
		cells := cellsOf(line, by)
		if len(cells) > 1 && (looksNamed(cells) || o.Names.Path != "" && find(cells, o.Names.Path) >= 0 ||
			o.Names.Label != "" && find(cells, o.Names.Label) >= 0) {
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

// begin consumes what may stand before a table, and returns it: a byte order mark, and a line sep=; for Excel.
func begin(in *bufio.Reader) ([]byte, error) {
	lead, err := mark(in)
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

// cells reads a table row by row.
type cells interface {
	// Read returns the next row. Its slice is used again.
	Read() ([]string, error)
	// FieldPos returns the line and the column in bytes, both from 1, where a cell of the row begins.
	FieldPos(cell int) (line, column int)
	// InputOffset returns how many bytes the rows take that were read.
	InputOffset() int64
}

// newCells returns the reader of tables with a separator.
func newCells(r io.Reader, by rune) cells {
	if by == '\t' {
		return &tabbed{in: bufio.NewReaderSize(r, 1<<16)}
	}
	in := csv.NewReader(r)
	in.Comma, in.FieldsPerRecord, in.ReuseRecord = by, -1, true // a wrong count is reported in our own words
	return &separated{Reader: in}
}

// separated is a table whose cells may be quoted.
type separated struct {
	*csv.Reader
	header bool // was read
}

// Read implements cells.
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
		s.TrimLeadingSpace = s.Comma == ',' && spaced(record)
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

// blank returns how many bytes the blank lines take that begin a row.
func blank(row []byte) (n int) {
	for {
		switch rest := row[n:]; {
		case bytes.HasPrefix(rest, []byte("\n")), string(rest) == "\r":
			n++
		case bytes.HasPrefix(rest, []byte("\r\n")):
			n += 2
		default:
			return n
		}
	}
}

// closing returns the end of the cell that a quote begins, -1 if no quote ends it.
func closing(row []byte, from int) int {
	for to := from + 1; to < len(row); to++ {
		if row[to] != '"' {
			continue
		}
		if to++; to == len(row) || row[to] != '"' {
			return to
		}
	}
	return -1
}

// tabbed is a table with tabs. Some programs quote its cells and others do not: a cell is quoted if a quote begins it
// and another ends it, before a tab or the end of the row. Other quotes are characters. A quoted cell goes on in
// the next line only where the line, or else the next one, would have too few cells.
type tabbed struct {
	in     *bufio.Reader
	fields int // of the header, 0 before it
	line   int // lines read before the row
	lines  int // of the row
	read   int64
	next   []byte // a line that was read ahead
	record []string
	at     [][2]int // bounds of the cells in the row
}

// Read implements cells.
func (t *tabbed) Read() ([]string, error) {
	t.line += t.lines
	t.lines = 0
	var row []byte
	for {
		more, err := t.ahead()
		if len(more) == 0 {
			if len(row) > 0 && errors.Is(err, io.EOF) {
				break
			}
			return nil, err
		}
		t.next = nil
		t.read += int64(len(more))
		if len(row) == 0 && blank(more) == len(more) {
			t.line++
			continue
		}
		row = append(row, more...)
		t.lines++
		if t.split(row, true); t.fields == 0 || len(t.at) > t.fields || !t.open(row) || len(row) > mostRow {
			break
		}
		if len(t.at) == t.fields {
			after, err := t.ahead()
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
			if len(after) == 0 || bytes.Count(after, []byte("\t")) == t.fields-1 {
				break
			}
		}
	}
	if t.fields > 0 && len(t.at) != t.fields {
		if t.split(row, false); len(t.at) != t.fields {
			t.split(row, true)
		}
	}
	if t.fields == 0 {
		t.fields = len(t.at)
	}
	text := string(row)
	t.record = t.record[:0]
	for _, at := range t.at {
		cell := text[at[0]:at[1]]
		if len(cell) > 1 && cell[0] == '"' && closing(row[:at[1]], at[0]) == at[1] && t.quotes(row, at[0]) {
			cell = strings.ReplaceAll(cell[1:len(cell)-1], `""`, `"`)
		}
		t.record = append(t.record, cell)
	}
	return t.record, nil
}

// ahead returns the next line, which stays the next one; it is empty at the end or after an error.
func (t *tabbed) ahead() ([]byte, error) {
	if t.next != nil {
		return t.next, nil
	}
	line, err := t.in.ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(line) > 0 {
		t.next, err = line, nil
	}
	return line, err
}

// quotes reports whether the cell that begins at a place is quoted.
func (t *tabbed) quotes(row []byte, from int) bool {
	end := closing(row, from)
	return end >= 0 && (end == len(row) || row[end] == '\t' || len(bytes.TrimRight(row[end:], "\r\n")) == 0)
}

// split sets the bounds of the cells of a row. Without quoted, tabs in quotes separate, too.
func (t *tabbed) split(row []byte, quoted bool) {
	t.at = t.at[:0]
	end := len(bytes.TrimSuffix(bytes.TrimSuffix(row, []byte("\n")), []byte("\r")))
	for from := 0; ; {
		to := end
		if quoted && from < end && row[from] == '"' && t.quotes(row, from) {
			to = closing(row, from)
		} else if n := bytes.IndexByte(row[from:end], '\t'); n >= 0 {
			to = from + n
		}
		t.at = append(t.at, [2]int{from, to})
		if to >= end {
			return
		}
		from = to + 1
	}
}

// open reports whether the last cell of a row begins with a quote.
func (t *tabbed) open(row []byte) bool {
	last := t.at[len(t.at)-1]
	return last[0] < last[1] && row[last[0]] == '"' && !t.quotes(row, last[0])
}

// FieldPos implements cells.
func (t *tabbed) FieldPos(cell int) (line, column int) { return t.line + 1, t.at[cell][0] + 1 }

// InputOffset implements cells.
func (t *tabbed) InputOffset() int64 { return t.read }

// field returns a cell as a table holds it, quoted if necessary.
func field(s string, by rune) string {
	if by == '\t' && !strings.ContainsAny(s, "\t\r\n") && !strings.HasPrefix(s, `"`) {
		return s
	}
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

// rivals returns the other columns with usual names of labels, if the labels are in a column of such a name.
func (o ReadOptions) rivals(header []string, at places) *rivals {
	usual := usualNames[labelColumn]
	if o.Names.Label != "" || at[labelColumn] < 0 || !slices.Contains(usual, plainly(header[at[labelColumn]])) {
		return nil
	}
	r := &rivals{names: []string{header[at[labelColumn]]}}
	for i, h := range header {
		if !slices.Contains(at[:], i) && slices.Contains(usual, plainly(h)) {
			r.names, r.at = append(r.names, h), append(r.at, i)
			r.to, r.of = append(r.to, map[string]string{}), append(r.of, map[string]string{})
		}
	}
	if len(r.at) == 0 {
		return nil
	}
	return r
}

// check returns an error if a column divides the images in another way than the labels.
func (r *rivals) check(path, label string, value func(i int) string) error {
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
			return r.ambiguous(k, path, label, v)
		default:
			label, v := strings.Clone(label), strings.Clone(v)
			r.to[k][label], r.of[k][v] = v, label
		}
	}
	return nil
}

func (r *rivals) ambiguous(k int, path, label, value string) error {
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
