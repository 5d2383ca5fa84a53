package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// readCSV reads a manifest with a header whose fields are separated by comma.
func readCSV(r io.Reader, name string, comma rune, opts reading) (*Dataset, error) {
	bounded := &rowReader{r: r}
	in := newCells(bounded, comma)
	header, err := in.Read()
	if errors.Is(err, io.EOF) {
		err = errors.New("file is empty, expected a header path,label,split")
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	header = slices.Clone(header) // the reader reuses the slice
	in.TrimLeadingSpace = hasSpaces(header, comma)
	at, columns, extra, err := opts.readTableHeader(name, header)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s:1: %w", name, err)
	}
	var boxes *boxColumns
	var left leftList
	b := builder{}
	for n := 0; ; n++ { // n counts the non-empty rows
		bounded.row = 0
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			d := b.buildSorted(columns)
			opts.describeTable(name, d, forms[CSV], boxes, append(left, d.leaveOutSeveral()...))
			return d, nil
		}
		if err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", name, err)
		}
		if isEmptyRecord(record) {
			left.addOne("with only empty cells", "rows")
			n--
			continue
		}
		if n == 0 {
			columns, extra = opts.guessSplit(name, &at, header, record, columns, extra)
			if boxes, err = opts.findBoxColumns(header, at); err != nil {
				return nil, fmt.Errorf("datasets: %s: %w", name, err)
			}
		}
		next := at.newRow(record, extra, n)
		next.number = n + 1
		if boxes != nil && !boxes.takeRecord(&next, record) {
			continue
		}
		if err := opts.completeRow(&next); err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
		}
		if len(extra) == 0 {
			next.path = strings.Clone(next.path) // frees the rest of the line
		}
		b.addSample(next)
	}
}

// describeTable describes how a table was read.
func (o ReadOptions) describeTable(name string, d *Dataset, form string, boxes *boxColumns, left leftList) {
	var said []string
	if boxes != nil {
		form, left = boxTable, append(left, boxes.left...)
		said = []string{"read as " + boxTable + ": the image of a row is the crop"}
	}
	d.Reading = newReading(form, d.Classes, left.sortReasons())
	o.noteReading(name, d.Reading, said...)
}

// isEmptyRecord reports whether a row has several cells that are all empty, as Excel writes below a table.
func isEmptyRecord(record []string) bool {
	return len(record) > 1 && !slices.ContainsFunc(record, func(cell string) bool { return cell != "" })
}

// mostRow limits the size of a table's row in bytes.
const mostRow = 64 << 20

// rowReader returns an error if a row exceeds mostRow, for example because a quote is never closed.
type rowReader struct {
	r   io.Reader
	row int64 // bytes read since the row started
}

// Read implements io.Reader.
func (b *rowReader) Read(p []byte) (int, error) {
	if b.row > mostRow {
		return 0, fmt.Errorf("a row has more than %d MB: is a quote never closed?", mostRow>>20)
	}
	n, err := b.r.Read(p)
	b.row += int64(n)
	return n, err
}

// appendRow checks, completes and appends a row.
func appendRow(rows []row, r row, opts reading) ([]row, error) {
	if err := opts.completeRow(&r); err != nil {
		return nil, err
	}
	return append(rows, r), nil
}

// separators lists the characters that separate the cells of a table, except the tab. Excel writes semicolons in
// locales with a decimal comma.
var separators = []rune{',', ';', '|'}

// cellsOf splits the first line of a file, ignoring quotes.
func cellsOf(line string, by rune) []string {
	cells := strings.Split(line, string(by))
	for i := range cells {
		cells[i] = strings.Trim(cells[i], ` "`)
	}
	return cells
}

// firstLine returns the first line of a file without spaces around it.
func firstLine(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// findSeparator returns the separator of a table that does not use tabs: the first that splits the header into known
// names, else the first that the header contains.
func (o ReadOptions) findSeparator(in *bufio.Reader) rune {
	head, _ := in.Peek(4096) // a short file gives fewer bytes
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

// consumeMark consumes a byte order mark.
func consumeMark(in *bufio.Reader) ([]byte, error) {
	begin, err := in.Peek(3)
	if string(begin) != "\ufeff" {
		if errors.Is(err, io.EOF) {
			err = nil // a short file
		}
		return nil, err
	}
	_, _ = in.Discard(3) // just peeked
	return []byte("\ufeff"), nil
}

// newCells returns a reader of tables with the separator by. The reader reuses the slice of a row.
func newCells(r io.Reader, by rune) *csv.Reader {
	in := csv.NewReader(r)
	in.Comma, in.ReuseRecord = by, true
	return in
}

// hasSpaces reports whether the header has a space after its commas. Such spaces are not part of the values.
func hasSpaces(header []string, by rune) bool {
	return by == ',' && len(header) > 1 && strings.HasPrefix(header[1], " ")
}

// joinCells joins the cells of a row, quoting where necessary.
func joinCells(cells []string, by rune) string {
	var out strings.Builder
	to := csv.NewWriter(&out)
	to.Comma = by
	_ = to.Write(cells) // writing to a strings.Builder cannot fail
	to.Flush()
	return strings.TrimSuffix(out.String(), "\n")
}

// readPRISM reads lists without a header: "path,label" as released for PRISM, or "path label" as for ImageNet and
// Caffe. Labels must be integers unless the path ends in an image extension.
func readPRISM(r io.Reader, name string, opts reading) (*Dataset, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 1<<16), 1<<20)
	if opts.hasColumnNames() {
		return nil, fmt.Errorf("datasets: %s: found column names, expected none for a list without a header", name)
	}
	var rows []row
	line := 1
	for ; in.Scan(); line++ {
		text := strings.TrimRight(in.Text(), "\r")
		if text == "" {
			continue
		}
		p, label, ok := listLine(text)
		if !ok {
			return nil, fmt.Errorf("datasets: %s:%d: found %.200q, expected path,label or path label", name, line, text)
		}
		if first, _, _ := strings.Cut(p, ","); !isImageName(p) && isImageName(first) {
			return nil, fmt.Errorf("datasets: %s:%d: found %d values, %.200q, expected path,label: give the file a "+
				"header that names its columns", name, line, strings.Count(text, ",")+1, text)
		}
		if _, err := strconv.Atoi(label); err != nil && !isImageName(p) {
			return nil, fmt.Errorf("datasets: %s:%d: label %.80q is not an integer", name, line, label)
		}
		var err error
		if rows, err = appendRow(rows, row{path: p, label: label}, opts); err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
	}
	d := buildDataset(rows, nil)
	left := d.leaveOutSeveral()
	d.Reading = newReading(forms[PRISM], d.Classes, left.sortReasons())
	opts.noteReading(name, d.Reading)
	return d, nil
}

// NotThere reports that paths of a list name files that are missing below the root.
type NotThere struct {
	Of, Missing int
	Shown       []string // up to three of the rows with a missing file
}

// Error implements error.
func (n *NotThere) Error() string {
	return fmt.Sprintf("%d of %d rows name no file below the root (%s): give the folder that "+
		"the paths start from", n.Missing, n.Of, strings.Join(n.Shown, "; "))
}

// CheckList returns [NotThere] if d was read from a list without a header and root lacks a file of the list.
func (d *Dataset) CheckList(ctx context.Context, root fs.FS) error {
	if d.Reading == nil || d.Reading.Form != forms[PRISM] {
		return nil
	}
	if n, err := d.NotIn(ctx, root); n != nil || err != nil {
		return cmp.Or(err, error(n))
	}
	return nil
}

// NotIn counts the paths that are missing in root. It returns nil if all exist.
func (d *Dataset) NotIn(ctx context.Context, root fs.FS) (*NotThere, error) {
	n, last, missing := &NotThere{Of: len(d.Samples)}, "", false
	for i := range d.Samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if file, _, _ := CutCrop(d.Samples[i].Path); file != last {
			_, err := fs.Stat(root, file)
			last, missing = file, errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid)
		}
		if !missing {
			continue
		}
		if n.Missing++; len(n.Shown) < 3 {
			n.Shown = append(n.Shown, fmt.Sprintf("row %d: %.200q with the label %.80q", i+1, d.Samples[i].Path,
				d.LabelName(d.Samples[i])))
		}
	}
	if n.Missing == 0 {
		return nil, nil
	}
	return n, nil
}

// listLine splits a line of a list without a header at the last comma, semicolon, tab or space: the first of these
// that leaves a path with an image extension. If none does, it splits at the first of comma, tab and space that
// occurs.
func listLine(line string) (path, label string, ok bool) {
	cut := func(at int) (string, string) {
		return strings.TrimRight(line[:at], "\t "), strings.TrimSpace(line[at+1:])
	}
	for _, by := range []byte(",;\t ") {
		if at := strings.LastIndexByte(line, by); at >= 0 {
			if path, label = cut(at); isImageName(path) {
				return path, label, true
			}
		}
	}
	for _, by := range []byte(",\t ") {
		if at := strings.LastIndexByte(line, by); at >= 0 {
			path, label = cut(at)
			return path, label, true
		}
	}
	return "", "", false
}
