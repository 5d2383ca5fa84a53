package folder

import (
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
		out.Write(header) // WriteAll returns its error
		return out.WriteAll(rows)
	})
	if err != nil {
		return fmt.Errorf("train: %s: %w", name, err)
	}
	return nil
}

// CorrectionsHeader are the columns of corrected labels.
var CorrectionsHeader = []string{"path", "given", "corrected", "step", "confidence"}

// ReadCorrections reads the corrected labels of a run, in the order of the steps: the columns of [CorrectionsHeader].
// If the run is finished, it compares the file with its sum in result.json.
func ReadCorrections(dir string) ([][]string, error) {
	if err := Intact(dir, CorrectionsFile); err != nil {
		return nil, err
	}
	return readTable(dir, CorrectionsFile, CorrectionsHeader)
}

// readTable reads the rows below the header of a CSV file of a run. The error is fs.ErrNotExist if there is none.
func readTable(dir, name string, header []string) ([][]string, error) {
	path := filepath.Join(dir, name)
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := csv.NewReader(f)
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
