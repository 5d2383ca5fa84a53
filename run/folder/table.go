package folder

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"

	"winnow/internal/atomicfile"
)

// writeTable writes a CSV file of a run, which is there whole or not at all.
func writeTable(dir, name string, header []string, rows [][]string) error {
	err := atomicfile.Write(filepath.Join(dir, name), func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.Write(header) // the error is told by WriteAll
		return out.WriteAll(rows)
	})
	if err != nil {
		return fmt.Errorf("train: %s: %w", name, err)
	}
	return nil
}
