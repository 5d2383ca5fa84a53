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

	"winnow/internal/jsontext"
)

// leastCells is how many values of other columns, empty ones included, any manifest may have; a file with more
// bytes than this may have one per byte.
const leastCells = 1 << 20

// readJSONL reads one object per line. Keys other than path, label, split and true_label become columns; a value
// that is not a string keeps its JSON text.
func readJSONL(r io.Reader, name string, opts reading) (*Dataset, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 1<<16), 1<<24)
	var rows []row
	t := others{maybe: opts.unlabelled != nil, at: make(map[string]int), names: map[string]bool{},
		named: func(keys []string) ([len(ownNames)]string, *rivals, error) { return opts.keys(name, keys) }}
	line, size := 1, 0
	for ; in.Scan(); line++ {
		size += len(in.Bytes())
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var row row
		err := inUTF8(in.Text())
		if err == nil {
			row, err = t.row(in.Bytes(), len(rows)+1, size)
		}
		if err == nil {
			rows, err = appendRow(rows, row, opts)
		}
		if err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
		}
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("datasets: %s:%d: the line has more than %d MB: is its end missing?", name, line,
			(1<<24)>>20)
	} else if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	for i := range rows { // columns that appeared later
		if missing := len(t.columns) - len(rows[i].extra); missing > 0 {
			rows[i].extra = append(rows[i].extra, make([]string, missing)...)
		}
	}
	return build(rows, t.columns), nil
}

// others are the columns of a JSONL manifest that have no meaning here, in order of appearance.
type others struct {
	columns []string
	at      map[string]int
	names   map[string]bool // the columns as a set
	maybe   bool            // labels may be missing
	named   func(keys []string) ([len(ownNames)]string, *rivals, error)
	keys    [len(ownNames)]string // keys with a meaning; known from the first row on
	rival   *rivals               // known from the first row on
	first   []string              // keys of the first row, in text order
}

// keys returns the names of the keys with a meaning, found in the first row.
func (o reading) keys(name string, first []string) (keys [len(ownNames)]string, r *rivals, err error) {
	at, guessed, err := o.place(first)
	if err != nil {
		return keys, nil, err
	}
	for k, own := range ownNames {
		if keys[k] = own; at[k] >= 0 {
			keys[k] = first[at[k]]
		}
	}
	if o.unlabelled != nil {
		*o.unlabelled = at[labelColumn] < 0
	}
	o.tell(name, guessed)
	return keys, o.rivals(first, at), nil
}

// row reads a line; rows and size count the rows and bytes read so far, with this line.
func (t *others) row(line []byte, rows, size int) (r row, err error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil {
		return r, fmt.Errorf("found no whole JSON object, expected one in each line: %w", err)
	}
	values := make(map[string]string, len(object))
	sorted := slices.Sorted(maps.Keys(object)) // maps have no order: keep the order of columns the same in every run
	if rows == 1 {
		if t.keys, t.rival, err = t.named(sorted); err != nil {
			return r, err
		}
		t.first = sorted
	}
	for _, key := range sorted {
		if values[key], err = jsontext.Plain(object[key]); err != nil {
			return r, fmt.Errorf("%s: %w", key, err)
		}
		if _, known := t.at[key]; !known && !slices.Contains(t.keys[:], key) {
			if t.names[further(key)] {
				return r, fmt.Errorf("key %.80q appears twice", further(key))
			}
			t.names[further(key)] = true
			t.at[key] = len(t.columns)
			t.columns = append(t.columns, further(key))
		}
	}
	if n := rows * len(t.columns); n > max(leastCells, size) {
		return r, fmt.Errorf("%d rows with %d different keys make a table of %d values, expected keys that rows "+
			"share", rows, len(t.columns), n)
	}
	if _, ok := object[t.keys[labelColumn]]; !ok && !t.maybe {
		return r, fmt.Errorf("found the keys %.200s, no key %q, expected path and label, or others named by %s",
			strings.Join(sorted, ", "), t.keys[labelColumn], naming)
	}
	r.path, r.label = values[t.keys[pathColumn]], exact(values[t.keys[labelColumn]])
	r.split, r.truth = values[t.keys[splitColumn]], exact(values[t.keys[trueColumn]])
	if t.rival != nil {
		if err := t.rival.check(r.path, r.label, func(i int) string { return exact(values[t.first[i]]) }); err != nil {
			return r, err
		}
	}
	if len(t.columns) > 0 {
		r.extra = make([]string, len(t.columns))
	}
	for key, value := range values {
		if i, ok := t.at[key]; ok {
			r.extra[i] = value
		}
	}
	return r, nil
}
