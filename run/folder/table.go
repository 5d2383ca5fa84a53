package folder

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"

	"winnow/internal/atomicfile"
)

// writeTable writes a CSV file of a run, completely or not at all.
func writeTable(dir, name string, header []string, rows [][]string) error {
	err := atomicfile.Write(filepath.Join(dir, name), func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.Write(header) // WriteAll returns its error
		return out.WriteAll(rows)
	})
	if err != nil {
		return fmt.Errorf("train: %s: %w", name, err)
	}
	return nil
}
