package datasets

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/internal/atomicfile"
	"winnow/internal/jsontext"
	"winnow/internal/regular"
	"winnow/internal/text"
)

// WriteCSV writes d as a manifest: path, label, split, true_label if any is known, then the other columns.
func WriteCSV(w io.Writer, d *Dataset) error { return writeCSV(w, d.keepNamed(), ownNames[pathColumn]) }

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
		text, err := encodeObject(append(header, d.Columns...), append(values, s.Extra...))
		if err != nil {
			return fmt.Errorf("datasets: %s: %w: write %s", s.Path, err, metadataCSV)
		}
		_, _ = out.Write(append(text, '\n')) // Flush returns the error
	}
	return out.Flush()
}

// encodeObject returns keys and values as a JSON object.
func encodeObject(keys, values []string) ([]byte, error) {
	object := json.RawMessage("{}")
	for k, value := range values {
		if err := inUTF8(value); err != nil {
			return nil, err
		}
		object = jsontext.AddMember(object, keys[k], jsontext.Quote(value))
	}
	return object, nil
}

// WriteFile writes d atomically, in the form that Write chooses by the file's name. note, if not nil, reports what
// Write leaves out.
func WriteFile(name string, d *Dataset, note func(format string, args ...any)) error {
	if n := len(d.Samples) - len(d.keepNamed().Samples); n > 0 && note != nil {
		k := slices.IndexFunc(d.Samples, func(s Sample) bool { return !utf8.ValidString(s.Path) })
		first := d.Samples[k].Path
		note("%s: %s left out, the first is %s: %v", name, text.Plural(n, "image"), first, regular.ErrName)
	}
	if base := filepath.Base(name); base == "metadata.parquet" || strings.HasSuffix(base, ".labelstudio.json") {
		return fmt.Errorf("datasets: %s: cannot be written here, expected %s or %s; tasks for Label Studio are "+
			"written by winnow review --export", name, metadataCSV, metadataJSONL)
	}
	return atomicfile.Write(name, func(w io.Writer) error { return Write(w, name, d) })
}

// Write writes d in the form that the file name implies: metadata.csv or metadata.jsonl as an imagefolder's
// metadata, with the column file_name; labels.json as the labels of FiftyOne's FiftyOneImageClassificationDataset;
// any other name as a CSV manifest. It leaves out images whose file or folder has a name that is not UTF-8, since
// these formats cannot hold such a name.
func Write(w io.Writer, name string, d *Dataset) error {
	d = d.keepNamed()
	switch filepath.Base(name) {
	case metadataCSV:
		return writeCSV(w, d, fileName)
	case metadataJSONL:
		return writeMetadata(w, d)
	case labelsJSON:
		return writeFiftyOne(w, d)
	}
	return writeCSV(w, d, ownNames[pathColumn])
}

// keepNamed returns d without the images that no text can name.
func (d *Dataset) keepNamed() *Dataset {
	of := *d
	of.Samples = slices.DeleteFunc(slices.Clone(d.Samples), func(s Sample) bool { return !utf8.ValidString(s.Path) })
	return &of
}

// labelsJSON is the name of FiftyOne's file of labels.
const labelsJSON = "labels.json"

// writeFiftyOne writes the class names and, for each image, the number of its class or null. FiftyOne names an image by
// its path below the data folder, without the ending.
func writeFiftyOne(w io.Writer, d *Dataset) error {
	labels := make(map[string]*int, len(d.Samples))
	for i := range d.Samples {
		s := &d.Samples[i]
		if _, _, cropped := CutCrop(s.Path); cropped {
			return fmt.Errorf("datasets: %s: is a crop, expected a file, as %s names it", s.Path, labelsJSON)
		}
		if !utf8.ValidString(s.Path) {
			return fmt.Errorf("datasets: %.200q: expected UTF-8, as JSON needs", s.Path)
		}
		key := strings.TrimSuffix(s.Path, path.Ext(s.Path))
		if _, twice := labels[key]; twice {
			return fmt.Errorf("datasets: %s: another image differs in its ending only, without which %s names images",
				s.Path, labelsJSON)
		}
		if labels[key] = nil; s.Label >= 0 {
			labels[key] = &s.Label
		}
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(struct {
		Classes []string        `json:"classes"`
		Labels  map[string]*int `json:"labels"`
	}{append([]string{}, d.Classes...), labels})
}
