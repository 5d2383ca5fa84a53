package datasets

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"winnow/internal/atomicfile"
	"winnow/internal/regular"
	"winnow/internal/text"
)

// WriteCSV writes d as a manifest: path, label, split, true_label if any is known, and the other columns.
func WriteCSV(w io.Writer, d *Dataset) error { return writeCSV(w, d.keepNamed(), ownNames[pathColumn]) }

// makeManifestHeader returns the column names of d, with paths as the first, and reports whether any true label is
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

// WriteFile atomically writes d as a CSV manifest, as Write does. note may be nil; it reports images left out.
func WriteFile(name string, d *Dataset, note func(format string, args ...any)) error {
	if n := len(d.Samples) - len(d.keepNamed().Samples); n > 0 && note != nil {
		k := slices.IndexFunc(d.Samples, func(s Sample) bool { return !utf8.ValidString(s.Path) })
		first := d.Samples[k].Path
		note("%s: %s left out, the first is %s: %v", name, text.Plural(n, "image"), first, regular.ErrName)
	}
	if filepath.Ext(name) == ".json" || filepath.Ext(name) == ".jsonl" || filepath.Ext(name) == ".tar" ||
		filepath.Ext(name) == ".parquet" {
		return fmt.Errorf("datasets: %s: a manifest is written as CSV, expected a name that ends in .csv", name)
	}
	return atomicfile.Write(name, func(w io.Writer) error { return Write(w, name, d) })
}

// Write writes d as a CSV manifest. If the file is named metadata.csv, its path column is file_name, as Hugging Face's
// imagefolder expects. Write leaves out images whose path is not UTF-8, which the format cannot store.
func Write(w io.Writer, name string, d *Dataset) error {
	if filepath.Base(name) == metadataCSV {
		return writeCSV(w, d.keepNamed(), fileName)
	}
	return WriteCSV(w, d)
}

// keepNamed returns d without the images whose path is not UTF-8.
func (d *Dataset) keepNamed() *Dataset {
	of := *d
	of.Samples = slices.DeleteFunc(slices.Clone(d.Samples), func(s Sample) bool { return !utf8.ValidString(s.Path) })
	return &of
}
