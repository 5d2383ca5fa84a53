package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/datasets/shards"
)

// The files in which Hugging Face's imagefolder stores metadata, next to the images or above them.
const (
	metadataCSV     = "metadata.csv"
	metadataJSONL   = "metadata.jsonl"
	metadataParquet = "metadata.parquet"

	classesCSV = "_classes.csv" // of Roboflow: the column filename, and one for each class
)

// metadata is a metadata file in a folder of the tree.
type metadata struct{ dir, name string }

// imageFolder reads the images listed in the metadata files of a folder, or returns nil if no such file has a
// column file_name. It searches the folders from the root down to at and, if they have none, the folders below.
func imageFolder(ctx context.Context, t *listing, name, at string, opts ReadOptions) (*Dataset, error) {
	var files []metadata
	fsys := t.fsys
	look := func(dir string) error {
		file, err := opts.metadataIn(fsys, name, dir)
		if file != "" {
			files = append(files, metadata{dir, file})
		}
		return err
	}
	for dir := at; len(files) == 0; dir = path.Dir(dir) {
		if err := look(dir); err != nil {
			return nil, err
		}
		if dir == "." {
			break
		}
	}
	if len(files) == 0 {
		for _, top := range t.listFoldersIn(at) {
			if err := look(path.Join(at, top)); err != nil {
				return nil, err
			}
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	var parts []*Dataset
	listed := make(map[string]bool)
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := f.readMetadata(fsys, name, opts)
		if err != nil {
			return nil, err
		}
		for i := range d.Samples {
			listed[d.Samples[i].Path] = true
		}
		parts = append(parts, d)
	}
	others := 0
	for _, p := range t.images {
		if !listed[p] {
			others++
		}
	}
	form := "an imagefolder, by its " + files[0].name
	if files[0].name == classesCSV {
		form = "labels of Roboflow, by its " + classesCSV
	}
	if opts.Note != nil {
		opts.Note("%s: read as %s (%sfolders takes the folders' names)", name, form, byFormat)
		if others > 0 {
			opts.Note("%s: left out %d images that no metadata file lists", name, others)
		}
	}
	d := Merge(parts...)
	d.Reading = t.describeListing(form, at, d.Classes)
	d.Reading.dropRead(map[string]int{path.Ext(files[0].name): len(files)})
	if others > 0 {
		d.Reading.Left = append(d.Reading.Left, Left{"not listed", "pictures", others})
	}
	return d, nil
}

// metadataIn returns the metadata file of a folder, or "" if none has a path column; it notes a file without one.
func (o ReadOptions) metadataIn(fsys fs.FS, name, dir string) (string, error) {
	var found []string
	if !utf8.ValidString(dir) {
		return "", nil // cannot be opened
	}
	for _, file := range []string{metadataCSV, metadataJSONL, metadataParquet, classesCSV} {
		in, err := fsys.Open(path.Join(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("datasets: %s: %w", name, err)
		}
		header, err := firstNames(in, file)
		in.Close()
		if err != nil {
			return "", fmt.Errorf("datasets: %s: %w: fix it, or move it away to read the folders' names",
				path.Join(name, dir, file), err)
		}
		if findColumn(header, o.namePathColumn(file)) >= 0 {
			found = append(found, file)
		} else if o.Note != nil {
			o.Note("%s: ignored: it has no column %s", path.Join(name, dir, file), o.namePathColumn(file))
		}
	}
	if len(found) > 1 {
		return "", fmt.Errorf("datasets: %s: found %s, expected one of them: move the others away",
			path.Join(name, dir), strings.Join(found, " and "))
	}
	return strings.Join(found, ""), nil
}

// namePathColumn returns the name of the path column in a metadata file.
func (o ReadOptions) namePathColumn(file string) string {
	if file == classesCSV {
		return cmp.Or(o.Names.Path, "filename")
	}
	return cmp.Or(o.Names.Path, fileName)
}

// firstNames returns the columns of a metadata file; for JSON lines, the keys of the first line.
func firstNames(f fs.File, name string) (header []string, err error) {
	if name == metadataParquet {
		rows, _, err := openParquet(f)
		if err != nil {
			return nil, err
		}
		return rows.Columns, nil
	}
	in := bufio.NewReaderSize(io.LimitReader(f, 1<<24), 1<<16)
	if _, err := consumeLead(in); err != nil {
		return nil, err
	}
	if name == metadataCSV || name == classesCSV {
		if header, err = newCells(in, ReadOptions{}.findSeparator(in)).Read(); errors.Is(err, io.EOF) {
			err = nil // cannot tell
		}
		return header, err
	}
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var object map[string]json.RawMessage
			if err := json.Unmarshal(line, &object); err != nil {
				return nil, fmt.Errorf("its first line is no JSON object: %w", err)
			}
			return slices.Sorted(maps.Keys(object)), nil
		}
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// openParquet opens a table. One inside a zip file is read into memory.
func openParquet(f fs.File) (*shards.ParquetFile, io.ReaderAt, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	src, ok := f.(io.ReaderAt)
	if !ok {
		const most = 256 << 20
		if info.Size() > most {
			return nil, nil, fmt.Errorf("has %d MB in a zip file, expected at most %d: unpack it", info.Size()>>20,
				most>>20)
		}
		data, err := io.ReadAll(f)
		if err != nil {
			return nil, nil, err
		}
		src = bytes.NewReader(data)
	}
	t, err := shards.OpenParquet(src, info.Size())
	return t, src, err
}

// readMetadata reads a metadata file. Its paths are relative to its folder. Splits come from a column split, or else
// from the train, validation or test folder that contains the image or the file; labels come from a column, or else
// from the folder of the image.
func (m metadata) readMetadata(fsys fs.FS, name string, options ReadOptions) (*Dataset, error) {
	file := path.Join(m.dir, m.name)
	in, err := fsys.Open(file)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	defer in.Close()
	unlabelled := false
	opts := reading{ReadOptions: options, unlabelled: &unlabelled}
	if m.name == classesCSV {
		opts.unlabelled = nil // a column for each class labels the images
	}
	opts.Names.Path = opts.namePathColumn(m.name)
	above := "" // the split whose folder contains the file
	if s, err := ParseSplit(path.Base(m.dir)); err == nil {
		above = s
	}
	opts.within = func(r *row) error {
		top, below, deep := strings.Cut(r.path, "/")
		split, err := ParseSplit(top)
		if deep && err == nil && above == "" {
			r.split = cmp.Or(r.split, split)
			top, _, deep = strings.Cut(below, "/")
		}
		r.split = cmp.Or(r.split, above)
		if unlabelled {
			if !deep {
				return fmt.Errorf("%.200q is in no class folder, and there is no column label: name one by %s", r.path,
					naming)
			}
			r.label = top
		}
		r.path = path.Join(m.dir, r.path)
		return nil
	}
	name = path.Join(name, file)
	if m.name != metadataParquet {
		opts.Format = CSV
		if m.name == metadataJSONL {
			opts.Format = JSONL
		}
		return opts.readAnyManifest(in, name)
	}
	table, src, err := openParquet(in)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	at, columns, extra, err := opts.readTableHeader(name, table.Columns)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	var rows []row
	err = table.EachRow(src, func(record []string) (err error) {
		if rows, err = appendRow(rows, at.newRow(record, extra, len(rows)), opts); err != nil {
			err = fmt.Errorf("row %d: %w", len(rows)+1, err)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("datasets: %s: no row found, expected at least one", name)
	}
	return buildDataset(rows, columns), nil
}
