package datasets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// leastCells is how many values of further columns any manifest may have in its rows, empty ones too; a longer one may
// have one for each of its bytes.
const leastCells = 1 << 20

// readJSONL reads one object a line; keys beside path, label, split and true_label become columns, a value
// that is not a string keeps its JSON text.
func readJSONL(r io.Reader, name string, opts ReadOptions) (*Dataset, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 1<<16), 1<<24)
	var rows []row
	var columns []string
	index := make(map[string]int)
	for line, size := 1, 0; in.Scan(); line++ {
		size += len(in.Bytes())
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(in.Bytes(), &object); err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
		}
		var r row
		var fresh []string
		for key, raw := range object {
			value, err := jsonText(raw)
			if err != nil {
				return nil, fmt.Errorf("datasets: %s:%d: %s: %w", name, line, key, err)
			}
			switch key {
			case "path":
				r.path = value
			case "label":
				r.label = strings.TrimSpace(value)
			case "split":
				r.split = value
			case "true_label":
				r.truth = strings.TrimSpace(value)
			default:
				if _, ok := index[key]; !ok {
					fresh = append(fresh, key)
				}
			}
		}
		slices.Sort(fresh) // a map has no order: keep the columns' order the same in every run
		for _, key := range fresh {
			index[key] = len(columns)
			columns = append(columns, key)
		}
		if n := (len(rows) + 1) * len(columns); n > max(leastCells, size) {
			return nil, fmt.Errorf("datasets: %s:%d: %d rows with %d different keys make a table of %d values, expected keys that rows share", name, line, len(rows)+1, len(columns), n)
		}
		if len(columns) > 0 {
			r.extra = make([]string, len(columns))
		}
		for key, raw := range object {
			if i, ok := index[key]; ok {
				r.extra[i], _ = jsonText(raw) // checked above
			}
		}
		if _, ok := object["label"]; !ok {
			return nil, fmt.Errorf("datasets: %s:%d: no key \"label\", expected path and label", name, line)
		}
		var err error
		if rows, err = appendRow(rows, r, opts); err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, line, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	for i := range rows { // columns that appeared later
		if missing := len(columns) - len(rows[i].extra); missing > 0 {
			rows[i].extra = append(rows[i].extra, make([]string, missing)...)
		}
	}
	return build(rows, columns), nil
}

// jsonText returns a JSON string's value, "" for null, and any other value's JSON text.
func jsonText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] != '"' {
		return string(raw), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}
