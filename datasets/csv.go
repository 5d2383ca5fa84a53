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

// readCSV reads a manifest with a header and fields separated by a character.
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
	header = slices.Clone(header) // the reader uses it again
	in.TrimLeadingSpace = hasSpaces(header, comma)
	at, columns, extra, err := opts.readTableHeader(name, header)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s:1: %w", name, err)
	}
	var boxes *boxColumns
	var left leftList
	b := builder{}
	for n := 0; ; n++ { // counts the rows that are not empty
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
			left.addOne("of empty cells", "rows")
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
			next.path = strings.Clone(next.path) // the rest of the line can be freed
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

// isEmptyRecord reports whether a row has cells that are all empty, as Excel writes below a table.
func isEmptyRecord(record []string) bool {
	return len(record) > 1 && !slices.ContainsFunc(record, func(cell string) bool { return cell != "" })
}

// mostRow is the largest row of a table in bytes.
const mostRow = 64 << 20

// rowReader ends with an error where a row is larger than any of a table, such as one whose quote never ends.
type rowReader struct {
	r   io.Reader
	row int64 // bytes read since the last row
}

// Read implements io.Reader.
func (b *rowReader) Read(p []byte) (int, error) {
	if b.row > mostRow {
		return 0, fmt.Errorf("a row has more than %d MB: is there a quote that never ends?", mostRow>>20)
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

// firstLine returns the first line of a file without spaces around it.
func firstLine(head []byte) string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return string(bytes.TrimSpace(line))
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

// newCells returns the reader of tables with a separator. Its rows are used again.
func newCells(r io.Reader, by rune) *csv.Reader {
	in := csv.NewReader(r)
	in.Comma, in.ReuseRecord = by, true
	return in
}

// hasSpaces reports whether a table has spaces behind its commas: its header does. They belong to no value.
func hasSpaces(header []string, by rune) bool {
	return by == ',' && len(header) > 1 && strings.HasPrefix(header[1], " ")
}

// joinCells returns cells as a table holds them, quoted if necessary.
func joinCells(cells []string, by rune) string {
	var out strings.Builder
	to := csv.NewWriter(&out)
	to.Comma = by
	_ = to.Write(cells) // cannot fail: a builder
	to.Flush()
	return strings.TrimSuffix(out.String(), "\n")
}

// readPRISM reads lists without a header: path,label as PRISM released them, or path label as those of ImageNet and
// Caffe. Labels are integers, unless the path has the ending of an image.
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

// NotThere reports that paths of a list name no file below its root.
type NotThere struct {
	Of, Missing int
	Shown       []string // up to three of those rows
}

// Error implements error.
func (n *NotThere) Error() string {
	return fmt.Sprintf("%d of %d rows name no file below the root (%s): name the folder that the paths begin in",
		n.Missing, n.Of, strings.Join(n.Shown, "; "))
}

// CheckList returns [NotThere] if d was read from a list without a header and a path of it is not in root.
func (d *Dataset) CheckList(ctx context.Context, root fs.FS) error {
	if d.Reading == nil || d.Reading.Form != forms[PRISM] {
		return nil
	}
	if n, err := d.NotIn(ctx, root); n != nil || err != nil {
		return cmp.Or(err, error(n))
	}
	return nil
}

// NotIn counts the paths that name no file in root; nil: all do.
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

// listLine splits a line of a list without a header. The label is what follows the last comma, semicolon, tab or space:
// the first of these that leaves a path with the ending of an image or, if none does, the first of comma, tab and space
// that there is.
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
