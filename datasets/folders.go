package datasets

import (
	"archive/zip"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"

	"winnow/datasets/location"
	"winnow/internal/regular"
)

// imageNames are the file endings that a folder import takes for images; their content is checked later. otherNames
// are image formats that cannot be read; they are taken too, so that they are reported rather than ignored.
var (
	imageNames = []string{".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".jpe", ".jfif"}
	otherNames = []string{".tif", ".tiff", ".heic", ".heif", ".avif", ".jxl", ".jp2"}
)

// isImageName reports whether a path has the ending of an image.
func isImageName(p string) bool {
	end := strings.ToLower(path.Ext(p))
	return slices.Contains(imageNames, end) || slices.Contains(otherNames, end)
}

// readZip reads the folder that a zip file holds.
func readZip(source location.Source, opts ReadOptions) (*Dataset, error) {
	f, err := source.Open(opts.getContext())
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	root, err := OpenZip(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", source, err)
	}
	return ReadFolders(root, source.String(), opts)
}

// OpenZip opens a zip file as a folder. Names with backslashes, as some programs of Windows write them, are read as
// paths.
func OpenZip(f io.ReaderAt, size int64) (*zip.Reader, error) {
	var head [64]byte
	if n, _ := f.ReadAt(head[:], 0); regular.Pointer(head[:n]) != nil {
		return nil, regular.Pointer(head[:n])
	}
	r, err := zip.NewReader(f, size)
	if err != nil {
		return nil, err
	}
	for _, file := range r.File {
		if !strings.Contains(file.Name, "/") {
			file.Name = strings.ReplaceAll(file.Name, `\`, "/")
		}
	}
	return r, nil
}

// ReadFolders reads a folder with one folder per class. If it is a Pascal VOC folder, if a file describes the pictures
// (FiftyOne, tables with boxes), or if pictures without class folders have files of boxes beside them
// (YOLO, Pascal VOC, LabelMe), it reads the boxes. If it holds metadata.csv,
// .jsonl or .parquet with a column file_name, it reads what that lists, as Hugging Face's imagefolder does; with files
// of COCO's form, or _classes.csv, as Roboflow writes it, those boxes or labels. If pictures are named as
// those of Market-1501, their persons are the classes. If folders are named after splits (train, val, test, …),
// the class folders are one level below. Folders that wrap all images, such as images/, are entered. Reading says what
// was left out: other files, folders of services, pictures in no class folder. Nested folders belong to their class
// folder. A folder whose name is not UTF-8 cannot be opened; it is listed in place of its images.
func ReadFolders(fsys fs.FS, name string, opts ReadOptions) (*Dataset, error) {
	if opts.StripPrefix != "" {
		return nil, fmt.Errorf("datasets: %s: found a prefix to strip, %q, expected none: paths are relative to "+
			"the folder", name, opts.StripPrefix)
	}
	opts.Split = cmp.Or(opts.Split, Train)
	split, err := ParseSplit(opts.Split)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	ctx := opts.getContext()
	t, err := listTree(ctx, fsys)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	at := t.unwrapFolders()
	if opts.Format != Folders && opts.Format != Classes {
		var d *Dataset
		if opts.Format != Boxes {
			if d, err = imageFolder(ctx, t, name, at, opts); d != nil || err != nil {
				return d, err
			}
		}
		opts := opts
		opts.Split = split
		d, err = readCOCOFolder(t, name, opts)
		if d == nil && err == nil {
			d, err = t.readFolderBoxes(ctx, at, name, opts)
		}
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		if d == nil && opts.Format == Boxes {
			return nil, fmt.Errorf("datasets: %s: found no files of boxes, expected those of YOLO, Pascal VOC, "+
				"LabelMe, FiftyOne, COCO or a table", name)
		}
		if d != nil {
			opts.noteLines(name, append([]string{"read as " + d.Reading.Form}, d.Reading.Lines()...))
			return d, nil
		}
	}
	if opts.hasColumnNames() {
		return nil, fmt.Errorf("datasets: %s: found column names, expected none: it is a folder of class folders, "+
			"not a table", name)
	}
	if opts.Format != Folders && opts.Format != Classes {
		d, err := t.readPersons(name, at, split)
		if err := cmp.Or(err, t.refuseFamousSet(name)); err != nil {
			return nil, err
		}
		if d != nil {
			opts.noteLines(name, append([]string{"read as " + d.Reading.Form}, d.Reading.Lines()...))
			return d, nil
		}
	}
	d, err := t.readClassFolders(name, at, split, opts.Format)
	preset := t.describePublished(name)
	if err != nil && preset != "" {
		return nil, fmt.Errorf("%w. It %s", err, preset)
	} else if err != nil {
		return nil, err
	}
	if opts.noteLines(name, d.Reading.Lines()); preset != "" {
		opts.noteLines(name, []string{preset})
	}
	return d, nil
}

// noteLines notes lines about a source.
func (o ReadOptions) noteLines(name string, lines []string) {
	for _, line := range lines {
		if o.Note != nil {
			o.Note("%s: %s", name, line)
		}
	}
}

// readClassFolders reads the folders at a place as classes, or as splits that hold them.
func (t *listing) readClassFolders(name, at, split string, format Format) (*Dataset, error) {
	tops, loose := t.listTopFolders(at)
	for _, top := range tops { // masks of the same classes may stand beside the folder images
		if format != Classes && t.holdsClasses(at, top, tops) {
			d, err := t.readClassFolders(name, t.findImagesFolder(path.Join(at, top)), split, format)
			if err == nil {
				d.Reading.Left = append(d.Reading.Left, t.leftBeside(at, top)...)
			}
			return d, err
		}
	}
	if len(tops) == 0 {
		if loose == 0 {
			return nil, cmp.Or(t.refuseForeignStore(name), error(&noImage{name}))
		}
		return nil, t.explainLoose(name, loose, cmp.Or(strings.TrimPrefix(at, "."), "it"))
	}
	splits := splitFolders(tops)
	var others, deep, named []string // folders that are no splits, the splits that hold class folders, all splits
	for _, top := range tops {
		if splits[top] == "" {
			others = append(others, top)
			continue
		}
		named = append(named, top)
		if inner, _ := t.listTopFolders(t.findClassesFolder(at, top)); len(inner) > 0 {
			deep = append(deep, top)
		}
	}
	asSplits := len(deep) > 0 && format != Classes
	switch {
	case format == Classes:
	case asSplits && len(others) > 0 && len(named) == 1 && format != Folders:
		return nil, t.refuseAmbiguousFolder(name, at, named[0], others[0])
	case !asSplits && len(named) > 0 && (len(others) == 0 || len(named) > 1):
		return nil, fmt.Errorf("datasets: %s: found pictures directly in %s and no class folders there: put those of "+
			"each class into a folder, or write a list with the columns path and label%s", name,
			strings.Join(named, " and "), t.nameLists())
	}
	var parts []*Dataset
	left := map[Left]int{}
	places := []string{at}
	if asSplits {
		places = nil
		for _, top := range named {
			places = append(places, t.findClassesFolder(at, top))
		}
	}
	read := map[string]bool{}
	n, within, example, form := 0, 0, "", "class folders"
	for k, place := range places {
		c := classFolders{t: t, name: name, at: place, split: split, format: format}
		if asSplits {
			c.split, form = splits[named[k]], "class folders in splits"
		}
		rows, columns, err := c.listFolderRows()
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			read[r.path] = true
			if dir := path.Dir(r.path); path.Base(dir) != r.label && len(columns) == 0 && path.Base(dir) != r.split {
				if within++; within == 1 {
					example = dir
				}
			}
		}
		parts, n = append(parts, buildDataset(rows, columns)), n+len(rows)
	}
	loose = 0
	for _, p := range t.images {
		rest, ok := cutFolder(p, at)
		top, _, nested := strings.Cut(rest, "/")
		switch {
		case read[p]:
		case !ok:
			left[Left{Reason: "beside the classes", Of: "pictures"}]++
		case asSplits && nested && splits[top] == "":
			left[Left{Reason: "in no split", Of: "pictures in " + top}]++
		default:
			loose++
			left[Left{Reason: "in no class folder", Of: "pictures"}]++
		}
	}
	if n == 0 && loose > 0 {
		return nil, t.explainLoose(name, loose, strings.Join(tops, " and "))
	} else if n == 0 {
		return nil, &noImage{name}
	}
	d := Merge(parts...)
	d.Reading = t.describeListing(form, at, d.Classes)
	d.Reading.Within, d.Reading.First = within, example
	d.Reading.Left = append(countReasons(left), d.Reading.Left...)
	return d, nil
}

// splitFolders returns the splits that folders are named after: train, or seg_train beside seg_test, whose names differ
// in nothing else.
func splitFolders(tops []string) map[string]string {
	splits, stems := map[string]string{}, map[string][]string{}
	for _, top := range tops {
		if split, err := ParseSplit(top); err == nil {
			splits[top] = split
		} else if split := splitOfName(top); split != "" {
			stem := strings.ToLower(strings.Join(strings.FieldsFunc(top, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r)
			}), " "))
			for word := range strings.FieldsSeq(stem) {
				if _, err := ParseSplit(strings.Trim(word, "0123456789")); err == nil {
					stem = strings.ReplaceAll(stem, strings.Trim(word, "0123456789"), "*")
				}
			}
			stems[stem] = append(stems[stem], top)
		}
	}
	for _, same := range stems {
		different := map[string]bool{}
		for _, top := range same {
			different[splitOfName(top)] = true
		}
		if len(different) == len(same) && len(same) > 1 {
			for _, top := range same {
				splits[top] = splitOfName(top)
			}
		}
	}
	return splits
}

// findClassesFolder returns the folder that holds the classes of a split: its own or, where a folder of the same name
// or one of pictures holds all of it, as in seg_train/seg_train, that one.
func (t *listing) findClassesFolder(at, top string) string {
	place := path.Join(at, top)
	for {
		inner, loose := t.listTopFolders(place)
		if len(inner) != 1 || loose > 0 || !strings.EqualFold(inner[0], top) && !isNoClass(inner[0]) {
			return place
		}
		place = path.Join(place, inner[0])
	}
}

// holdsClasses reports whether a folder is named images or the like and holds the class folders, and those beside it
// hold no others, as masks and thumbnails do.
func (t *listing) holdsClasses(at, top string, beside []string) bool {
	folder := t.findImagesFolder(path.Join(at, top))
	inner, _ := t.listTopFolders(folder)
	if !isPictureFolder(path.Base(folder)) || len(inner) < 2 {
		return false
	}
	for _, other := range beside {
		place := t.findImagesFolder(path.Join(at, other))
		names, loose := t.listTopFolders(place)
		if loose > 0 && other != top || other != top && isPictureFolder(path.Base(place)) || slices.ContainsFunc(names,
			func(n string) bool { return !slices.Contains(inner, n) }) {
			return false
		}
	}
	return true
}

// findImagesFolder returns the folder that holds the images of a folder, if it is alone there and its name is no
// split's.
func (t *listing) findImagesFolder(at string) string {
	for {
		inner, loose := t.listTopFolders(at)
		if len(inner) != 1 || loose > 0 {
			return at
		}
		if _, err := ParseSplit(inner[0]); err == nil {
			return at
		}
		at = path.Join(at, inner[0])
	}
}

// explainLoose is the error for pictures that are in no class folder.
func (t *listing) explainLoose(name string, n int, where string) error {
	return fmt.Errorf("datasets: %s: found %d pictures directly in %s and no class folder: put those of each class "+
		"into a folder, or write a list with the columns path and label%s", name, n, where, t.nameLists())
}

// isNoClass reports whether a folder of pictures has a name that no class has.
func isNoClass(name string) bool {
	return isPictureFolder(name) && !strings.EqualFold(name, "photos") && !strings.EqualFold(name, "pictures")
}

// countReasons lists reasons with their counts.
func countReasons(left map[Left]int) []Left {
	list := []Left{}
	for l, n := range left {
		l.Files = n
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b Left) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Of, b.Of))
	})
	return list
}

// leftBeside counts the pictures in the folders beside one that was read.
func (t *listing) leftBeside(at, read string) []Left {
	left := map[Left]int{}
	for _, p := range t.images {
		if rest, ok := cutFolder(p, at); ok {
			if top, _, deep := strings.Cut(rest, "/"); deep && top != read {
				left[Left{Reason: "beside " + read, Of: "pictures in " + top}]++
			}
		}
	}
	return countReasons(left)
}

// refuseAmbiguousFolder is the error for a folder named after a split that holds class folders, beside folders of other
// names.
func (t *listing) refuseAmbiguousFolder(name, at, split, other string) error {
	example := func(top string) string {
		for _, p := range t.images {
			if rest, ok := cutFolder(p, path.Join(at, top)); ok && strings.Contains(rest, "/") || ok && top == other {
				return p
			}
		}
		return ""
	}
	first, second := example(split), example(other)
	class, _, _ := strings.Cut(strings.TrimPrefix(first, path.Join(at, split)+"/"), "/")
	return fmt.Errorf("datasets: %s: found the folder %s, named after a split, beside %s. Two readings are possible: "+
		"splits (%s is of class %q, %s is left out), or classes (%s is of class %q, %s of class %q). Choose with "+
		"%sfolders (splits) or %[11]sclasses", name, split, other, first, class, second, first, split, second, other,
		byFormat)
}

// noImage is the error for a folder without images.
type noImage struct{ name string }

func (n *noImage) Error() string {
	return fmt.Sprintf("datasets: %s: no image found, expected one folder per class with files ending in %s", n.name,
		strings.Join(imageNames, ", "))
}

// Images lists the images in a folder and below, in text order, without those in folders of services.
func Images(fsys fs.FS, dir string) (paths []string, err error) {
	below, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, err
	}
	t, err := listTree(context.Background(), below)
	if err != nil {
		return nil, err
	}
	for _, p := range t.images {
		paths = append(paths, path.Join(dir, p))
	}
	return paths, nil
}

// isFile reports whether an entry is a file or a link to one. A broken link counts as a file, so that its reader
// reports it.
func isFile(fsys fs.FS, p string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.Type().IsRegular()
	}
	info, err := fs.Stat(fsys, p)
	return err != nil || info.Mode().IsRegular()
}
