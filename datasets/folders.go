package datasets

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// ReadFolders reads a folder that has one folder per class. Folders that wrap all images, such as images/, are entered
// first. The folder is read differently in these cases: if it is a Pascal VOC folder, if a COCO file describes the
// images, or if images without class folders have box files (YOLO, Pascal VOC, LabelMe), the boxes are read; a FiftyOne
// file is an error. If it has metadata.csv or metadata.jsonl, the images listed there are read, as in Hugging Face's
// imagefolder. If folders are named after splits (train, val, test, …), the class folders are one level below. Folders
// nested in a class folder belong to that class. Reading lists what was left out: other files, service folders, and
// images outside class folders.
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
	d, err := c.readClasses(at)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	opts.noteReading(name, d.Reading)
	return d, nil
}

// errNoImage reports a folder without images.
var errNoImage = fmt.Errorf("no image found, expected one folder per class with files ending in %s",
	strings.Join(imageNames, ", "))

// byFormat is the command with the flag that chooses a format, for messages.
const byFormat = "winnow data import --format "

// classFolders reads the folders of a listing as classes, or as splits that contain class folders.
type classFolders struct {
	*listing
	name, split string
	format      Format
}

// readClasses reads the class folders of the folder at.
func (c *classFolders) readClasses(at string) (*Dataset, error) {
	tops, loose := c.listTopFolders(at)
	if len(tops) == 0 && loose == 0 {
		return nil, errNoImage
	}
	splits := map[string]string{}
	if c.format != Classes {
		splits = splitFolders(tops)
	}
	var named, deep, others []string // named after splits, containing class folders, all others
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
		return nil, fmt.Errorf("found the folder %s, named after a split, next to %s: two readings are possible. "+
			"Choose with %sfolders (splits) or %[3]sclasses", named[0], others[0], byFormat)
	case len(tops) == 0, len(deep) == 0 && len(named) > 0 && (len(others) == 0 || len(named) > 1):
		return nil, c.explainLoose(cmp.Or(strings.Join(named, " and "), strings.TrimPrefix(at, "."), "it"))
	}
	places, form := []string{at}, classForm
	if len(deep) > 0 {
		places, form = nil, splitForm
		for _, top := range named {
			places = append(places, c.findClasses(at, top))
		}
	}
	r := c.describeListing(form, at, false)
	var parts []*Dataset
	read := map[string]bool{}
	for k, place := range places {
		if err := c.refuseViews(place); err != nil {
			return nil, err
		}
		split := c.split
		if len(deep) > 0 {
			split = splits[named[k]]
		}
		rows, columns, err := c.listClassRows(place, split)
		if err != nil {
			return nil, err
		}
		for _, n := range rows {
			read[n.path] = true
			if dir := path.Dir(n.path); len(columns) == 0 &&
				!slices.Contains([]string{n.label, n.split}, path.Base(dir)) {
				r.Within++
				r.First = cmp.Or(r.First, dir)
			}
		}
		parts = append(parts, buildDataset(rows, columns))
	}
	var left leftList
	for _, p := range c.images {
		rest, ok := cutFolder(p, at)
		top, _, nested := strings.Cut(rest, "/")
		switch {
		case read[p]:
		case !ok:
			left.addOne("beside the classes", "images")
		case len(deep) > 0 && nested && splits[top] == "":
			left.addOne("in no split", "images in "+top)
		default:
			left.addOne("in no class folder", "images")
		}
	}
	if len(read) == 0 {
		return nil, c.explainLoose(strings.Join(tops, " and "))
	}
	d := Merge(parts...)
	r.Alike, r.Left = lookAlikes(d.Classes), append(left.sortReasons(), r.Left...)
	d.Reading = r
	return d, nil
}

// listClassRows returns a row for each image in a class folder; a subfolder named after a split sets the split. If the
// same subfolder names repeat in several folders (of domains, years, folds), the subfolders may be the classes; this
// ambiguity is an error unless a format is given. With [Folders], the subfolders are the classes, and the upper folders
// become a column.
func (c *classFolders) listClassRows(at, split string) (rows []row, columns []string, err error) {
	lower, times, seen := map[string][2]string{}, map[string]int{}, map[[2]string]bool{} // the two by path
	direct, example := 0, ""
	for _, p := range c.images {
		rest, ok := cutFolder(p, at)
		parts := strings.Split(rest, "/")
		if !ok || len(parts) < 2 {
			continue
		}
		r := row{path: p, label: parts[0], split: split}
		parts = slices.DeleteFunc(parts[:len(parts)-1], isNoClass)
		if len(parts) > 1 && c.format != Classes {
			if s, err := ParseSplit(parts[1]); err == nil {
				r.split, parts = s, slices.Delete(parts, 1, 2)
			}
		}
		rows = append(rows, r)
		if len(parts) < 2 {
			direct++
			continue
		}
		upper, class := strings.Join(parts[:len(parts)-1], "/"), parts[len(parts)-1]
		if lower[p] = [2]string{upper, class}; !seen[lower[p]] {
			seen[lower[p]] = true
			times[class]++
		}
		example = cmp.Or(example, p)
	}
	all := len(times)
	maps.DeleteFunc(times, func(_ string, n int) bool { return n < 2 })
	switch {
	case c.format == Classes || len(times) < 2 || 2*len(times) < all || 10*direct > len(rows):
		return rows, nil, nil
	case c.format != Folders:
		return nil, nil, fmt.Errorf("found the folders %s in several others. Two readings are possible: the lower "+
			"folders are the classes (%s is of class %q), or the upper ones (of class %q). Choose with %sfolders "+
			"(lower) or %[5]sclasses (upper)", shortList(slices.Sorted(maps.Keys(times))), example, lower[example][1],
			strings.Split(lower[example][0], "/")[0], byFormat)
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return lower[r.path] == [2]string{} })
	for i := range rows {
		folders := lower[rows[i].path]
		rows[i].label, rows[i].extra = folders[1], []string{folders[0]}
	}
	return rows, []string{domainColumn}, nil
}

// domainColumn is the column with the folder above the class folder, if class folders repeat in several folders.
const domainColumn = "folder"

// splitFolders returns the splits that folders are named after. It accepts split names such as train, and names that
// differ only in the split, such as seg_train and seg_test.
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

// findClasses returns the folder with the class folders of the split folder top. This is top itself, or a folder inside
// it that contains everything and is named like top (seg_train/seg_train) or like an image folder.
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

// explainLoose returns the error for images outside class folders.
func (c *classFolders) explainLoose(where string) error {
	return fmt.Errorf("found images directly in %s and no class folder: put each class into its own folder, or "+
		"write a list with the columns path and label", where)
}

// viewNames lists folder names for views of the same scenes, such as depth maps and masks. They never name classes.
var viewNames = []string{"rgb", "depth", "gt", "ground_truth", "groundtruth", "masks", "labels",
	"annotations", "disparity", "segmentation"}

// refuseViews returns an error for two folders whose images have the same names if one folder is named after a view,
// and for a single folder with an image folder's name.
func (c *classFolders) refuseViews(at string) error {
	tops, _ := c.listTopFolders(at)
	isView := func(name string) bool {
		return isNoClass(name) || slices.Contains(viewNames, strings.ToLower(name))
	}
	if c.format != Auto && c.format != "" || !slices.ContainsFunc(tops, isView) {
		return nil
	}
	if len(tops) == 1 && isNoClass(tops[0]) {
		return c.explainLoose(tops[0])
	}
	names := map[string]map[string]bool{} // image names in each folder, without extensions
	for _, p := range c.images {
		if rest, ok := cutFolder(p, at); ok {
			top, below, _ := strings.Cut(rest, "/")
			if names[top] == nil {
				names[top] = map[string]bool{}
			}
			names[top][strings.TrimSuffix(below, path.Ext(below))] = true
		}
	}
	for i, a := range tops {
		for _, b := range tops[i+1:] {
			same := 0
			for name := range names[a] {
				if names[b][name] {
					same++
				}
			}
			if (isView(a) || isView(b)) && 10*same >= 9*max(len(names[a]), len(names[b])) {
				return fmt.Errorf("found the folders %s and %s with images of the same names, like views of one scene "+
					"or its masks: put each class into its own folder, or write a list with the columns "+
					"path and label. %sclasses reads the folders as classes", path.Join(at, a), path.Join(at, b),
					byFormat)
			}
		}
	}
	return nil
}

// The metadata files of Hugging Face's imagefolder, next to the images or in a folder above them.
const (
	metadataCSV   = "metadata.csv"
	metadataJSONL = "metadata.jsonl"
)

// readImageFolder reads the images listed in the metadata files of a folder, or returns nil if there is no such file.
// It takes the nearest metadata file in at or a folder above or, if there is none, those one level below at.
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
			return nil, fmt.Errorf("%s: found both %s and %s, expected one of them: move the other away",
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
			left.addOne("not listed", "images")
		}
	}
	d.Reading.Left = append(d.Reading.Left, left...)
	return d, nil
}

// readMetadata reads a metadata file, whose paths are relative to its folder. The split comes from the split column or,
// if empty, from the split folder that contains the image or the file. The label comes from the label column or,
// without one, from the image's folder.
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
				return fmt.Errorf("%.200q is outside class folders, and no label column was found: name it by "+
					"%s", r.path, naming)
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
