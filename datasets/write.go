package datasets

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"unicode/utf8"

	"winnow/internal/jsontext"
)

// WriteCSV writes d as a manifest: path, label, split, true_label if any is known, then the other columns.
func WriteCSV(w io.Writer, d *Dataset) error { return writeCSV(w, d.named(), ownNames[pathColumn]) }

// makeManifestHeader returns the columns of d, with paths as the name of the first, and whether any true label is
// known.
func (d *Dataset) makeManifestHeader(paths string) (header []string, truth bool) {
	for i := range d.Samples {
		truth = truth || d.Samples[i].True != Unlabelled
	}
	header = []string{paths, "label", "split"}
	if truth {
		header = append(header, "true_label")
	}
	return header, truth
}

func writeCSV(w io.Writer, d *Dataset, paths string) error {
	header, truth := d.makeManifestHeader(paths)
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

// writeMetadata writes d as JSON lines with the key file_name.
func writeMetadata(w io.Writer, d *Dataset) error {
	header, truth := d.makeManifestHeader(fileName)
	out := bufio.NewWriter(w)
	for i := range d.Samples {
		s := &d.Samples[i]
		values := []string{s.Path, d.className(s.Label), s.Split}
		if truth {
			values = append(values, d.className(s.True))
		}
		values = append(values, s.Extra...)
		lead := byte('{')
		for k, name := range append(header, d.Columns...) {
			if err := writeJSONField(out, lead, name, values[k]); err != nil {
				return fmt.Errorf("datasets: %s: %w: write %s", s.Path, err, metadataCSV)
			}
			lead = ','
		}
		_, _ = out.WriteString("}\n")
	}
	return out.Flush()
}

// writeJSONField writes lead, a key and a text. Write errors are returned by Flush.
func writeJSONField(out interface {
	io.Writer
	io.ByteWriter
}, lead byte, name, value string) error {
	if !utf8.ValidString(value) {
		return fmt.Errorf("%s: found %q, expected UTF-8, as JSON needs", name, value)
	}
	_ = out.WriteByte(lead)
	_, _ = out.Write(jsontext.Quote(name))
	_ = out.WriteByte(':')
	_, _ = out.Write(jsontext.Quote(value))
	return nil
}
