package datasets

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"winnow/datasets/location"
	"winnow/datasets/shards"
	"winnow/internal/jsontext"
)

// Endings of the files of a WebDataset sample that are read: the class, a text, an object with any keys.
const (
	webClass = "cls"
	webText  = "txt"
	webJSON  = "json"
)

// mostText is the largest label or JSON file in bytes.
const mostText = 1 << 20

// webShard is the content of a tar file: samples, with the keys of their JSON and their texts as columns.
type webShard struct {
	records
	samples []webSample
	texts   map[string]bool // endings that are read as text
}

// webSample is the files whose names agree up to the first dot.
type webSample struct {
	key     string
	endings []string
}

// webName splits a file name into the sample's key and the ending that follows it.
func webName(name string) (key, ending string, ok bool) {
	dir, base := path.Split(name)
	stem, ending, ok := strings.Cut(base, ".")
	return dir + stem, ending, ok && stem != "" && ending != ""
}

// readWebDataset reads tar files in WebDataset's form: files whose names differ only in their endings are a sample.
func readWebDataset(ctx context.Context, source location.Source, list *shards.List,
	opts ReadOptions) (*Dataset, error) {
	all := make([]*webShard, len(list.Names))
	texts := map[string]bool{webClass: true, webText: true, webJSON: true}
	for _, name := range []string{opts.Names.Label, opts.Names.Split, opts.Names.True} {
		texts[name] = true
	}
	err := eachShard(ctx, list, func(i int, src io.ReaderAt, size int64) (err error) {
		all[i] = &webShard{texts: texts}
		return all[i].readTar(ctx, src, size)
	})
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return opts.webDataset(source, list, all)
}

// readTar reads the headers and the texts of a tar file.
func (s *webShard) readTar(ctx context.Context, src io.ReaderAt, size int64) error {
	at := map[string]int{}
	return shards.WalkTar(src, size, func(m shards.TarMember, content io.Reader) error {
		key, ending, ok := webName(m.Name)
		if !ok {
			return ctx.Err()
		}
		n, known := at[key]
		if !known {
			n = len(s.samples)
			at[key] = n
			s.samples = append(s.samples, webSample{key: key})
			s.rows = append(s.rows, nil)
		}
		if slices.Contains(s.samples[n].endings, ending) {
			return shards.RefuseTwice(m.Name)
		}
		s.samples[n].endings = append(s.samples[n].endings, strings.Clone(ending))
		if !s.texts[strings.ToLower(ending)] {
			return ctx.Err()
		}
		if err := s.readSampleText(n, strings.ToLower(ending), m.Size, content); err != nil {
			return fmt.Errorf("%.200s: %w", m.Name, err)
		}
		return ctx.Err()
	})
}

// readSampleText reads a file of a sample as text.
func (s *webShard) readSampleText(n int, ending string, size int64, content io.Reader) error {
	if size > mostText {
		return fmt.Errorf("has %d bytes, expected at most %d", size, mostText)
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	if ending != webJSON {
		return s.putCell(&s.rows[n], ending, trimLineEnd(string(data)))
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("is not a JSON object: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		value, err := jsontext.Plain(object[key])
		if err == nil && value != "" {
			err = s.putCell(&s.rows[n], key, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// findPictureEnding returns the ending of the sample's image, "" if it has none: the named one, or else the only plain
// image ending, such as jpg rather than mask.png.
func (w webSample) findPictureEnding(named string) (string, error) {
	var plain, any []string
	for _, ending := range w.endings {
		switch {
		case strings.EqualFold(ending, named):
			return ending, nil
		case isImageName("." + ending):
			any = append(any, ending)
			if !strings.Contains(ending, ".") {
				plain = append(plain, ending)
			}
		}
	}
	if len(plain) == 0 {
		plain = any
	}
	if named != "" || len(plain) == 0 {
		return "", nil
	}
	if len(plain) > 1 {
		return "", fmt.Errorf("sample %.200q has the images %s, expected one: name its ending with winnow data "+
			"import --path-column", w.key, strings.Join(plain, " and "))
	}
	return plain[0], nil
}

// webDataset makes rows of all samples.
func (o ReadOptions) webDataset(source location.Source, list *shards.List, all []*webShard) (*Dataset, error) {
	tables := make([]*records, len(all))
	for i, s := range all {
		tables[i] = &s.records
	}
	columns, places := joinColumns(tables)
	ending := o.Names.Path
	said := o.webColumns(columns, places, tables)
	unlabelled := false
	opts := reading{ReadOptions: o, unlabelled: &unlabelled}
	opts.Names.Path = pictures
	drop := -1 // the column of class numbers, if the class names are known
	if opts.Names.Label != webClass {
		drop = slices.Index(columns, webClass)
	}
	at, kept, extra, err := opts.readTableHeader(source.String(), withPictures(columns))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: the keys of the samples: %w", source, err)
	}
	if drop >= 0 && at[labelColumn] >= 0 {
		if i := slices.Index(extra, drop+1); i >= 0 {
			kept, extra = slices.Delete(kept, i, i+1), slices.Delete(extra, i, i+1)
		}
	}
	var rows []row
	found, lost := endingsOf(all), odd{}
	record := make([]string, len(columns)+1)
	for i, s := range all {
		split := splitOf(list.Names[i])
		for n, sample := range s.samples {
			picture, err := sample.findPictureEnding(ending)
			if err != nil {
				return nil, fmt.Errorf("datasets: %s: %w", source.Join(list.Names[i]), err)
			}
			if picture == "" {
				lost.addOdd(path.Join(list.Names[i], sample.key))
				continue
			}
			clear(record)
			record[0] = list.Names[i] + "/" + sample.key + "." + picture
			for k, value := range s.rows[n] {
				record[places[i][k]+1] = value
			}
			r := at.newRow(record, extra, len(rows))
			r.split = cmp.Or(r.split, split)
			if rows, err = appendRow(rows, r, opts); err != nil {
				return nil, fmt.Errorf("datasets: %s: %s: %w", source.Join(list.Names[i]), sample.key, err)
			}
		}
		s.samples, s.rows = nil, nil
	}
	if len(rows) == 0 && ending != "" {
		return nil, fmt.Errorf("datasets: %s: holds no image called KEY.%s, as --path-column names it; found %s",
			source, ending, found)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("datasets: %s: holds no image, expected files such as KEY.jpg beside KEY.cls or "+
			"KEY.json; found %s", source, found)
	}
	if o.Note != nil {
		o.Note("%s: read as WebDataset's shards: %d images in %d files%s", source, len(rows), len(list.Names), said)
	}
	o.tellOdd(source, rows, lost)
	return buildDataset(rows, kept), nil
}

// webColumns chooses the label column if none is named: the JSON key label, else .cls, else a usual name, else .txt
// if its values repeat as labels do. It returns a note of its choice.
func (o *ReadOptions) webColumns(columns []string, places [][]int, tables []*records) string {
	if o.Names.Label != "" || findColumn(columns, ownNames[labelColumn]) >= 0 {
		return ""
	}
	if slices.Contains(columns, webClass) {
		o.Names.Label = webClass
		return ", labels by ." + webClass
	}
	usual := slices.ContainsFunc(
		usualNames[labelColumn],
		func(name string) bool { return findColumn(columns, name) >= 0 },
	)
	if text := slices.Index(columns, webText); text >= 0 && !usual && looksRepeated(text, places, tables) {
		o.Names.Label = webText
		return ", labels by ." + webText + " (winnow data import --label-column names another)"
	}
	return ""
}

// looksRepeated reports whether the values of a column look like labels: they are short, and there are at most half as
// many values as rows.
func looksRepeated(column int, places [][]int, tables []*records) bool {
	const longest = 100
	values, n := map[string]bool{}, 0
	for i, t := range tables {
		own := slices.Index(places[i], column)
		for _, r := range t.rows {
			if own < 0 || own >= len(r) || r[own] == "" {
				continue
			}
			if n++; len(r[own]) > longest || strings.Contains(r[own], "\n") {
				return false
			}
			values[r[own]] = true
		}
	}
	return n > 0 && len(values) <= n/2
}

// endingsOf lists file endings that were found, for the error that none is an image's.
func endingsOf(all []*webShard) string {
	found := map[string]bool{}
	for _, s := range all {
		for _, sample := range s.samples {
			for _, ending := range sample.endings {
				found[ending] = true
			}
		}
	}
	if len(found) == 0 {
		return "no file with an ending"
	}
	list := slices.Sorted(maps.Keys(found))
	return "." + strings.Join(list[:min(len(list), 10)], ", .")
}

// odd counts samples and remembers the first.
type odd struct {
	n     int
	first string
}

func (o *odd) addOdd(name string) {
	if o.n++; o.n == 1 {
		o.first = name
	}
}

// tellOdd notes which samples have no image and which have no label.
func (o ReadOptions) tellOdd(source location.Source, rows []row, lost odd) {
	if o.Note == nil {
		return
	}
	if lost.n > 0 {
		o.Note("%s: left out %d samples without an image, the first %.200q", source, lost.n, lost.first)
	}
	bare := odd{}
	for _, r := range rows {
		if r.label == "" {
			bare.addOdd(r.path)
		}
	}
	if bare.n > 0 {
		o.Note("%s: %d of %d images have no label, the first %.200q", source, bare.n, len(rows), bare.first)
	}
}
