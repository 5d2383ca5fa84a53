// Package published reads datasets from the files in which they are published, unpacked, and gives their samples
// the splits of the papers. Each dataset has its own file and a line in Catalog.
//
// A Preset reads all labelled images; a Protocol assigns them to splits and knows the published counts. Classes
// have the publisher's numbers, which the papers' "classes 1-100" refers to. Paths are relative to the folder that
// was read. No image is decoded.
//
// The package imports datasets, datasets/cifar, datasets/matfile, datasets/mnist and internal/jsontext.
package published

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/internal/catalog"
)

// Names of protocols. Their meaning differs by dataset: see each Protocol.
const (
	Official = "official" // the publisher's split
	half     = "half"     // the first half of the classes trains, the other half tests: retrieval of unseen classes
	prism    = "prism"    // PRISM's: separate training, validation and test classes
	Coarse   = "coarse"   // the publisher's split, labelled by superclasses
	usual    = "usual"    // the split that papers draw if the publisher made none
)

// Preset is a published dataset.
type Preset struct {
	Name      string
	Title     string   // for display, with the publishers
	Files     []string // files that show that a folder holds the dataset, for messages, the most telling first
	Protocols map[string]Protocol
	Default   string   // the protocol used if none is named
	Columns   []string // names of sample.Extra
	Human     []string // names of its sets of human labels, nil if it has none
	Corrects  bool     // corrected test labels have been published for it
	FirstTest int      // the number of its first test image in the corrected labels
	Packed    bool     // the images are inside the files, not in files of their own
	// Read lists all labelled images of the folder. The error about a missing file wraps fs.ErrNotExist; Dataset
	// adds what was expected and what the folder holds.
	Read func(fsys fs.FS, opts Options) ([]sample, error)
}

// Options are what a reader may depend on besides the files.
type Options struct {
	Root     string // the folder's name, for messages
	Protocol string // "" means the preset's default; resolved before Read is called
	Human    string // one of the preset's Human label sets, "" for the first; resolved before Read is called
	// Labels are human labels and Corrected are corrected test labels, in files outside the folder; nil if there
	// are none.
	Labels, Corrected *File
	// Given is one of PRISM's released training lists, whose labels become the given ones; nil if there is none.
	Given *datasets.Dataset

	notes *[]string // of the Result
}

// File is a file outside a dataset's folder.
type File struct {
	Name string
	Data []byte
}

// noteObservation records a harmless observation of a reader.
func (o Options) noteObservation(format string, args ...any) {
	if o.notes != nil {
		*o.notes = append(*o.notes, fmt.Sprintf(format, args...))
	}
}

// sample is an image as its publisher lists it.
type sample struct {
	Path  string   // relative to the root
	Known string   // "folder/file" that identifies the image in released lists; "" if that is the end of Path
	Class int      // the publisher's number of its class, to which a Range refers
	Label string   // name of the class in the manifest, "" if it has none
	True  string   // name of its true class, "" if unknown
	Split string   // official split, "" if there is none
	Extra []string // parallel to Preset.Columns
}

// Protocol is a way to split a dataset.
type Protocol struct {
	Note   string  // where the split comes from, for display
	Ranges []Range // which classes belong to which split; none: the publisher's own split
	Counts []count // the published counts
}

// Range assigns the classes First to Last, both included, to a split.
type Range struct {
	Split       string
	First, Last int
}

// count is the published size of a split; 0 means that it was not published.
type count struct {
	Split           string
	Images, Classes int
}

// Find returns the preset with a name.
func Find(name string) (Preset, error) {
	return catalog.Find("published: data set", name, Catalog(), func(p Preset) []string { return []string{p.Name} })
}

// ProtocolNames lists a preset's protocols in order.
func (p Preset) ProtocolNames() []string { return slices.Sorted(maps.Keys(p.Protocols)) }

// Result is a dataset split by a protocol.
type Result struct {
	Dataset  *datasets.Dataset
	Protocol string
	LeftOut  int // images that are in no split of the protocol
	// NotListed counts the training images that are not in Options.Given; they are left out too.
	NotListed int
	Notes     []string // harmless observations
	Warnings  []string // differences from what was published, with both numbers
}

// Dataset reads a folder and splits it by a protocol.
func (p Preset) Dataset(fsys fs.FS, opts Options) (*Result, error) {
	opts.Protocol = cmp.Or(opts.Protocol, p.Default)
	if err := catalog.Check("published: "+p.Name+": protocol", opts.Protocol, p.ProtocolNames()...); err != nil {
		return nil, err
	}
	protocol := p.Protocols[opts.Protocol]
	notes := []string{}
	opts.notes = &notes
	if opts.Human == "" && len(p.Human) > 0 {
		opts.Human = p.Human[0]
	}
	samples, err := p.Read(fsys, opts)
	if err == nil && opts.Corrected != nil {
		p.Columns = append(slices.Clone(p.Columns), correctedColumn)
		err = correctLabels(samples, *opts.Corrected, p.FirstTest, opts)
	}
	// Packed readers have their own error for a missing file.
	if errors.Is(err, fs.ErrNotExist) || err != nil && p.Packed && !p.hasPresetFiles(fsys) {
		err = p.explainElsewhere(fsys, err)
	}
	if err != nil {
		return nil, fmt.Errorf("published: %s: %s: %w", p.Name, opts.Root, err)
	}
	found := len(samples)
	samples = protocol.splitSamples(samples)
	if len(samples) == 0 {
		return nil, fmt.Errorf("published: %s: %s: found %d images, none of them in a split of the protocol %s, "+
			"expected one of %s", p.Name, opts.Root, found, opts.Protocol, strings.Join(p.ProtocolNames(), ", "))
	}
	d := assembleDataset(samples, p.Columns)
	r := &Result{Dataset: d, Protocol: opts.Protocol, LeftOut: found - len(samples), Notes: notes,
		Warnings: protocol.compareSplitSizes(d)}
	if opts.Given != nil {
		j, err := joinNoisyList(samples, opts.Given)
		if err != nil {
			return nil, fmt.Errorf("published: %s, %s: %w", p.Name, opts.Protocol, err)
		}
		r.Dataset, r.NotListed = assembleDataset(j.samples, p.Columns), len(samples)-len(j.samples)
		r.Warnings = append(r.Warnings, j.warnings...)
	}
	if w := describeAbsent(fsys, p, r.Dataset); w != "" {
		r.Warnings = append(r.Warnings, w)
	}
	return r, nil
}

// splitSamples assigns the samples to their splits and leaves out those that have none.
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

// compareSplitSizes reports splits whose sizes differ from the published ones.
func (p Protocol) compareSplitSizes(d *datasets.Dataset) []string {
	found := make(map[string]datasets.SplitCount)
	for _, c := range d.Count() {
		found[c.Split] = c
	}
	var warnings []string
	for _, want := range p.Counts {
		got := found[want.Split]
		if want.Images != 0 && got.Samples != want.Images {
			warnings = append(warnings, fmt.Sprintf("%s: found %d images, expected %d as published", want.Split,
				got.Samples, want.Images))
		}
		if want.Classes != 0 && got.Classes != want.Classes {
			warnings = append(warnings, fmt.Sprintf("%s: found %d classes, expected %d as published", want.Split,
				got.Classes, want.Classes))
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
	dropEmpty(d)
	return datasets.Merge(d) // sorts the classes
}

// dropEmpty removes the columns for which no sample has a value.
func dropEmpty(d *datasets.Dataset) {
	var kept []int
	for c := range d.Columns {
		if slices.ContainsFunc(d.Samples,
			func(s datasets.Sample) bool { return c < len(s.Extra) && s.Extra[c] != "" }) {
			kept = append(kept, c)
		}
	}
	if len(kept) == len(d.Columns) {
		return
	}
	var columns []string
	for _, c := range kept {
		columns = append(columns, d.Columns[c])
	}
	for i := range d.Samples {
		var extra []string
		for _, c := range kept {
			extra = append(extra, d.Samples[i].Extra[c])
		}
		d.Samples[i].Extra = extra
	}
	d.Columns = columns
}
