package importing

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/internal/catalog"
	"winnow/internal/regular"
)

// Names of protocols. Their meaning depends on the dataset: see each Protocol.
const (
	Official = "official" // the publisher's split
	half     = "half"     // first half of the classes for training, second half for testing, hence unseen
	prism    = "prism"    // PRISM's protocol: separate training, validation and test classes
	usual    = "usual"    // the usual split in papers if the publisher made none
)

// Preset is a published dataset.
type Preset struct {
	Name      string
	Title     string   // for display, with the publishers
	Files     []string // files by which to recognise the dataset, the most typical first; for messages
	Protocols map[string]Protocol
	Default   string   // the protocol used if none is given
	Columns   []string // names of sample.Extra
	Human     []string // names of the sets of human labels, nil if there are none
	Corrects  bool     // whether corrected test labels have been published
	FirstTest int      // number of the first test image in the file of corrected labels
	Packed    bool     // whether the files contain many images each
	// Read lists all labelled images of the folder. For a missing file it returns an error that wraps fs.ErrNotExist;
	// Dataset adds the expected files.
	Read func(fsys fs.FS, opts Options) ([]sample, error)
}

// Options holds what a reader depends on besides the files.
type Options struct {
	Root     string // the folder's name, for messages
	Protocol string // "" means the preset's default; resolved before Read is called
	Human    string // one of the preset's Human label sets, "" for the first; resolved before Read is called
	// Labels are human labels and Corrected are corrected test labels, in files outside the folder; nil if not used.
	Labels, Corrected *File
	// Given is one of PRISM's released training lists, whose labels become the given labels; nil if not used.
	Given *datasets.Dataset

	notes *[]string // the notes of the Result
}

// noteObservation records a harmless observation of a reader.
func (o Options) noteObservation(format string, args ...any) {
	if o.notes != nil {
		*o.notes = append(*o.notes, fmt.Sprintf(format, args...))
	}
}

// File is a file outside the dataset's folder.
type File struct {
	Name string
	Data []byte
}

// maxLabelFile limits the size of a label file, packed and unpacked, in bytes. The largest known file has 3 MB.
const maxLabelFile = 8 << 20

// ReadFile reads a whole file; it returns nil if name is "".
func ReadFile(name string) (*File, error) {
	if name == "" {
		return nil, nil
	}
	data, err := regular.ReadFile(name, maxLabelFile)
	if err != nil {
		return nil, err
	}
	return &File{Name: name, Data: data}, nil
}

// sample is an image as the publisher lists it.
type sample struct {
	Path  string   // relative to the root
	Known string   // "folder/file" that identifies the image in released lists; "" means the end of Path
	Class int      // the publisher's class number, to which a Range refers
	Label string   // class name in the manifest, "" if unlabelled
	True  string   // name of the true class, "" if unknown
	Split string   // official split, "" if there is none
	Extra []string // parallel to Preset.Columns
}

// Protocol is a way to split a dataset.
type Protocol struct {
	Note   string  // where the split comes from, for display
	Ranges []Range // the classes of each split; nil: the publisher's own split
	Counts []count // the published counts
}

// Range assigns the classes First to Last, both included, to a split.
type Range struct {
	Split       string
	First, Last int
}

// count is the published size of a split.
type count struct {
	Split           string
	Images, Classes int
}

// Find returns the preset with this name.
func Find(name string) (Preset, error) {
	return catalog.Find("importing: data set", name, Catalog(), func(p Preset) []string { return []string{p.Name} })
}

// ProtocolNames returns a preset's protocols in text order.
func (p Preset) ProtocolNames() []string { return slices.Sorted(maps.Keys(p.Protocols)) }

// Result is a dataset split by a protocol.
type Result struct {
	Dataset  *datasets.Dataset
	Protocol string
	LeftOut  int // number of images that are in no split of the protocol
	// NotListed counts the training images left out because Options.Given does not list them.
	NotListed int
	Notes     []string // harmless observations
	Warnings  []string // differences from the published numbers, with both numbers
}

// Dataset reads a folder and splits its images by a protocol.
func (p Preset) Dataset(fsys fs.FS, opts Options) (*Result, error) {
	opts.Protocol = cmp.Or(opts.Protocol, p.Default)
	if err := catalog.Check("importing: "+p.Name+": protocol", opts.Protocol, p.ProtocolNames()...); err != nil {
		return nil, err
	}
	protocol := p.Protocols[opts.Protocol]
	r := &Result{Protocol: opts.Protocol, Notes: []string{}}
	opts.notes = &r.Notes
	if opts.Human == "" && len(p.Human) > 0 {
		opts.Human = p.Human[0]
	}
	samples, err := p.Read(fsys, opts)
	if err == nil && opts.Corrected != nil {
		p.Columns = append(slices.Clone(p.Columns), correctedColumn)
		err = correctLabels(samples, *opts.Corrected, p.FirstTest, opts)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: expected the folder of %s, which has %s", err, p.Title, strings.Join(p.Files, ", "))
	}
	for i := range samples {
		if name := samples[i].Path; err == nil && !fs.ValidPath(name) {
			err = fmt.Errorf("path %.80q leaves the dataset's folder", name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("importing: %s: %s: %w", p.Name, opts.Root, err)
	}
	r.LeftOut = len(samples)
	samples = protocol.splitSamples(samples)
	if r.LeftOut -= len(samples); len(samples) == 0 {
		return nil, fmt.Errorf("importing: %s: %s: found %d images, but none in a split of the protocol %s, "+
			"expected the protocol %s", p.Name, opts.Root, r.LeftOut, opts.Protocol,
			strings.Join(p.ProtocolNames(), " or "))
	}
	r.Dataset = assembleDataset(samples, p.Columns)
	r.Warnings = protocol.compareSplitSizes(r.Dataset)
	if opts.Given != nil {
		listed, warnings, err := joinNoisyList(samples, opts.Given)
		if err != nil {
			return nil, fmt.Errorf("importing: %s, %s: %w", p.Name, opts.Protocol, err)
		}
		r.Dataset, r.NotListed = assembleDataset(listed, p.Columns), len(samples)-len(listed)
		r.Warnings = append(r.Warnings, warnings...)
	}
	if !p.Packed {
		r.Warnings = append(r.Warnings, findAbsent(fsys, r.Dataset)...)
	}
	return r, nil
}

// findAbsent returns a warning for each split whose first image does not exist.
func findAbsent(fsys fs.FS, d *datasets.Dataset) (warnings []string) {
	for _, c := range d.Count() {
		name := d.Samples[d.Select(c.Split)[0]].Path
		if _, err := fs.Stat(fsys, name); err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: the first image is missing: %v", c.Split, err))
		}
	}
	return warnings
}

// splitSamples assigns the samples to splits and leaves out samples without a split.
func (p Protocol) splitSamples(samples []sample) []sample {
	kept := make([]sample, 0, len(samples))
	for _, s := range samples {
		if p.Ranges != nil {
			s.Split = ""
			for _, r := range p.Ranges {
				if r.First <= s.Class && s.Class <= r.Last {
					s.Split = r.Split
				}
			}
		}
		if s.Split != "" {
			kept = append(kept, s)
		}
	}
	return kept
}

// compareSplitSizes returns a warning for each split whose size differs from the published size.
func (p Protocol) compareSplitSizes(d *datasets.Dataset) (warnings []string) {
	found := make(map[string]datasets.SplitCount)
	for _, c := range d.Count() {
		found[c.Split] = c
	}
	for _, want := range p.Counts {
		got := found[want.Split]
		if got.Samples != want.Images || got.Classes != want.Classes {
			warnings = append(warnings, fmt.Sprintf("%s: found %d images of %d classes, expected the published %d "+
				"images of %d classes", want.Split, got.Samples, got.Classes, want.Images, want.Classes))
		}
	}
	return warnings
}

// assembleDataset builds a dataset from samples with class names.
func assembleDataset(samples []sample, columns []string) *datasets.Dataset {
	d := &datasets.Dataset{Columns: columns, Samples: make([]datasets.Sample, len(samples))}
	ids := map[string]int{"": datasets.Unlabelled}
	id := func(name string) int {
		n, ok := ids[name]
		if !ok {
			n = len(d.Classes)
			ids[name], d.Classes = n, append(d.Classes, name)
		}
		return n
	}
	for i, s := range samples {
		d.Samples[i] = datasets.Sample{Path: s.Path, Label: id(s.Label), True: id(s.True), Split: s.Split,
			Extra: s.Extra}
	}
	return datasets.Merge(d) // sorts the classes
}

// Write reports what was read to w, and differences from the published numbers as warnings to errs. given is the name
// of the list of noisy labels.
func (r *Result) Write(w, errs io.Writer, preset Preset, given string) {
	fmt.Fprintf(w, "%s, protocol %s: %s\n", preset.Title, r.Protocol, preset.Protocols[r.Protocol].Note)
	r.Dataset.WriteCounts(w)
	if r.LeftOut > 0 {
		fmt.Fprintf(w, "%-10s %7d images, which are in no split of the protocol\n", "left out", r.LeftOut)
	}
	if r.NotListed > 0 {
		fmt.Fprintf(w, "%-10s %7d training images, which %s does not list\n", "left out", r.NotListed, given)
	}
	if r.Dataset.HasTruth(datasets.Train) {
		r.Dataset.Noise(datasets.Train).Write(w, datasets.Train)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, note)
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(errs, "winnow: warning: %s, %s: %s\n", preset.Name, r.Protocol, text)
	}
}
