package datasets

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"winnow/datasets/location"
	"winnow/datasets/shards"
)

// pictures is the name of the image column in a table made from shards.
const pictures = "(image)"

// shardKinds are the formats that are stored in shards.
var shardKinds = map[Format]shards.Kind{WebDataset: shards.Tar, Parquet: shards.Parquet, Auto: shards.None}

// holdsShards reports whether there are shards below a folder. A folder that cannot be read is reported later, as
// an image folder.
func holdsShards(dir location.Source, opts ReadOptions) bool {
	files, err := shards.Below(opts.getContext(), dir, shards.None)
	return err == nil && len(files) > 0
}

// readShards reads the samples of shards. A path begins with the shard's path, relative to the folder at the start
// of the name pattern, and continues inside the shard as if it were a folder.
func readShards(source location.Source, form *Format, opts ReadOptions) (*Dataset, error) {
	opts.Format = cmp.Or(opts.Format, Auto)
	if opts.StripPrefix != "" {
		return nil, fmt.Errorf("datasets: %s: found a prefix to strip, %q, expected none: paths begin with those "+
			"of the shards", source, opts.StripPrefix)
	}
	ctx := opts.getContext()
	list, err := shards.Find(ctx, source, shardKinds[opts.Format])
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	if len(list.Names) == 0 {
		return nil, fmt.Errorf("datasets: %s: found no shard, expected files that end in .%s", source, list.Kind)
	}
	opts.Split, err = ParseSplit(cmp.Or(opts.Split, Train))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", source, err)
	}
	*form = WebDataset
	if list.Kind == shards.Parquet {
		*form = Parquet
		return readParquet(ctx, source, list, opts)
	}
	return readWebDataset(ctx, source, list, opts)
}

// eachShard opens the shards, as many at a time as there are cores, and passes each to read with its position in
// the list.
func eachShard(ctx context.Context, list *shards.List, read func(i int, src io.ReaderAt, size int64) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range list.Names {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			file := list.Root.Join(name)
			f, err := file.Open(ctx)
			if err != nil {
				return fmt.Errorf("datasets: %w", err)
			}
			defer f.Close()
			info, err := f.Stat()
			if err == nil {
				err = read(i, f, info.Size())
			}
			if err != nil {
				err = fmt.Errorf("datasets: %s: %w", file, err)
			}
			return err
		})
	}
	return group.Wait()
}

// splitOf returns the split in a shard's name, "" if there is none.
func splitOf(name string) string {
	split, err := ParseSplit(shards.Split(name, func(word string) bool {
		_, err := ParseSplit(word)
		return err == nil
	}))
	if err != nil {
		return ""
	}
	return split
}

// records is a table whose columns are known only after its last row.
type records struct {
	columns []string
	at      map[string]int
	rows    [][]string // each as long as the columns known when it was added
	bytes   int
}

// putCell sets a value of a row, which must be the newest, and adds the column if it is new.
func (t *records) putCell(row *[]string, column, value string) error {
	i, known := t.at[column]
	if !known {
		i = len(t.columns)
		if t.at == nil {
			t.at = map[string]int{}
		}
		t.at[column] = i
		t.columns = append(t.columns, column)
	}
	for len(*row) <= i {
		*row = append(*row, "")
	}
	(*row)[i] = value
	t.bytes += len(value)
	if n := len(t.rows) * len(t.columns); n > max(leastCells, t.bytes) {
		return fmt.Errorf("%d samples with %d different keys make a table of %d values, expected keys that samples "+
			"share", len(t.rows), len(t.columns), n)
	}
	return nil
}

// joinColumns returns the columns of several tables, and the position of each table's columns among them.
func joinColumns(tables []*records) (columns []string, at [][]int) {
	places := map[string]int{}
	for _, t := range tables {
		var own []int
		for _, c := range t.columns {
			i, known := places[c]
			if !known {
				i = len(columns)
				places[c] = i
				columns = append(columns, c)
			}
			own = append(own, i)
		}
		at = append(at, own)
	}
	return columns, at
}

// ShardFiles lists the files of a source of shards, nil for any other source.
func ShardFiles(ctx context.Context, source location.Source) (files []location.Source) {
	if layout, err := LayoutOf(ctx, source); err != nil || layout == File {
		return nil
	}
	list, err := shards.Find(ctx, source, shards.None)
	if err != nil {
		return nil // none, or an error that reading will report
	}
	for _, name := range list.Names {
		files = append(files, list.Root.Join(name))
	}
	return files
}

// withPictures puts the image column before the others.
func withPictures(columns []string) []string { return slices.Concat([]string{pictures}, columns) }
