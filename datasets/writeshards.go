package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets/shards"

	"winnow/datasets/location"
	"winnow/internal/regular"
)

// ShardWriter writes a dataset as WebDataset's tar files. For each sample they hold the unchanged image, KEY.cls
// with its class number, and KEY.json with its label and everything else in the manifest.
type ShardWriter struct {
	// Name is the name of the tar files. %06d in it becomes the number of the shard; {split} becomes the split, and
	// each split has its own shards. Without a number there is one file.
	Name     string
	Size     int64                  // largest shard in bytes, unless a single sample is larger
	Root     func(sample int) fs.FS // the root of a sample's path
	Read     []location.Source      // files that images are read from, and that no shard may overwrite
	Progress func(done, total int)  // in samples; may be nil
	d        *Dataset
	keys     []string // of the samples
}

// ShardsWritten counts what a ShardWriter wrote.
type ShardsWritten struct{ Shards, Images int }

// tarEnding is the ending of WebDataset's shards.
const tarEnding = ".tar"

// IsShardName reports whether a name is that of a shard to be written: it ends in .tar.
func IsShardName(name string) bool { return strings.EqualFold(filepath.Ext(name), tarEnding) }

const splitMark = "{split}"

var numberMark = regexp.MustCompile(`%0?[1-9]?d`)

// openShard is a shard that fills.
type openShard struct {
	name   string
	files  []shards.TarFile
	images int
	size   int64
}

// endOfTar is the number of bytes that end a tar file.
const endOfTar = 1024

// Write writes the shards of d, each split's own if the name holds the split.
func (w ShardWriter) Write(ctx context.Context, d *Dataset) (done ShardsWritten, err error) {
	w.d = d
	if marks := numberMark.FindAllString(w.Name, -1); len(marks) > 1 || strings.Count(w.Name, "%") > len(marks) {
		return done, fmt.Errorf("datasets: %s: found %d numbers, expected at most one, such as %%06d, and no other "+
			"%%", w.Name, len(marks))
	}
	if err := w.nameKeys(); err != nil {
		return done, err
	}
	open, numbers := map[string]*openShard{}, map[string]int{} // of each split
	for i := range d.Samples {
		files, size, err := w.sampleFiles(i)
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return done, fmt.Errorf("datasets: %s: %w", d.Samples[i].Path, err)
		}
		split := ""
		if strings.Contains(w.Name, splitMark) {
			split = d.Samples[i].Split
		}
		s := open[split]
		if s != nil && numberMark.MatchString(w.Name) && s.size+size > w.Size {
			if err := w.writeShard(ctx, s, &done); err != nil {
				return done, err
			}
			s = nil
		}
		if s == nil {
			name := numberMark.ReplaceAllStringFunc(strings.ReplaceAll(w.Name, splitMark, split),
				func(mark string) string {
					return fmt.Sprintf(mark, numbers[split])
				})
			s = &openShard{name: name, size: endOfTar}
			open[split] = s
			numbers[split]++
		}
		s.files, s.images, s.size = append(s.files, files...), s.images+1, s.size+size
	}
	for _, split := range slices.Sorted(maps.Keys(open)) {
		if err := w.writeShard(ctx, open[split], &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

// writeShard writes a shard, which must be none of the files that images are read from.
func (w *ShardWriter) writeShard(ctx context.Context, s *openShard, done *ShardsWritten) error {
	for _, read := range w.Read {
		if !read.IsRemote() && isSameFile(s.name, read.Path()) {
			return fmt.Errorf("datasets: %s: images are read from it, expected another name for what is written",
				s.name)
		}
	}
	err := os.MkdirAll(filepath.Dir(s.name), 0o777)
	if err == nil {
		err = shards.WriteTar(ctx, s.name, s.files)
	}
	if err != nil {
		return fmt.Errorf("datasets: %s: %w", s.name, err)
	}
	done.Shards++
	if done.Images += s.images; w.Progress != nil {
		w.Progress(done.Images, len(w.d.Samples))
	}
	return nil
}

// nameKeys gives each sample a unique key: its path without the ending and without dots.
func (w *ShardWriter) nameKeys() error {
	w.keys = make([]string, len(w.d.Samples))
	taken := make(map[string]bool, len(w.keys))
	for i := range w.d.Samples {
		p := w.d.Samples[i].Path
		if _, _, cropped := CutCrop(p); cropped {
			return fmt.Errorf("datasets: %s: is a crop of a picture, expected whole images: a shard holds the "+
				"bytes of files", p)
		}
		dir, base := path.Split(p)
		stem := base
		if isImageName(base) {
			stem = strings.TrimSuffix(base, path.Ext(base))
		}
		key := dir + strings.ReplaceAll(stem, ".", "_")
		for n := 2; taken[key]; n++ {
			key = dir + strings.ReplaceAll(stem, ".", "_") + "-" + strconv.Itoa(n)
		}
		taken[key], w.keys[i] = true, key
	}
	return nil
}

// sampleFiles returns the files of a sample, and the bytes that they take in a shard.
func (w *ShardWriter) sampleFiles(i int) (files []shards.TarFile, size int64, err error) {
	s, root := &w.d.Samples[i], w.Root(i)
	info, err := fs.Stat(root, s.Path)
	if err != nil {
		return nil, 0, err
	}
	ending := path.Ext(s.Path)
	if !isImageName(s.Path) && info.Mode().IsRegular() {
		head, err := headOf(root, s.Path, 16)
		if err != nil {
			return nil, 0, err
		}
		ending = endingOfImage(head)
	}
	if ending == "" || !info.Mode().IsRegular() {
		return nil, 0, errors.New("is not an image by its name or content, expected JPEG, PNG, GIF, BMP or WebP")
	}
	picture := shards.TarFile{Name: w.keys[i] + ending, Size: info.Size(), Open: func() (io.ReadCloser, error) {
		f, _, err := regular.From(root, s.Path)
		return f, err
	}}
	text, err := w.describeSample(s, picture.Name)
	if err != nil {
		return nil, 0, err
	}
	files = []shards.TarFile{picture, {Name: w.keys[i] + "." + webJSON, Data: text}}
	if s.Label != Unlabelled {
		files = slices.Insert(files, 1,
			shards.TarFile{Name: w.keys[i] + "." + webClass, Data: strconv.AppendInt(nil, int64(s.Label), 10)})
	}
	for k := range files {
		n, err := files[k].Length()
		if err != nil {
			return nil, 0, err
		}
		size += n
	}
	return files, size, nil
}

// describeSample returns the manifest's data of a sample as JSON, with the path if it differs from the name in the
// shard.
func (w *ShardWriter) describeSample(s *Sample, name string) ([]byte, error) {
	keys := append([]string{"label", "split", "true_label", "path"}, w.d.Columns...)
	values := append([]string{w.d.className(s.Label), s.Split, w.d.className(s.True), s.Path}, s.Extra...)
	for k := len(values) - 1; k >= 0; k-- {
		if values[k] == "" || keys[k] == "path" && name == s.Path {
			keys, values = slices.Delete(keys, k, k+1), slices.Delete(values, k, k+1)
		}
	}
	return encodeObject(keys, values)
}

// isSameFile reports whether two names refer to the same file.
func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, wrong := os.Stat(b)
	return err == nil && wrong == nil && os.SameFile(one, other)
}

// ListShards lists the files that are named as the shards of a set.
func ListShards(name string) []string {
	pattern := numberMark.ReplaceAllString(strings.ReplaceAll(name, splitMark, "*"), "[0-9]*")
	found, _ := filepath.Glob(pattern)
	return found
}
