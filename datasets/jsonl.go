package datasets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// leastCells is the number of cells in other columns, including empty cells, that every manifest may have. A larger
// manifest may have one cell per byte.
const leastCells = 1 << 20

// readJSONL reads JSON lines or a JSON list of objects. Keys other than path, label, split and true_label become
// columns; a value that is not a string is kept as JSON text.
func readJSONL(r io.Reader, name string, opts reading) (*Dataset, error) {
	var rows []row
	t := newOthers(opts, name)
	size, count := 0, 0
	err := eachObject(r, func(text []byte) error {
		size += len(text)
		count++
		if err := inUTF8(string(text)); err != nil {
			return err
		}
		row, record, err := t.parseObjectRow(text, count, size)
		if err != nil || t.boxes != nil && !t.boxes.takeRecord(&row, record) {
			return err
		}
		row.number = count
		rows, err = appendRow(rows, row, opts)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("datasets: %s%w", name, err)
	}
	for i := range rows { // add the columns that appeared in later rows
		if missing := len(t.columns) - len(rows[i].extra); missing > 0 {
			rows[i].extra = append(rows[i].extra, make([]string, missing)...)
		}
	}
	d := buildDataset(rows, t.columns)
	opts.describeTable(name, d, forms[JSONL], t.boxes, d.leaveOutSeveral())
	return d, nil
}

// mostLine limits the size of one JSON object in bytes.
const mostLine = 1 << 24

// eachObject passes each object of JSON lines or of a JSON list to take. Its errors start with ":LINE: " or ": ".
func eachObject(r io.Reader, take func(text []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	head, _ := in.Peek(1 << 12) // a short file gives fewer bytes
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("[")) {
		list, n := json.NewDecoder(in), 0
		_, err := list.Token()
		for err == nil && list.More() {
			var raw json.RawMessage
			if err = list.Decode(&raw); err == nil {
				n++
				if err = take(raw); err != nil {
					err = fmt.Errorf("object %d of the list: %w", n, err)
				}
			}
		}
		if err == nil {
			_, err = list.Token()
		}
		if err == nil {
			if _, more := list.Token(); !errors.Is(more, io.EOF) {
				err = fmt.Errorf("found more after the list, at byte %d", list.InputOffset())
			}
		}
		if err != nil {
			return fmt.Errorf(": %w", err)
		}
		return nil
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 1<<16), mostLine)
	line := 1
	for ; lines.Scan(); line++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := take(lines.Bytes()); err != nil {
			return fmt.Errorf(":%d: %w", line, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf(":%d: %w", line, err)
	}
	return nil
}

// others holds the columns of a JSONL manifest that have no meaning to winnow, in order of appearance.
type others struct {
	columns []string
	at      map[string]int
	names   map[string]bool // the set of columns
	opts    reading
	name    string                // name of the file
	boxes   *boxColumns           // nil: the objects hold no boxes
	keys    [len(ownNames)]string // keys with a meaning; set by the first row
	first   []string              // keys of the first row, in text order
}

func newOthers(opts reading, name string) *others {
	return &others{opts: opts, name: name, at: map[string]int{}, names: map[string]bool{}}
}

// findHeadKeys finds the keys with a meaning, and the keys of boxes, in the first row.
func (t *others) findHeadKeys(sorted []string, values map[string]string) error {
	at, guessed, err := t.opts.findColumns(sorted)
	if err != nil {
		return err
	}
	var extra []int
	for i := range sorted {
		if !slices.Contains(at[:], i) {
			extra = append(extra, i)
		}
	}
	t.first = sorted
	if t.opts.unlabelled != nil {
		*t.opts.unlabelled = at[labelColumn] < 0
	}
	t.opts.noteGuessed(t.name, guessed)
	record := t.recordOf(values)
	t.opts.guessSplit(t.name, &at, sorted, record, make([]string, len(extra)), extra)
	for k, own := range ownNames {
		if t.keys[k] = own; at[k] >= 0 {
			t.keys[k] = sorted[at[k]]
		}
	}
	t.boxes, err = t.opts.findBoxColumns(sorted, at)
	return err
}

// recordOf returns the values of a row in the order of the first row's keys.
func (t *others) recordOf(values map[string]string) []string {
	record := make([]string, len(t.first))
	for i, key := range t.first {
		record[i] = values[key]
	}
	return record
}

// parseObjectRow reads one object; rows and size are the rows and bytes read so far, including this object.
func (t *others) parseObjectRow(line []byte, rows, size int) (r row, record []string, err error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil {
		return r, nil, fmt.Errorf("found no complete JSON object, expected one per line: %w", err)
	}
	values := make(map[string]string, len(object))
	sorted := slices.Sorted(maps.Keys(object)) // sorted, so that every run orders columns the same way
	for _, key := range sorted {
		if values[key], err = plainJSON(object[key]); err != nil {
			return r, nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	if rows == 1 {
		if err := t.findHeadKeys(sorted, values); err != nil {
			return r, nil, err
		}
	}
	for _, key := range sorted {
		if _, known := t.at[key]; !known && !slices.Contains(t.keys[:], key) {
			name := nameFurtherColumn(key)
			if t.names[name] {
				return r, nil, fmt.Errorf("key %.80q appears twice", name)
			}
			t.names[name], t.at[key] = true, len(t.columns)
			t.columns = append(t.columns, name)
		}
	}
	if n := rows * len(t.columns); n > max(leastCells, size) {
		return r, nil, fmt.Errorf("%d rows with %d different keys give a table of %d cells, which is too large: "+
			"use the same keys in all rows", rows, len(t.columns), n)
	}
	if _, ok := object[t.keys[labelColumn]]; !ok && t.opts.unlabelled == nil {
		return r, nil, fmt.Errorf("found the keys %.200s but not %q, expected path and label, or keys given by %s",
			strings.Join(sorted, ", "), t.keys[labelColumn], naming)
	}
	if p := object[t.keys[pathColumn]]; len(p) > 0 && (p[0] == '[' || p[0] == '{') {
		return r, nil, fmt.Errorf("found %.80s instead of a path, expected one object per image", p)
	}
	r.path, r.label = values[t.keys[pathColumn]], trimLineEnd(values[t.keys[labelColumn]])
	r.split, r.truth = values[t.keys[splitColumn]], trimLineEnd(values[t.keys[trueColumn]])
	if len(t.columns) > 0 {
		r.extra = make([]string, len(t.columns))
	}
	for key, value := range values {
		if i, ok := t.at[key]; ok {
			r.extra[i] = value
		}
	}
	if t.boxes != nil {
		record = t.recordOf(values)
	}
	return r, record, nil
}
