package folder

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
)

// writeTable writes a CSV file of a run, completely or not at all.
func writeTable(dir, name string, header []string, rows [][]string) error {
	err := atomicfile.Write(filepath.Join(dir, name), func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.Write(header) // WriteAll returns the error of this call
		return out.WriteAll(rows)
	})
	if err != nil {
		return fmt.Errorf("train: %s: %w", name, err)
	}
	return nil
}

// mostTable is the largest accepted size of a table in bytes.
const mostTable = 1 << 30

// readTable reads the rows below the header of a CSV file of a run. The error is fs.ErrNotExist if the file is missing.
func readTable(dir, name string, header []string) ([][]string, error) {
	path := filepath.Join(dir, name)
	text, err := regular.ReadFile(path, mostTable)
	if err != nil {
		return nil, err
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = len(header)
	rows, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("train: %s: %w", path, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], header) {
		return nil, fmt.Errorf("train: %s: found another header than %v", path, header)
	}
	return rows[1:], nil
}
