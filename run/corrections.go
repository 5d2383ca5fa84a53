package run

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"winnow/internal/atomicfile"
	"winnow/run/folder"
)

// writeCorrections replaces the list, in the run's folder, of the labels that the run has corrected, if it corrects any.
func (r *training) writeCorrections() error {
	c, data := r.config.Corrector, r.data
	if c == nil {
		return nil
	}
	path := filepath.Join(r.opts.Dir, folder.CorrectionsFile)
	err := atomicfile.Write(path, func(w io.Writer) error {
		out := csv.NewWriter(w)
		out.Write([]string{"path", "given", "corrected", "step", "confidence"}) // the error is told by Error
		for _, k := range c.Corrections() {
			out.Write([]string{data.Paths[data.Train.IDs[k.Row]], data.Classes[c.Given(k.Row)], data.Classes[k.To],
				strconv.Itoa(k.Step), strconv.FormatFloat(k.Confidence, 'g', 6, 64)})
		}
		out.Flush()
		return out.Error()
	})
	if err != nil {
		return fmt.Errorf("train: %s: %w", path, err)
	}
	return nil
}
