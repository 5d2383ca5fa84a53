package datasets

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"

	"winnow/datasets/location"
	"winnow/datasets/shards"
)

// parquetShard is the content of a Parquet file with images.
type parquetShard struct {
	rows    []row
	columns []string
	lost    int64  // rows without an image
	images  string // the image column
}

// readParquet reads Parquet files with images, in the form of Hugging Face's datasets.
func readParquet(ctx context.Context, source location.Source, list *shards.List, opts ReadOptions) (*Dataset, error) {
	all := make([]*parquetShard, len(list.Names))
	err := eachShard(ctx, list, func(i int, src io.ReaderAt, size int64) (err error) {
		own := opts
		if i > 0 {
			own.Note = nil
		}
		all[i], err = own.readParquetColumns(ctx, list.Names[i], source, src, size)
		return err
	})
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	var parts []*Dataset
	var left leftList
	for i, s := range all {
		parts = append(parts, buildDataset(s.rows, s.columns))
		left.addMany("without an image, hence unreadable", "rows", path.Join(list.Names[i], s.images), int(s.lost))
		all[i] = nil
	}
	d := Merge(parts...)
	if len(d.Samples) == 0 {
		return nil, fmt.Errorf("datasets: %s: no row found, expected at least one", source)
	}
	d.describeShards(source, Parquet, len(list.Names), left, opts)
	return d, nil
}

// readParquetColumns reads the columns of a file except the image columns.
func (o ReadOptions) readParquetColumns(ctx context.Context, name string, source location.Source, src io.ReaderAt,
	size int64) (*parquetShard, error) {
	f, err := shards.OpenParquet(src, size)
	if err != nil {
		return nil, err
	}
	s := &parquetShard{}
	if s.images, err = o.imageColumn(f, f.Columns); err != nil {
		return nil, err
	}
	s.lost = f.Nulls(s.images)
	for _, other := range f.Images {
		f.Leave(other) // image bytes are not text
	}
	ending := -1
	if f.TakePath(s.images) {
		ending = len(f.Columns) - 1
	}
	unlabelled := false
	opts := reading{ReadOptions: o, unlabelled: &unlabelled}
	opts.Names.Path = pictures
	opts.Names.Label = cmp.Or(o.Names.Label, onlyClass(f, f.Columns))
	at, kept, extra, err := opts.readTableHeader(source.String(), withPictures(f.Columns))
	if err != nil {
		return nil, err
	}
	s.columns = kept
	names := classNames(f, f.Columns)
	split, record := splitOf(name), make([]string, len(f.Columns)+1)
	err = f.EachRow(src, func(values []string) error {
		copy(record[1:], values)
		for k, list := range names {
			if record[k+1], err = className(record[k+1], list); err != nil {
				return fmt.Errorf("row %d: column %.80q: %w", len(s.rows)+1, f.Columns[k], err)
			}
		}
		end := ""
		if ending >= 0 && isImageName(values[ending]) {
			end = path.Ext(values[ending])
		}
		record[0] = name + "/" + shards.ImageName(s.images, int64(len(s.rows)), end)
		r := at.newRow(record, extra, len(s.rows))
		r.split = cmp.Or(r.split, split)
		if s.rows, err = appendRow(s.rows, r, opts); err != nil {
			return fmt.Errorf("row %d: %w", len(s.rows)+1, err)
		}
		if len(s.rows)%(1<<12) == 0 {
			return ctx.Err()
		}
		return nil
	})
	return s, err
}

// imageColumn chooses the image column: the column named by the user, else the only column that the file marks as an
// image, else the only one with a common name, else the only image column.
func (o ReadOptions) imageColumn(f *shards.ParquetFile, others []string) (string, error) {
	if i := findColumn(f.Images, o.Names.Path); i >= 0 && o.Names.Path != "" {
		return f.Images[i], nil
	}
	var noted, usual []string
	for _, column := range f.Images {
		if f.Features[column].Type == "Image" {
			noted = append(noted, column)
		}
		if findColumn(usualNames[pathColumn], column) >= 0 {
			usual = append(usual, column)
		}
	}
	for _, list := range [][]string{noted, usual, f.Images} {
		if len(list) == 1 && o.Names.Path == "" {
			return list[0], nil
		}
	}
	return "", fmt.Errorf("found the image columns %.200q and the columns %.200q, expected one image column with "+
		"the fields bytes and path: choose one with winnow data import --path-column", f.Images, others)
}

// classNames returns the class names of each column of class numbers, by the column's position.
func classNames(f *shards.ParquetFile, columns []string) map[int][]string {
	names := map[int][]string{}
	for i, column := range columns {
		if list := f.Features[column].Names; len(list) > 0 {
			names[i] = list
		}
	}
	return names
}

// className returns the class name for a number. An empty number and -1, as in Hugging Face's test sets, mean that the
// row has no class.
func className(number string, names []string) (string, error) {
	n, err := strconv.Atoi(number)
	switch {
	case number == "" || number == "-1":
		return "", nil
	case err != nil || n < 0 || n >= len(names):
		return "", fmt.Errorf("found %.80q, expected a class number below %d", number, len(names))
	}
	return names[n], nil
}

// onlyClass returns the only column of class numbers if no column has a common label name, else "".
func onlyClass(f *shards.ParquetFile, columns []string) string {
	own := append([]string{ownNames[labelColumn]}, usualNames[labelColumn]...)
	if slices.ContainsFunc(own, func(name string) bool { return findColumn(columns, name) >= 0 }) {
		return ""
	}
	only := ""
	for i := range classNames(f, columns) {
		if only != "" {
			return ""
		}
		only = columns[i]
	}
	return only
}
