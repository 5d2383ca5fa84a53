package datasets

import (
	"encoding/csv"
	"io"
)

// WriteCSV writes d as a manifest: path,label,split, true_label if any is known, then the further columns.
func WriteCSV(w io.Writer, d *Dataset) error {
	truth := false
	for i := range d.Samples {
		truth = truth || d.Samples[i].True != Unlabelled
	}
	header := []string{"path", "label", "split"}
	if truth {
		header = append(header, "true_label")
	}
	out := csv.NewWriter(w)
	if err := out.Write(append(header, d.Columns...)); err != nil {
		return err
	}
	record := make([]string, 0, len(header)+len(d.Columns))
	for i := range d.Samples {
		s := &d.Samples[i]
		record = append(record[:0], s.Path, d.className(s.Label), s.Split)
		if truth {
			record = append(record, d.className(s.True))
		}
		record = append(record, s.Extra...)
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
