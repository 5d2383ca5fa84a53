package datasets

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// The files in which Hugging Face's imagefolder stores metadata, next to the images or above them.
const (
	metadataCSV   = "metadata.csv"
	metadataJSONL = "metadata.jsonl"
)

// readImageFolder reads the images listed in the metadata files of a folder, or returns nil if there is none. They are
// in the folders from the root down to at or, if those have none, in the folders directly below.
func (t *listing) readImageFolder(name, at string, opts ReadOptions) (*Dataset, error) {
	in := map[string][]string{} // metadata files by folder
	for _, p := range t.others {
		if path.Base(p) == metadataCSV || path.Base(p) == metadataJSONL {
			in[path.Dir(p)] = append(in[path.Dir(p)], p)
		}
	}
	var files []string
	for dir := at; len(files) == 0; dir = path.Dir(dir) {
		if files = in[dir]; dir == "." {
			break
		}
	}
	if len(files) == 0 {
		for _, top := range t.listFoldersIn(at) {
			files = append(files, in[path.Join(at, top)]...)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	var parts []*Dataset
	listed, dirs := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if dirs[path.Dir(f)] {
			return nil, fmt.Errorf("%s: found %s and %s, expected one of them: move the other away",
				path.Join(name, path.Dir(f)), metadataCSV, metadataJSONL)
		}
		dirs[path.Dir(f)] = true
		d, err := t.readMetadata(f, opts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w. %sfolders takes the folders' names", name, err, byFormat)
		}
		for i := range d.Samples {
			listed[d.Samples[i].Path] = true
		}
		parts = append(parts, d)
	}
	d := Merge(parts...)
	form := "an imagefolder, by its " + path.Base(files[0])
	d.Reading = t.describeListing(form, at, true)
	d.Reading.Alike = lookAlikes(d.Classes)
	var left leftList
	for _, p := range t.images {
		if !listed[p] {
			left.add("not listed", "pictures")
		}
	}
	d.Reading.Left = append(d.Reading.Left, left...)
	return d, nil
}

// readMetadata reads a metadata file. Its paths are relative to its folder. Splits come from a column split, or else
// from the train, validation or test folder that contains the image or the file; labels come from a column, or else
// from the folder of the image.
func (t *listing) readMetadata(file string, options ReadOptions) (*Dataset, error) {
	in, err := t.fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	unlabelled := false
	opts := reading{ReadOptions: options, unlabelled: &unlabelled}
	opts.Names.Path = cmp.Or(opts.Names.Path, fileName)
	dir := path.Dir(file)
	above, _ := ParseSplit(path.Base(dir)) // the split whose folder contains the file
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
		r.path = path.Join(dir, r.path)
		return nil
	}
	if opts.Format = CSV; path.Base(file) == metadataJSONL {
		opts.Format = JSONL
	}
	return opts.readAnyManifest(in, file)
}
