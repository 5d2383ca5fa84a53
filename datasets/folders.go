package datasets

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
)

// ReadFolders reads a folder with one folder per class. If it is a Pascal VOC folder, if a file of COCO describes the
// pictures, or if pictures without class folders have files of boxes (YOLO, Pascal VOC, LabelMe), it reads the
// boxes. If it holds metadata.csv or .jsonl, it reads what that lists, as Hugging Face's imagefolder does. If
// folders are named after splits (train, val, test, …), the class folders are one level below. Folders that wrap all images, such as
// images/, are entered. Reading lists what was left out: other files, folders of services, pictures in no class folder.
// Nested folders belong to their class folder.
func ReadFolders(fsys fs.FS, name string, opts ReadOptions) (*Dataset, error) {
	if opts.StripPrefix != "" {
		return nil, fmt.Errorf("datasets: %s: found a prefix to strip, %q, expected none: paths are relative to "+
			"the folder", name, opts.StripPrefix)
	}
	var err error
	if opts.Split, err = ParseSplit(cmp.Or(opts.Split, Train)); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	ctx := opts.getContext()
	t, err := listTree(ctx, fsys)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	at := t.unwrapFolders(".")
	if opts.Format != Folders && opts.Format != Classes {
		var d *Dataset
		d, err = t.readImageFolder(name, at, opts)
		if d == nil && err == nil {
			d, err = t.readFolderBoxes(ctx, at, name, opts)
		}
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		if d != nil {
			opts.noteReading(name, d.Reading,
				"read as "+d.Reading.Form+" ("+byFormat+"folders takes the folders' names)")
			return d, nil
		}
	}
	if opts.hasColumnNames() {
		return nil, fmt.Errorf("datasets: %s: found column names, expected none: it is a folder of class folders, "+
			"not a table", name)
	}
	c := classFolders{listing: t, name: name, split: opts.Split, format: opts.Format}
	d, err := c.read(at)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	opts.noteReading(name, d.Reading)
	return d, nil
}

// errNoImage reports a folder without images.
var errNoImage = fmt.Errorf("no image found, expected one folder per class with files ending in %s",
	strings.Join(imageNames, ", "))

// byFormat names the way to choose a format.
const byFormat = "winnow data import --format "

// classFolders reads the folders of a listing as classes, or as splits that hold them.
type classFolders struct {
	*listing
	name, split string
	format      Format
}

// read reads the folders at a place.
func (c *classFolders) read(at string) (*Dataset, error) {
	tops, loose := c.listTopFolders(at)
	if len(tops) == 0 && loose == 0 {
		return nil, errNoImage
	}
	splits := map[string]string{}
	if c.format != Classes {
		splits = splitFolders(tops)
	}
	var named, deep, others []string // folders named after splits, those that hold class folders, and all others
	for _, top := range tops {
		if splits[top] == "" {
			others = append(others, top)
			continue
		}
		named = append(named, top)
		if inner, _ := c.listTopFolders(c.findClasses(at, top)); len(inner) > 0 {
			deep = append(deep, top)
		}
	}
	switch {
	case len(deep) > 0 && len(others) > 0 && len(named) == 1 && c.format != Folders:
		return nil,
			fmt.Errorf("found the folder %s, named after a split, next to %s: two readings are possible. Choose "+
				"with %sfolders (splits) or %[3]sclasses", named[0], others[0], byFormat)
	case len(tops) == 0, len(deep) == 0 && len(named) > 0 && (len(others) == 0 || len(named) > 1):
		return nil, c.explainLoose(cmp.Or(strings.Join(named, " and "), strings.TrimPrefix(at, "."), "it"))
	}
	places, form := []string{at}, "class folders"
	if len(deep) > 0 {
		places, form = nil, "class folders in splits"
		for _, top := range named {
			places = append(places, c.findClasses(at, top))
		}
	}
	r := c.describeListing(form, at, false)
	var rows []row
	read := map[string]bool{}
	for k, place := range places {
		if err := c.refuseViews(place); err != nil {
			return nil, err
		}
		split := c.split
		if len(deep) > 0 {
			split = splits[named[k]]
		}
		for _, n := range c.listClassRows(place, split) {
			rows, read[n.path] = append(rows, n), true
		}
	}
	var left leftList
	for _, p := range c.images {
		rest, ok := cutFolder(p, at)
		top, _, nested := strings.Cut(rest, "/")
		switch {
		case read[p]:
		case !ok:
			left.add("beside the classes", "pictures")
		case len(deep) > 0 && nested && splits[top] == "":
			left.add("in no split", "pictures in "+top)
		default:
			left.add("in no class folder", "pictures")
		}
	}
	if len(rows) == 0 {
		return nil, c.explainLoose(strings.Join(tops, " and "))
	}
	d := buildDataset(rows, nil)
	r.Alike, r.Left = lookAlikes(d.Classes), append(left.sorted(), r.Left...)
	d.Reading = r
	return d, nil
}

// listClassRows returns a row for each image in a class folder. A folder in it that is named after a split is one.
func (c *classFolders) listClassRows(at, split string) (rows []row) {
	for _, p := range c.images {
		rest, ok := cutFolder(p, at)
		parts := strings.Split(rest, "/")
		if !ok || len(parts) < 2 {
			continue
		}
		r := row{path: p, label: parts[0], split: split}
		if s, err := ParseSplit(parts[1]); err == nil && len(parts) > 2 && c.format != Classes {
			r.split = s
		}
		rows = append(rows, r)
	}
	return rows
}

// splitFolders returns the splits that folders are named after: train, or seg_train next to seg_test, whose names
// differ in nothing else.
func splitFolders(tops []string) map[string]string {
	splits, stems := map[string]string{}, map[string][]string{}
	for _, top := range tops {
		split := splitOfName(top)
		if s, err := ParseSplit(top); err == nil {
			splits[top] = s
		} else if split != "" {
			var words []string
			for word := range strings.FieldsFuncSeq(strings.ToLower(top),
				func(r rune) bool { return !unicode.IsLetter(r) }) {
				if _, err := ParseSplit(word); err != nil {
					words = append(words, word)
				}
			}
			stem := strings.Join(words, " ")
			stems[stem] = append(stems[stem], top)
		}
	}
	for _, same := range stems {
		different := map[string]bool{}
		for _, top := range same {
			different[splitOfName(top)] = true
		}
		for _, top := range same {
			if len(different) == len(same) && len(same) > 1 {
				splits[top] = splitOfName(top)
			}
		}
	}
	return splits
}

// findClasses returns the folder that holds the classes of a split: its own or, where a folder of the same name or one
// of pictures holds all of it, as in seg_train/seg_train, that one.
func (c *classFolders) findClasses(at, top string) string {
	place := path.Join(at, top)
	for {
		inner, loose := c.listTopFolders(place)
		if len(inner) != 1 || loose > 0 || !strings.EqualFold(inner[0], top) && !isNoClass(inner[0]) {
			return place
		}
		place = path.Join(place, inner[0])
	}
}

// explainLoose is the error for pictures that are in no class folder.
func (c *classFolders) explainLoose(where string) error {
	return fmt.Errorf("found pictures directly in %s and no class folder: put those of each class into a folder, or "+
		"write a list with the columns path and label%s", where, c.nameLists())
}

// viewWords are the words in the names of folders that hold views of the same scenes: pictures, depths, masks.
var viewWords = []string{"rgb", "depth", "depths", "gt", "ground", "truth", "groundtruth", "mask", "masks", "label",
	"labels", "image", "images", "img", "imgs", "annotations", "seg", "segmentation", "semantic", "instances",
	"disparity", "thermal", "infrared", "nir", "input", "target"}

func isView(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	return isNoClass(name) || len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
		return !slices.Contains(viewWords, w)
	})
}

// refuseViews returns an error for two folders that are named after views of a scene and hold pictures of the same
// names, and for a single folder called images.
func (c *classFolders) refuseViews(at string) error {
	if c.format != Auto && c.format != "" {
		return nil
	}
	tops, _ := c.listTopFolders(at)
	stems := map[string]map[string]bool{} // names of pictures without their endings, by folder
	for _, p := range c.images {
		rest, _ := cutFolder(p, at)
		top, below, _ := strings.Cut(rest, "/")
		if stems[top] == nil {
			stems[top] = map[string]bool{}
		}
		stems[top][strings.TrimSuffix(below, path.Ext(below))] = true
	}
	if len(tops) == 1 && isNoClass(tops[0]) {
		return c.explainLoose(tops[0])
	}
	for i, a := range tops {
		for _, b := range tops[i+1:] {
			same := 0
			for stem := range stems[a] {
				if stems[b][stem] {
					same++
				}
			}
			if isView(a) && isView(b) && 2*same > min(len(stems[a]), len(stems[b])) {
				return fmt.Errorf("found the folders %s and %s with pictures of the same names, as views of one scene "+
					"or its masks: put the pictures of each class into a folder, or write a list with columns path "+
					"and label. %sclasses reads the folders as classes", a, b, byFormat)
			}
		}
	}
	return nil
}

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
