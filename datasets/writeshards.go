package datasets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"winnow/datasets/location"
	"winnow/datasets/shards"
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
	Note     func(format string, args ...any)
	Progress func(done, total int) // in samples; may be nil
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

// shardPlan is the samples of a shard.
type shardPlan struct {
	name    string
	samples []int
}

// Write writes the shards of d.
func (w ShardWriter) Write(ctx context.Context, d *Dataset) (done ShardsWritten, err error) {
	w.d = d
	if marks := numberMark.FindAllString(w.Name, -1); len(marks) > 1 || strings.Count(w.Name, "%") > len(marks) {
		return done, fmt.Errorf("datasets: %s: found %d numbers, expected at most one, such as %%06d, and no other "+
			"%%", w.Name, len(marks))
	}
	if err := w.nameKeys(); err != nil {
		return done, err
	}
	plan, err := w.planShards(ctx)
	if err != nil {
		return done, err
	}
	names := make(map[string]bool, len(plan))
	for _, p := range plan {
		names[p.name] = true
		for _, read := range w.Read {
			if !read.IsRemote() && isSameFile(p.name, read.Path()) {
				return done, fmt.Errorf("datasets: %s: images are read from it, expected another name for what is "+
					"written", p.name)
			}
		}
	}
	for _, p := range plan {
		if err := w.writeShard(ctx, p); err != nil {
			return done, fmt.Errorf("datasets: %s: %w", p.name, err)
		}
		done.Shards++
		if done.Images += len(p.samples); w.Progress != nil {
			w.Progress(done.Images, len(d.Samples))
		}
	}
	w.tellOthers(names)
	return done, nil
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

// planShards distributes the samples over shards in order, each split separately if it has its own files.
func (w *ShardWriter) planShards(ctx context.Context) (plan []shardPlan, err error) {
	open := map[string]int{}     // index in plan of a split's last shard
	numbers := map[string]int{}  // number of its next shard
	filled := map[string]int64{} // bytes in the last shard
	numbered := numberMark.MatchString(w.Name)
	for i := range w.d.Samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		length, err := w.countShardBytes(i)
		if err != nil {
			return nil, err
		}
		split := ""
		if strings.Contains(w.Name, splitMark) {
			split = w.d.Samples[i].Split
		}
		at, begun := open[split]
		if !begun || numbered && filled[split]+length > w.Size {
			at = len(plan)
			name := strings.ReplaceAll(w.Name, splitMark, split)
			name = numberMark.ReplaceAllStringFunc(name, func(mark string) string {
				return fmt.Sprintf(mark, numbers[split])
			})
			plan = append(plan, shardPlan{name: name})
			open[split], filled[split] = at, endOfTar
			numbers[split]++
		}
		plan[at].samples = append(plan[at].samples, i)
		filled[split] += length
	}
	return plan, nil
}

// endOfTar is the number of bytes that end a tar file.
const endOfTar = 1024

// countShardBytes returns the bytes that a sample takes in a shard.
func (w *ShardWriter) countShardBytes(i int) (n int64, err error) {
	files, err := w.sampleFiles(i)
	for k := range files {
		if err == nil {
			var one int64
			one, err = files[k].Length()
			n += one
		}
	}
	if err != nil {
		return 0, fmt.Errorf("datasets: %s: %w", w.d.Samples[i].Path, err)
	}
	return n, nil
}

// sampleFiles returns the files of a sample.
func (w *ShardWriter) sampleFiles(i int) ([]shards.TarFile, error) {
	s, root := &w.d.Samples[i], w.Root(i)
	info, err := fs.Stat(root, s.Path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("is no file")
	}
	open := func() (io.ReadCloser, error) {
		f, _, err := regular.From(root, s.Path)
		return f, err
	}
	ending := path.Ext(s.Path)
	if !isImageName(s.Path) {
		if ending, err = sniffEnding(open); err != nil {
			return nil, err
		}
	}
	picture := shards.TarFile{Name: w.keys[i] + ending, Size: info.Size(), Open: open}
	text, err := w.describeSample(s, picture.Name)
	if err != nil {
		return nil, err
	}
	files := []shards.TarFile{picture}
	if s.Label != Unlabelled {
		files = append(files,
			shards.TarFile{Name: w.keys[i] + "." + webClass, Data: strconv.AppendInt(nil, int64(s.Label), 10)})
	}
	return append(files, shards.TarFile{Name: w.keys[i] + "." + webJSON, Data: text}), nil
}

// describeSample writes the manifest's data of a sample as JSON, with the path if it differs from the name in the
// shard.
func (w *ShardWriter) describeSample(s *Sample, name string) ([]byte, error) {
	keys := append([]string{"label", "split", "true_label", "path"}, w.d.Columns...)
	values := append([]string{w.d.className(s.Label), s.Split, w.d.className(s.True), ""}, s.Extra...)
	if name != s.Path {
		values[3] = s.Path
	}
	var out bytes.Buffer
	lead := byte('{')
	for k, value := range values {
		if value == "" {
			continue
		}
		if err := writeJSONField(&out, lead, keys[k], value); err != nil {
			return nil, err
		}
		lead = ','
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// sniffEnding returns the ending for an image whose name has none.
func sniffEnding(open func() (io.ReadCloser, error)) (ending string, err error) {
	f, err := open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 {
		return "", err
	}
	for _, magic := range [][2]string{{"\xff\xd8\xff", ".jpg"}, {"\x89PNG", ".png"}, {"GIF8", ".gif"}, {"BM", ".bmp"},
		{"RIFF", ".webp"}} {
		if strings.HasPrefix(string(head[:n]), magic[0]) {
			return magic[1], nil
		}
	}
	return "", fmt.Errorf("is not an image by its name or content, expected JPEG, PNG, GIF, BMP or WebP")
}

// isSameFile reports whether two names refer to the same file.
func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, wrong := os.Stat(b)
	return err == nil && wrong == nil && os.SameFile(one, other)
}

// writeShard writes a shard.
func (w *ShardWriter) writeShard(ctx context.Context, p shardPlan) error {
	var files []shards.TarFile
	for _, i := range p.samples {
		of, err := w.sampleFiles(i)
		if err != nil {
			return fmt.Errorf("%s: %w", w.d.Samples[i].Path, err)
		}
		files = append(files, of...)
	}
	if err := os.MkdirAll(filepath.Dir(p.name), 0o777); err != nil {
		return err
	}
	return shards.WriteTar(ctx, p.name, files)
}

// ListShards lists the files that are named as the shards of a set.
func ListShards(name string) []string {
	pattern := numberMark.ReplaceAllString(strings.ReplaceAll(name, splitMark, "*"), "[0-9]*")
	found, _ := filepath.Glob(pattern)
	return found
}

// tellOthers notes other files that could be taken for shards of this set.
func (w *ShardWriter) tellOthers(written map[string]bool) {
	if w.Note == nil || !numberMark.MatchString(w.Name) {
		return
	}
	others := odd{}
	for _, name := range ListShards(w.Name) {
		if !written[name] {
			others.addOdd(name)
		}
	}
	if others.n > 0 {
		w.Note("%d other files are named like these shards, the first %s", others.n, others.first)
	}
}
