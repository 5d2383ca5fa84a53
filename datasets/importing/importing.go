// Package importing reads images and labels from sources or a published dataset, splits them, and writes a manifest.
//
// A published dataset is read from its original, unpacked files and gets the splits used in papers. A Preset reads all
// its labelled images; a Protocol assigns them to splits and has the published counts. Classes have the publisher's
// numbers, to which phrases such as "classes 1-100" refer. No image is decoded.
package importing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/internal/text"
)

// Job describes what to read, how to split it, and where to write the manifest.
type Job struct {
	Out  string // file name of the manifest
	Seed uint64

	Sources []Source         // if Preset is ""
	Shares  []datasets.Share // nil: keep the sources' splits
	ByImage bool             // distribute images of each class instead of whole classes

	Preset     string          // name of a known dataset, or ""
	Root       location.Source // folder of the dataset's files or of the lists' paths; zero: each source's own
	Protocol   string
	Human      string
	Labels     string // file of human labels
	Corrected  string // file of corrected test labels
	Given      string // list of noisy labels
	Validation float64

	JSON bool // report as JSON
	Note func(format string, args ...any)
}

// Source is a folder or file to read.
type Source struct {
	Path location.Source
	Read datasets.ReadOptions
}

// Report describes what was read and written.
type Report struct {
	Out     string                `json:"out"`
	Splits  []datasets.SplitCount `json:"splits"`
	Sources []SourceRead          `json:"sources"` // empty for a known dataset
}

// SourceRead describes how a source was read.
type SourceRead struct {
	Source string `json:"source"`
	*datasets.Reading
}

// gathered is the result of reading a job's sources or dataset.
type gathered struct {
	*datasets.Dataset
	read []SourceRead
	tell func(out, warnings io.Writer) // reports the content
}

// Run reads, splits and writes the dataset. It reports to out; differences from published numbers go to warnings.
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
	if err := datasets.WriteFile(j.Out, g.Dataset, j.Note); err != nil {
		return err
	}
	if j.JSON {
		return text.JSON(out, Report{j.Out, g.Count(), g.read})
	}
	g.tell(out, warnings)
	return nil
}

// readSources reads folders and files, and splits their images.
func (j Job) readSources(ctx context.Context) (*gathered, error) {
	var parts []*datasets.Dataset
	var part []int // the source of each sample
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
	}
	g.Dataset = datasets.Merge(parts...)
	if err := j.readOnce(ctx, g.Dataset, part); err != nil {
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

// readOnce leaves out samples that repeat a sample of another source; part holds the source of each sample. A manifest
// has a single root, so equal paths below different folders, and shards in different folders, are errors.
func (j Job) readOnce(ctx context.Context, d *datasets.Dataset, part []int) error {
	if len(j.Sources) < 2 {
		return nil
	}
	roots, shards := map[location.Source]bool{}, false
	for _, s := range j.Sources {
		root := location.Source{} // for lists, whose common root is given later
		layout, _ := datasets.LayoutOf(ctx, s.Path)
		if layout != datasets.File {
			root = imageroot.Resolve(j.Root, s.Path).Clean()
		}
		roots[root], shards = true, shards || layout == datasets.Shards
	}
	if len(roots) > 1 && shards {
		return errors.New("data import: found shards in several folders: give one quoted name pattern for all " +
			"of them, such as '*/*.tar', or give the folder above them")
	}
	first := make([]int, len(j.Sources)) // the first sample of each source
	for i := range slices.Backward(part) {
		first[part[i]] = i
	}
	notes, err := d.ReadOnce(func(i int) string {
		n := part[i]
		return fmt.Sprintf("row %d of %s", i-first[n]+1, j.Sources[n].Path)
	}, false)
	if err == nil && len(notes) > 0 && len(roots) > 1 {
		err = fmt.Errorf("%s: the paths start from different folders: give the folder above them", notes[0])
	}
	if err != nil {
		return fmt.Errorf("data import: %w", err)
	}
	for _, line := range notes {
		if j.Note != nil {
			j.Note("%s", line)
		}
	}
	return nil
}

// checkPicturesExist checks whether the images of a list exist. It checks lists without a header, unless the user gave
// the format, and every list for which the user gave a root.
func (j Job) checkPicturesExist(ctx context.Context, s Source, d *datasets.Dataset) error {
	layout, err := datasets.LayoutOf(ctx, s.Path)
	if !j.Root.IsZero() && (layout == datasets.Folder || layout == datasets.Zip) {
		return fmt.Errorf("data import: %s: found a root, expected none: paths start from the folder itself", s.Path)
	}
	guessed := s.Read.Format == "" || s.Read.Format == datasets.Auto
	if err != nil || layout != datasets.File || j.Root.IsZero() && (!guessed || s.Path.IsRemote()) {
		return nil // reading the source reported any error
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

// readPreset reads a known dataset and splits it by one of its protocols.
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
		r.Dataset.HoldOut(j.Validation, j.Seed)
	}
	return &gathered{
		Dataset: r.Dataset, read: []SourceRead{},
		tell: func(out, warnings io.Writer) { r.Write(out, warnings, preset, j.Given) },
	}, nil
}
