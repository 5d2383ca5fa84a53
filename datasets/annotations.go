package datasets

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// labelMark is a labelled box of a picture, or the label of the whole picture.
type labelMark struct {
	label string
	box   []float64 // left, upper edge, width, height in pixels or shares of the picture; nil: the whole picture
	left  string    // why it is left out; "" if it is not
	odd   error     // why it cannot be read; nil if it can

	// Of COCO, which names its marks; else marks are numbered.
	id    string
	row   int // from 1
	extra []string
}

// photo is what a file contains about a picture.
type photo struct {
	file          string // as the file names it; "" if the file belongs to one picture
	width, height float64
	split         string
	marks         []labelMark
	shares        bool  // whether the boxes are shares of the picture's sides
	odd           error // why this cannot be read; nil if it can
}

// annotations is a form of labelled boxes: in a file for each picture, or in one for many.
type annotations struct {
	form  string
	parse func(text []byte, about *subject) ([]photo, error)
	// Of a form with a file for each picture: its ending, and the folders that stand in place of the picture folder.
	ending  string
	folders []string
}

// sidecars are the forms in which each picture has a file of boxes, next to it or in a folder next to its folder.
var sidecars = []*annotations{&yolo, &voc, &labelMe}

// subject is what a parser needs to know about a file.
type subject struct {
	size  func() (width, height float64, err error) // of the picture that the file belongs to
	names []string                                  // of the classes, in the order of their numbers; nil: unknown
}

// Why marks and pictures are left out.
const (
	missingPicture = "named and not there"
	severalLabels  = "with several labels of the whole"
	withoutBox     = "without a box"
	notReadable    = "not readable"
)

// objectColumn keeps the number of a box among those of its picture, from 1.
const objectColumn = "object"

// boxReader turns pictures with marks into rows. What cannot be read is left out and counted.
type boxReader struct {
	opts reading
	rows []row
	left leftList
	file string                                                  // that is read
	find func(named string) (file string, found bool)            // the picture that a file names; nil: it is the path
	size func(picture string) (width, height float64, err error) // nil: unknown
	dirs func(picture string) (split string)                     // of a picture without a split of its own; may be nil
	seen map[string]int                                          // marks of each picture
}

// where names a part of the file that is read.
func (b *boxReader) where(part string) string {
	if b.file == "" {
		return part
	}
	return strings.TrimSuffix(b.file+": "+part, ": ")
}

// addPhoto adds the rows of a picture.
func (b *boxReader) addPhoto(p *photo) {
	if p.odd != nil {
		b.left.addUnread("pictures", b.where(cmp.Or(p.file, "a picture")), p.odd)
		return
	}
	file, found := p.file, true
	if b.find != nil {
		file, found = b.find(p.file)
	}
	if !found {
		b.left.add(missingPicture, "pictures")
		return
	}
	var whole []string
	for _, m := range p.marks {
		if m.box == nil && m.left == "" && m.odd == nil && !slices.Contains(whole, m.label) {
			whole = append(whole, m.label)
		}
	}
	if len(p.marks) == 0 {
		b.left.add(withoutBox, "pictures")
	} else if len(whole) > 1 {
		b.left.add(severalLabels, "pictures")
	}
	split := p.split
	if split == "" && b.dirs != nil {
		split = b.dirs(file)
	}
	width, height := p.width, p.height
	if (width <= 0 || height <= 0) && len(p.marks) > len(whole) && b.size != nil {
		width, height, _ = b.size(file) // reading the picture reports it
	}
	for _, m := range p.marks {
		if b.seen == nil {
			b.seen = map[string]int{}
		}
		b.seen[file]++
		number := strconv.Itoa(b.seen[file])
		if m.left != "" {
			b.left.add(m.left, "objects")
			continue
		}
		if m.box == nil && m.odd == nil && len(whole) > 1 {
			continue
		}
		r := row{path: file, label: m.label, split: split, number: m.row, extra: m.extra}
		if r.extra == nil {
			r.extra = []string{number}
		}
		why, err := "", m.odd
		if err == nil && m.box != nil {
			r.path, why, err = b.opts.cropMark(m.box, p.shares, file, cmp.Or(m.id, number), width, height)
		}
		if err == nil && why == "" {
			b.rows, err = appendRow(b.rows, r, b.opts)
		}
		if err != nil {
			part := "object " + cmp.Or(m.id, number)
			if p.file != "" {
				part = p.file + ", " + part
			}
			b.left.addUnread("objects", b.where(part), err)
		} else if why != "" {
			b.left.add(why, "boxes")
		}
	}
}

// cropMark returns the path of a box in a picture, or why it is left out.
func (o ReadOptions) cropMark(box []float64, shares bool, file, id string, width, height float64) (crop, why string,
	err error) {
	if shares && len(box) == 4 {
		if width <= 0 || height <= 0 {
			return "", "", fmt.Errorf("its box is given as shares of the sides of %.200q, which are not known", file)
		}
		box = scaleBoxToShares([2]float64{box[0], box[1]}, [2]float64{box[0] + box[2], box[1] + box[3]}, width, height)
	}
	c, why, err := o.cropBox(box, width, height)
	return c.cropPath(file, id), why, err
}

// build returns the rows that were read.
func (b *boxReader) build(name, form string, r *Reading, columns ...string) (*Dataset, error) {
	if len(b.rows) == 0 {
		return nil, fmt.Errorf("%s: read as %s: found no box, expected at least one%s", name, form, b.left.explain())
	}
	d := buildDataset(b.rows, columns)
	if d.Reading = r; r == nil {
		d.Reading = newReading(form, nil, nil)
	}
	d.Reading.Alike = lookAlikes(d.Classes)
	d.Reading.Left = append(d.Reading.Left, b.left.sorted()...)
	return d, nil
}

// boxFile is the file of a picture's boxes.
type boxFile struct {
	picture string
	file    string // "": the picture has none
	split   string // "": by its folders
}

// boxFiles are the files of boxes in a folder.
type boxFiles struct {
	*annotations
	files []boxFile
	names []string // of the classes by number
	left  leftList
}

// findSidecar returns the file of a picture's boxes, "" if there is none. is holds the files by their names in lower
// case.
func (a *annotations) findSidecar(picture string, is map[string]string) string {
	stem := strings.ToLower(strings.TrimSuffix(picture, path.Ext(picture)) + a.ending)
	if is[stem] != "" {
		return is[stem]
	}
	parts := strings.Split(stem, "/")
	for i := len(parts) - 2; i >= 0; i-- {
		if !isPictureFolder(parts[i]) {
			continue
		}
		for _, folder := range a.folders {
			other := slices.Clone(parts)
			other[i] = folder
			if file := is[path.Join(other...)]; file != "" {
				return file
			}
		}
	}
	return ""
}

// isClassless reports whether no folder of a picture can be a class: all are splits or hold pictures by their names.
func (t *listing) isClassless() bool {
	known, beside := map[string]bool{}, map[string]int{} // folders with images, and how many of them a folder holds
	for _, p := range t.images {
		for dir := path.Dir(p); dir != "." && !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
			beside[path.Dir(dir)]++
		}
	}
	for dir := range known {
		_, err := ParseSplit(path.Base(dir))
		if err != nil && !isPictureFolder(path.Base(dir)) && beside[path.Dir(dir)] > 1 {
			return false
		}
	}
	return true
}

// findBoxFiles returns the files that belong to a picture each, or nil if there are none. at holds the folders of
// Pascal VOC, if there are any; then other pictures are left out.
func (t *listing) findBoxFiles(at string) (*boxFiles, error) {
	folders := t.listFoldersIn(at)
	standard := slices.Contains(folders, "Annotations") && slices.Contains(folders, vocImages)
	mayBeClasses := !standard && !t.isClassless()
	is := make(map[string]string, len(t.others))
	for _, p := range t.others {
		is[strings.ToLower(p)] = p
	}
	for _, a := range sidecars {
		b := &boxFiles{annotations: a}
		var shown []boxFile
		for _, p := range t.images {
			if _, ok := cutFolder(p, path.Join(at, vocImages)); standard && !ok {
				b.left.add("beside "+vocImages, "pictures")
				continue
			}
			f := boxFile{picture: p, file: a.findSidecar(p, is)}
			if mayBeClasses && path.Dir(f.file) == path.Dir(p) {
				f.file = "" // the folder is the class
			}
			if b.files = append(b.files, f); f.file != "" {
				shown = append(shown, f)
			}
		}
		if len(shown) == 0 || mayBeClasses && 2*len(shown) < len(b.files) {
			continue
		}
		var err error
		if a == &yolo {
			if b.names, err = t.classNames(); err != nil {
				return nil, err
			}
		}
		for _, f := range shown[:min(len(shown), 16)] { // an odd one among them does not hide the form
			if _, err := t.parseBoxFile(b, f); !errors.Is(err, errOther) {
				return b, t.readSplitLists(b, at)
			}
		}
	}
	return nil, nil
}

// errOther reports that a file is of another form.
var errOther = errors.New("is of another form")

// parseBoxFile reads a file of boxes.
func (t *listing) parseBoxFile(b *boxFiles, f boxFile) ([]photo, error) {
	text, err := readSmall(t.fsys, f.file)
	if err != nil {
		return nil, err
	}
	return b.parse(text, &subject{names: b.names, size: func() (float64, float64, error) {
		return Sides(t.fsys, f.picture)
	}})
}

// readFolderBoxes reads the labelled boxes of a folder, or returns nil if there are none.
func (t *listing) readFolderBoxes(ctx context.Context, at, name string, opts ReadOptions) (*Dataset, error) {
	if len(t.images) == 0 {
		return nil, nil
	}
	if d, err := t.readCOCOFolder(name, opts); d != nil || err != nil {
		return d, err
	}
	b, err := t.findBoxFiles(at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if b == nil {
		return nil, nil
	}
	if err := opts.checkBoxes(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &boxReader{opts: reading{ReadOptions: opts}, left: b.left,
		size: func(picture string) (float64, float64, error) { return Sides(t.fsys, picture) }}
	for _, f := range b.files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f.file == "" {
			r.left.add("without a file of boxes", "pictures")
			continue
		}
		r.file, r.seen = f.file, nil
		r.find = func(string) (string, bool) { return f.picture, true }
		r.dirs = func(string) string { return cmp.Or(f.split, splitOfFolders(f.picture, opts.Split)) }
		list, err := t.parseBoxFile(b, f)
		if err != nil {
			r.left.addUnread("files", f.file, err)
		}
		for i := range list {
			r.addPhoto(&list[i])
		}
	}
	return r.build(name, b.form, t.describeListing(b.form, ".", true), objectColumn)
}

// splitOfFolders returns the split that a folder of a path is named after, or another.
func splitOfFolders(p, otherwise string) string {
	split := otherwise
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		split = cmp.Or(splitOfName(dir), split)
	}
	return split
}

// mostGathered is how many files of an ending are tried: where there are more, each belongs to a picture.
const mostGathered = 64

// readCOCOFolder reads the files of COCO's form in a folder, or returns nil if there are none of its pictures.
func (t *listing) readCOCOFolder(name string, opts ReadOptions) (*Dataset, error) {
	var found []string
	for _, p := range t.others {
		if strings.EqualFold(path.Ext(p), ".json") && strings.Count(p, "/") < 4 {
			found = append(found, p)
		}
	}
	isRoboflow := func(p string) bool { return path.Base(p) == "_annotations.coco.json" }
	if slices.ContainsFunc(found, isRoboflow) {
		found = slices.DeleteFunc(found, func(p string) bool { return !isRoboflow(p) })
	} else if len(found) > mostGathered {
		return nil, nil
	}
	b := &boxReader{opts: reading{ReadOptions: opts},
		size: func(picture string) (float64, float64, error) { return Sides(t.fsys, picture) }}
	listedBy := map[string]string{} // the file that lists a picture
	read := false
	for _, p := range found {
		head, err := headOf(t.fsys, p, headSize)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if isFiftyOne(head) {
			return nil,
				fmt.Errorf("%s: %s is FiftyOne's file of labels, which winnow does not read: export the dataset "+
					"as COCO or as folders of classes", name, p)
		}
		if !isCOCO(head) || slices.ContainsFunc([]string{"captions", "image_info", "panoptic", "stuff",
			"person_keypoints"}, func(s string) bool { return strings.HasPrefix(path.Base(p), s) }) {
			continue // of other things than boxes
		}
		n := len(b.rows)
		if err := b.readCOCOFile(t.fsys, p); err != nil {
			b.left.addUnread("files", p, err)
		}
		for _, r := range b.rows[n:] {
			picture, _, _ := CutCrop(r.path)
			if by := listedBy[picture]; by != "" && by != p {
				return nil,
					fmt.Errorf("%s: found labels of %s in %s and in %s: two readings are possible: name one of "+
						"the files, or move the other away", name, picture, by, p)
			}
			listedBy[picture] = p
		}
		read = read || len(b.rows) > n || b.left.unread()
	}
	if !read {
		return nil, nil
	}
	for _, p := range t.images {
		if listedBy[p] == "" {
			b.left.add(withoutBox, "pictures")
		}
	}
	return b.build(name, cocoFolder, t.describeListing(cocoFolder, ".", true), annotationID, imageID)
}

// readCOCOFile reads a file of COCO's form whose pictures are in the folder.
func (b *boxReader) readCOCOFile(fsys fs.FS, p string) error {
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	named := cmp.Or(splitOfName(stem), splitOfName(path.Base(path.Dir(p))))
	b.file, b.seen = p, nil
	// instances_train2017: pictures in train2017
	b.find = findPictures(fsys, path.Dir(p), stem[strings.LastIndexByte(stem, '_')+1:], stem)
	b.dirs = func(picture string) string { return cmp.Or(named, splitOfFolders(picture, b.opts.Split)) }
	f, err := fsys.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	return b.readCOCO(f)
}

// headSize is how many bytes show a form.
const headSize = 1 << 12

// headOf returns the beginning of a file, of at most that many bytes.
func headOf(fsys fs.FS, p string, most int64) ([]byte, error) {
	f, err := fsys.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// mostSidecar is the largest file of a picture's boxes in bytes.
const mostSidecar = 64 << 20

func readSmall(fsys fs.FS, file string) ([]byte, error) {
	text, err := headOf(fsys, file, mostSidecar+1)
	if err == nil && len(text) > mostSidecar {
		err = fmt.Errorf("found more than %d MB, expected the boxes of one picture", mostSidecar>>20)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

// findPictures returns a function that finds pictures named in a file of the folder dir: there or in a folder above,
// or in the folders of pictures or splits in one of these. A name may lack its ending.
func findPictures(fsys fs.FS, dir string, own ...string) func(named string) (string, bool) {
	var tried []string // patterns of paths, the last successful first
	for ; ; dir = path.Dir(dir) {
		for _, below := range append(own[:len(own):len(own)], "", "images", "data", "JPEGImages", "img", Train,
			Validation, Test, "val") {
			for _, prefix := range []string{path.Join(dir, below), path.Join(dir, "images", below)} {
				for _, ending := range []string{"", ".jpg", ".jpeg", ".png"} {
					tried = append(tried, path.Join(prefix, "*")+ending)
				}
			}
		}
		if dir == "." {
			break
		}
	}
	return func(named string) (string, bool) {
		named, err := cleanPath(strings.ReplaceAll(named, `\`, "/"), "")
		if err != nil {
			named = path.Base(named) // an absolute path of another machine
		}
		for i, pattern := range tried {
			p := strings.Replace(pattern, "*", named, 1)
			if info, err := fs.Stat(fsys, p); err == nil && info.Mode().IsRegular() {
				copy(tried[1:i+1], tried[:i])
				tried[0] = pattern
				return p, true
			}
		}
		return "", false
	}
}
