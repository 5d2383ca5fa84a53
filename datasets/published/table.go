package published

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// table is a list of space-separated lines "id value …".
type table struct {
	name string
	ids  []int // in the file's order
	rows map[int][]string
}

// readTable reads lines of an id and n values; the last value may contain spaces.
func readTable(fsys fs.FS, name string, n int) (*table, error) {
	t := &table{name: name, rows: make(map[int][]string)}
	err := eachLine(fsys, func(_ int, text string) error {
		fields := strings.SplitN(text, " ", n+1)
		id, err := strconv.Atoi(fields[0])
		if err != nil || len(fields) != n+1 {
			return fmt.Errorf("found %.80q, expected a number and %d value(s)", text, n)
		}
		if _, twice := t.rows[id]; twice {
			return fmt.Errorf("number %d appears twice", id)
		}
		t.ids = append(t.ids, id)
		t.rows[id] = fields[1:]
		return nil
	}, name)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// readTextOfID returns the first value of an id.
func (t *table) readTextOfID(id int) (string, error) {
	row, ok := t.rows[id]
	if !ok {
		return "", fmt.Errorf("%s: found no line for number %d", t.name, id)
	}
	return row[0], nil
}

// readIntegerOfID returns the first value of an id as an integer from low to high.
func (t *table) readIntegerOfID(id, low, high int) (int, error) {
	text, err := t.readTextOfID(id)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s: number %d has %.80q, expected an integer from %d to %d", t.name, id, text, low, high)
	}
	return n, nil
}
