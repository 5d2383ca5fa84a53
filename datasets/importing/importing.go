// Package importing reads images and labels from sources or a published dataset, splits them, and writes a manifest
// or shards.
//
// A published dataset is read from the files in which it is published, unpacked, and gets the splits of the papers. A
// Preset reads all its labelled images; a Protocol assigns them to splits and knows the published counts. Classes have
// the publisher's numbers, which the papers' "classes 1-100" refers to. No image is decoded.
package importing

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/internal/text"
)

// Job says what to read, how to split it, and where to write it.
type Job struct {
	Out       string // a manifest, or the name of shards, which ends in .tar
	ShardSize int64  // largest shard in bytes
	Seed      uint64

	Sources []Source         // if Preset is ""
	Shares  []datasets.Share // nil: keep the sources' splits
	ByImage bool             // distribute images of each class instead of whole classes

	Preset     string          // name of a known dataset, or ""
	Root       location.Source // of its files, or of the paths of lists; none means each source's own
	Protocol   string
	Human      string
	Labels     string // file of human labels
	Corrected  string // file of corrected test labels
	Given      string // list of noisy labels
	Validation float64

	JSON     bool // report as JSON
	Note     func(format string, args ...any)
	Progress func(done, total int) // number of images written; may be nil
}

// Source is a folder or file to read.
type Source struct {
	Path location.Source
	Read datasets.ReadOptions
}

// Report says what was read and written.
type Report struct {
	Out     string                `json:"out"`
	Shards  int                   `json:"shards,omitempty"`
	Splits  []datasets.SplitCount `json:"splits"`
	Sources []SourceRead          `json:"sources"` // none for a known dataset
}

// SourceRead says how a source was read.
type SourceRead struct {
	Source string `json:"source"`
	*datasets.Reading
}

// gathered is what a job has read.
type gathered struct {
	*datasets.Dataset
	root  func(sample int) (fs.FS, error)
	files []location.Source // files that images are read from, without folders
	read  []SourceRead
	tell  func(out, warnings io.Writer) // reports on the content
}

// Run reads, splits and writes. It reports to out, and differences from published numbers to warnings.
func (j Job) Run(ctx context.Context, out, warnings io.Writer) error {
	read := j.readSources
	if j.Preset != "" {
		read = j.readPreset
	}
	g, err := read(ctx)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // write nothing if reading was interrupted
		return err
	}
	if !datasets.IsShardName(j.Out) {
		if err := datasets.WriteFile(j.Out, g.Dataset, j.Note); err != nil {
			return err
		}
		if j.JSON {
			return text.JSON(out, Report{j.Out, 0, g.Count(), g.read})
		}
		g.tell(out, warnings)
		return nil
	}
	done, err := j.writeShards(ctx, g)
	if err != nil {
		return err
	}
	if j.JSON {
		return text.JSON(out, Report{j.Out, done.Shards, g.Count(), g.read})
	}
	g.tell(out, warnings)
	_, err = fmt.Fprintf(out, "%d images in %d tar files\n", done.Images, done.Shards)
	return err
}

// readSources reads folders and files, and splits their images.
func (j Job) readSources(ctx context.Context) (*gathered, error) {
	var parts []*datasets.Dataset
	var part []int // of each sample
	g := &gathered{read: []SourceRead{}}
	for n, s := range j.Sources {
		s.Read.Once, s.Read.Note, s.Read.Root = ctx, j.Note, j.Root
		d, err := datasets.Read(s.Path, s.Read)
		if err == nil {
			err = j.checkPicturesExist(ctx, s, d)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, d)
		g.read = append(g.read, SourceRead{s.Path.String(), d.Reading})
		for range d.Samples {
			part = append(part, n)
		}
		g.files = append(g.files, datasets.ShardFiles(ctx, s.Path)...)
	}
	if err := j.oneFolder(ctx); err != nil {
		return nil, err
	}
	roots := make([]fs.FS, len(parts))
	g.root = func(sample int) (_ fs.FS, err error) {
		n := part[sample]
		if roots[n] == nil {
			roots[n], err = imageroot.Open(ctx, imageroot.Resolve(j.Root, j.Sources[n].Path))
		}
		return roots[n], err
	}
	g.Dataset = datasets.Merge(parts...)
	if err := j.readOnce(g.Dataset, &part); err != nil {
		return nil, err
	}
	if j.Shares != nil {
		if err := g.Deal(j.Shares, j.ByImage, j.Seed); err != nil {
			return nil, err
		}
	}
	g.tell = func(out, _ io.Writer) { g.WriteCounts(out) }
	return g, nil
}

// readOnce leaves out the samples of several sources that repeat another one, and their entries of part, which holds
// the source of each. Equal paths below different folders are an error in a manifest, which has one root.
func (j Job) readOnce(d *datasets.Dataset, part *[]int) error {
	if len(j.Sources) < 2 {
		return nil
	}
	roots := map[location.Source]bool{}
	for _, s := range j.Sources {
		root := location.Source{} // of lists: their paths have one root, named later
		if layout, _ := datasets.LayoutOf(context.Background(), s.Path); layout != datasets.File {
			root = imageroot.Resolve(j.Root, s.Path).Clean()
		}
		roots[root] = true
	}
	if len(roots) > 1 && datasets.IsShardName(j.Out) {
		return nil
	}
	first := make([]int, len(j.Sources)) // the first sample of each
	for i := range slices.Backward(*part) {
		first[(*part)[i]] = i
	}
	notes, err := d.ReadOnce(func(i int) string {
		n := (*part)[i]
		return fmt.Sprintf("row %d of %s", i-first[n]+1, j.Sources[n].Path)
	})
	if err == nil && len(notes) > 0 && len(roots) > 1 {
		err = fmt.Errorf("%s: their paths begin in different folders: give the folder above them", notes[0])
	}
	if err != nil {
		return fmt.Errorf("data import: %w", err)
	}
	rows := make([]int, len(d.Samples))
	for i := range d.Samples { // their rows are those of the merged sources
		rows[i] = (*part)[d.Samples[i].Row]
	}
	*part = rows
	for _, line := range notes {
		if j.Note != nil {
			j.Note("%s", line)
		}
	}
	return nil
}

// checkPicturesExist looks whether the pictures of a list are there: of one without a header, unless its form was
// named, and of any if a root was.
func (j Job) checkPicturesExist(ctx context.Context, s Source, d *datasets.Dataset) error {
	layout, err := datasets.LayoutOf(ctx, s.Path)
	if !j.Root.IsZero() && !datasets.IsShardName(j.Out) && (layout == datasets.Folder || layout == datasets.Zip) {
		return fmt.Errorf("data import: %s: found a root, expected none: the paths begin in the folder itself", s.Path)
	}
	guessed := s.Read.Format == "" || s.Read.Format == datasets.Auto
	if err != nil || layout != datasets.File || j.Root.IsZero() && (!guessed || s.Path.IsRemote()) {
		return nil // reading it has told an error
	}
	root, err := imageroot.Open(ctx, imageroot.Resolve(j.Root, s.Path))
	if err == nil && guessed {
		err = d.CheckList(ctx, root)
	}
	var not *datasets.NotThere
	if err == nil && !j.Root.IsZero() {
		if not, err = d.NotIn(ctx, root); not != nil && not.Missing == not.Of {
			err = not
		}
	}
	if err != nil {
		return fmt.Errorf("data import: %s: %w", s.Path, err)
	}
	if not != nil && j.Note != nil {
		j.Note("%s: %v", s.Path, not)
	}
	return nil
}

// oneFolder rejects shards of different folders, because their paths would have different roots.
func (j Job) oneFolder(ctx context.Context) error {
	var first, where location.Source
	for _, s := range j.Sources {
		if layout, _ := datasets.LayoutOf(ctx, s.Path); layout != datasets.Shards {
			continue
		}
		dir := imageroot.Resolve(location.Source{}, s.Path).Clean()
		if first.IsZero() {
			first, where = s.Path, dir
		} else if dir != where {
			return fmt.Errorf("data import: %s and %s are shards in two folders, expected one, that their paths "+
				"begin in: name them by one pattern with quotes around, such as '*/*.tar', or give the folder "+
				"above them", first, s.Path)
		}
	}
	return nil
}

// readPreset reads a known dataset, split by one of its protocols.
func (j Job) readPreset(ctx context.Context) (*gathered, error) {
	preset, err := Find(j.Preset)
	if err != nil {
		return nil, err
	}
	files, err := imageroot.OpenPublished(ctx, j.Root)
	if err != nil {
		return nil, err
	}
	opts := Options{Root: j.Root.String(), Protocol: j.Protocol, Human: j.Human}
	if opts.Labels, err = ReadFile(j.Labels); err != nil {
		return nil, err
	}
	if opts.Corrected, err = ReadFile(j.Corrected); err != nil {
		return nil, err
	}
	if opts.Given, err = ReadListFile(j.Given); err != nil {
		return nil, err
	}
	r, err := preset.Dataset(files, opts)
	if err != nil {
		return nil, err
	}
	if j.Validation > 0 {
		if err := r.Dataset.HoldOut(j.Validation, j.Seed); err != nil {
			return nil, err
		}
	}
	var root fs.FS
	return &gathered{
		Dataset: r.Dataset, read: []SourceRead{},
		root: func(int) (_ fs.FS, err error) {
			if root == nil {
				root, err = imageroot.Open(ctx, j.Root)
			}
			return root, err
		},
		tell: func(out, warnings io.Writer) { r.Write(out, warnings, preset, j.Given) },
	}, nil
}

// writeShards copies the images into shards.
func (j Job) writeShards(ctx context.Context, g *gathered) (done datasets.ShardsWritten, err error) {
	for i := range g.Samples {
		if _, err := g.root(i); err != nil {
			return done, err
		}
	}
	w := datasets.ShardWriter{Name: j.Out, Size: j.ShardSize, Progress: j.Progress, Read: g.files,
		Root: func(i int) fs.FS { root, _ := g.root(i); return root }} // opened above
	return w.Write(ctx, g.Dataset)
}
