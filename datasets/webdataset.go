package datasets

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"winnow/datasets/location"
	"winnow/datasets/shards"
)

// Extensions of the files read from a WebDataset sample: the class, a text, and a JSON object.
const (
	webClass = "cls"
	webText  = "txt"
	webJSON  = "json"
)

// mostText limits the size of a label or JSON file in bytes.
const mostText = 1 << 20

// webShard is the content of a tar file.
type webShard struct {
	samples []webSample
	texts   map[string]bool // extensions of files read as text
}

// webSample holds the files whose names are equal up to the first dot.
type webSample struct {
	key     string
	endings []string
	cells   [][2]string // pairs of a name and a value: extensions with texts, JSON keys with values
}

// webName splits a file name into the key of the sample and the extension after it.
func webName(name string) (key, ending string, ok bool) {
	dir, base := path.Split(name)
	stem, ending, ok := strings.Cut(base, ".")
	return dir + stem, ending, ok && stem != "" && ending != ""
}

// readWebDataset reads WebDataset's tar files: files whose names differ only in the extension form a sample.
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
		}
		if slices.Contains(s.samples[n].endings, ending) {
			return shards.RefuseTwice(m.Name)
		}
		s.samples[n].endings = append(s.samples[n].endings, strings.Clone(ending))
		if !s.texts[strings.ToLower(ending)] {
			return ctx.Err()
		}
		if err := s.samples[n].readText(strings.ToLower(ending), m.Size, content); err != nil {
			return fmt.Errorf("%.200s: %w", m.Name, err)
		}
		return ctx.Err()
	})
}

// readText reads one file of a sample as text.
func (w *webSample) readText(ending string, size int64, content io.Reader) error {
	if size > mostText {
		return fmt.Errorf("has %d bytes, expected at most %d", size, mostText)
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	if ending != webJSON {
		w.cells = append(w.cells, [2]string{ending, trimLineEnd(string(data))})
		return nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("is not a JSON object: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		value, err := plainJSON(object[key])
		if err != nil {
			return err
		}
		if value != "" {
			w.cells = append(w.cells, [2]string{key, value})
		}
	}
	return nil
}

// findPictureEnding returns the extension of the sample's image, or "" if it has no image. It returns the named
// extension if a file has it, else the only plain image extension (jpg rather than mask.png).
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
		return "", fmt.Errorf("sample %.200q has the images %s, expected one: choose an extension with winnow data "+
			"import --path-column", w.key, strings.Join(plain, " and "))
	}
	return plain[0], nil
}

// webDataset turns all samples into rows.
func (o ReadOptions) webDataset(source location.Source, list *shards.List, all []*webShard) (*Dataset, error) {
	var columns []string
	place := map[string]int{}
	count, bytes := 0, 0
	for _, s := range all {
		count += len(s.samples)
		for _, sample := range s.samples {
			for _, cell := range sample.cells {
				if _, known := place[cell[0]]; !known {
					place[cell[0]] = len(columns)
					columns = append(columns, cell[0])
				}
				bytes += len(cell[1])
			}
		}
	}
	if n := count * len(columns); n > max(leastCells, bytes) {
		return nil, fmt.Errorf("datasets: %s: %d samples with %d different keys give a table of %d values, which is "+
			"too large, expected samples with the same keys", source, count, len(columns), n)
	}
	ending := o.Names.Path
	if o.Names.Label == "" && slices.Contains(columns, webClass) && findColumn(columns, ownNames[labelColumn]) < 0 {
		o.Names.Label = webClass
	}
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
	var left leftList
	record := make([]string, len(columns)+1)
	for i, s := range all {
		split := splitOf(list.Names[i])
		for _, sample := range s.samples {
			picture, err := sample.findPictureEnding(ending)
			if err != nil {
				return nil, fmt.Errorf("datasets: %s: %w", source.Join(list.Names[i]), err)
			}
			if picture == "" {
				left.addMany("without an image", "samples", path.Join(list.Names[i], sample.key)+"."+
					strings.Join(sample.endings, ", ."), 1)
				continue
			}
			clear(record)
			record[0] = list.Names[i] + "/" + sample.key + "." + picture
			for _, cell := range sample.cells {
				record[place[cell[0]]+1] = cell[1]
			}
			r := at.newRow(record, extra, len(rows))
			r.split = cmp.Or(r.split, split)
			if rows, err = appendRow(rows, r, opts); err != nil {
				return nil, fmt.Errorf("datasets: %s: %s: %w", source.Join(list.Names[i]), sample.key, err)
			}
		}
		s.samples = nil
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("datasets: %s: found no image, expected files such as KEY.%s next to KEY.cls or "+
			"KEY.json%s", source, cmp.Or(ending, "jpg"), left.explainNone())
	}
	d := buildDataset(rows, kept)
	d.describeShards(source, WebDataset, len(list.Names), left, o)
	return d, nil
}

// pictures is the name of the image column in a table made from shards.
const pictures = "(image)"

// shardKinds maps the formats stored in shards to the kind of shard.
var shardKinds = map[Format]shards.Kind{WebDataset: shards.Tar, Parquet: shards.Parquet, Auto: shards.None}

// holdsShards reports whether a folder contains shards. An unreadable folder is reported later, when it is read as an
// image folder.
func holdsShards(dir location.Source, opts ReadOptions) bool {
	files, err := shards.Below(opts.getContext(), dir, shards.None)
	return err == nil && len(files) > 0
}

// readShards reads the samples of shards. A path is the path of the shard, relative to the constant folder of the name
// pattern, followed by the path inside the shard.
func readShards(source location.Source, opts ReadOptions) (*Dataset, error) {
	opts.Format = cmp.Or(opts.Format, Auto)
	if opts.StripPrefix != "" {
		return nil, fmt.Errorf("datasets: %s: found a prefix to strip, %q, expected none: paths start with the "+
			"shards' paths", source, opts.StripPrefix)
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
	if list.Kind == shards.Parquet {
		return readParquet(ctx, source, list, opts)
	}
	return readWebDataset(ctx, source, list, opts)
}

// describeShards reports how shards were read.
func (d *Dataset) describeShards(source location.Source, form Format, files int, left leftList, opts ReadOptions) {
	bare, first := 0, ""
	for i := range d.Samples {
		if d.Samples[i].Label == Unlabelled {
			bare++
			first = cmp.Or(first, d.Samples[i].Path)
		}
	}
	d.Reading = newReading(forms[form], d.Classes, left.sortReasons())
	said := []string{fmt.Sprintf("read as %s: %d images in %d files", forms[form], len(d.Samples), files)}
	if bare > 0 {
		said = append(said, fmt.Sprintf("%d of %d images have no label, the first %.200q", bare, len(d.Samples), first))
	}
	opts.noteReading(source.String(), d.Reading, said...)
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

// splitOf returns the split named in a shard's name, "" if there is none.
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

// withPictures puts the image column before the others.
func withPictures(columns []string) []string { return slices.Concat([]string{pictures}, columns) }
