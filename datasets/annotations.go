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

// labelMark is a labelled box of an image, or the label of the whole image.
type labelMark struct {
	label string
	box   []float64 // left, top, width, height in pixels or in shares of the image's sides; nil: the whole image
	left  string    // why the mark is left out; "" if it is kept
	odd   error     // why the mark cannot be read; nil if it can

	// These fields are set only for COCO, whose annotations have ids; other forms number their marks.
	id    string
	row   int // counted from 1
	extra []string
}

// photo holds the annotations that a file contains for one image.
type photo struct {
	file          string // the image's name in the file; "" if the file describes a single image
	width, height float64
	split         string
	marks         []labelMark
	shares        bool  // whether the boxes are given as shares of the image's sides
	odd           error // why the entry cannot be read; nil if it can
}

// annotations describes a file format for labelled boxes, with one file per image or one file for many images.
type annotations struct {
	form  string
	parse func(text []byte, about *subject) ([]photo, error)
	// For a format with one file per image: the file extension, and the folders that replace the image folder in paths.
	ending  string
	folders []string
}

// sidecars lists the formats with one file of boxes per image, next to the image or in a folder next to its folder.
var sidecars = []*annotations{&yolo, &voc, &labelMe}

// subject holds what a parser needs besides the text of the file.
type subject struct {
	size  func() (width, height float64, err error) // returns the size of the image that the file describes
	names []string                                  // class names by class number; nil: unknown
}

// Reasons for leaving marks and images out.
const (
	missingPicture = "listed but missing"
	severalLabels  = "with several labels for the whole image"
	withoutBox     = "without a box"
	notReadable    = "not readable"
)

// objectColumn is the column with the number of a box within its image, counted from 1.
const objectColumn = "object"

// boxReader turns images with marks into rows. It leaves out and counts marks that it cannot read.
type boxReader struct {
	opts reading
	rows []row
	left leftList
	file string                                                  // the file being read
	find func(named string) (file string, found bool)            // finds a named image; nil: the name is its path
	size func(picture string) (width, height float64, err error) // nil: unknown
	dirs func(picture string) (split string)                     // split if the file gives none; may be nil
	seen map[string]int                                          // how many marks each image has so far
}

// namePart returns the name of a part of the current file, for messages.
func (b *boxReader) namePart(part string) string {
	if b.file == "" {
		return part
	}
	return strings.TrimSuffix(b.file+": "+part, ": ")
}

// addPhoto adds the rows of an image.
func (b *boxReader) addPhoto(p *photo) {
	if p.odd != nil {
		b.left.addUnread("images", b.namePart(cmp.Or(p.file, "an image")), p.odd)
		return
	}
	file, found := p.file, true
	if b.find != nil {
		file, found = b.find(p.file)
	}
	if !found {
		b.left.addOne(missingPicture, "images")
		return
	}
	var whole []string
	for _, m := range p.marks {
		if m.box == nil && m.left == "" && m.odd == nil && !slices.Contains(whole, m.label) {
			whole = append(whole, m.label)
		}
	}
	if len(p.marks) == 0 {
		b.left.addOne(withoutBox, "images")
	} else if len(whole) > 1 {
		b.left.addOne(severalLabels, "images")
	}
	split := p.split
	if split == "" && b.dirs != nil {
		split = b.dirs(file)
	}
	width, height := p.width, p.height
	if (width <= 0 || height <= 0) && len(p.marks) > len(whole) && b.size != nil {
		width, height, _ = b.size(file) // an error is reported when the image is read
	}
	for _, m := range p.marks {
		if b.seen == nil {
			b.seen = map[string]int{}
		}
		b.seen[file]++
		number := strconv.Itoa(b.seen[file])
		if m.left != "" {
			b.left.addOne(m.left, "objects")
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
			b.left.addUnread("objects", b.namePart(part), err)
		} else if why != "" {
			b.left.addOne(why, "boxes")
		}
	}
}

// cropMark returns the path of a crop, or the reason why the box is left out.
func (o ReadOptions) cropMark(box []float64, shares bool, file, id string, width, height float64) (crop, why string,
	err error) {
	if shares && len(box) == 4 {
		if width <= 0 || height <= 0 {
			return "", "", fmt.Errorf("the box is given in shares of the sides of %.200q, whose size is unknown", file)
		}
		box = scaleBoxToShares([2]float64{box[0], box[1]}, [2]float64{box[0] + box[2], box[1] + box[3]}, width, height)
	}
	c, why, err := o.cropBox(box, width, height)
	return c.cropPath(file, id), why, err
}

// buildBoxes returns the dataset of the rows read so far.
func (b *boxReader) buildBoxes(name, form string, r *Reading, columns ...string) (*Dataset, error) {
	if len(b.rows) == 0 {
		return nil, fmt.Errorf("%s: read as %s: found no box, expected at least one%s",
			name, form, b.left.explainNone())
	}
	d := buildDataset(b.rows, columns)
	if d.Reading = r; r == nil {
		d.Reading = newReading(form, nil, nil)
	}
	d.Reading.Alike = lookAlikes(d.Classes)
	d.Reading.Left = append(d.Reading.Left, b.left.sortReasons()...)
	return d, nil
}

// boxFile is an image and its file of boxes.
type boxFile struct {
	picture string
	file    string // "": the image has none
	split   string // "": the split follows from the image's folders
}

// boxFiles holds the box files of a folder.
type boxFiles struct {
	*annotations
	files []boxFile
	names []string // class names by number
	left  leftList
}

// findSidecar returns the box file of an image, or "" if it has none. is maps lower-case names to the files' names.
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

// isClassless reports whether no folder can be a class: every folder is named like a split or an image folder.
func (t *listing) isClassless() bool {
	known, beside := map[string]bool{}, map[string]int{} // folders with images; how many of them each folder holds
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

// findBoxFiles returns the box files of the images, or nil if there are none. at is the folder that may hold the
// folders of Pascal VOC; if it does, images outside JPEGImages are left out.
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
				b.left.addOne("beside "+vocImages, "images")
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
		if len(shown) == 0 {
			continue
		}
		var err error
		if a == &yolo {
			if b.names, err = t.classNames(); err != nil {
				return nil, err
			}
		}
		for _, f := range shown[:min(len(shown), 16)] { // try several: a broken file does not hide the format
			if _, err := t.parseBoxFile(b, f); !errors.Is(err, errOther) {
				return b, t.readSplitLists(b, at)
			}
		}
	}
	return nil, nil
}

// errOther reports that a file has another format.
var errOther = errors.New("has another format")

// parseBoxFile reads one box file.
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
			r.left.addOne("without a box file", "images")
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
	return r.buildBoxes(name, b.form, t.describeListing(b.form, ".", true), objectColumn)
}

// splitOfFolders returns the split named by the last folder of a path that names one, or otherwise if no folder does.
func splitOfFolders(p, otherwise string) string {
	split := otherwise
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		split = cmp.Or(splitOfName(dir), split)
	}
	return split
}

// mostGathered is the largest number of JSON files tried as COCO; with more, each file belongs to one image.
const mostGathered = 64

// readCOCOFolder reads the COCO files of a folder. It returns nil if no COCO file is found.
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
	listedBy := map[string]string{} // the file that lists each image
	read := false
	for _, p := range found {
		head, err := headOf(t.fsys, p, headSize)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if isFiftyOne(head) {
			return nil, fmt.Errorf("%s: %s is FiftyOne's label file, which winnow does not read: export the "+
				"dataset as COCO or as folders of classes", name, p)
		}
		if !isCOCO(head) || slices.ContainsFunc([]string{"captions", "image_info", "panoptic", "stuff",
			"person_keypoints"}, func(s string) bool { return strings.HasPrefix(path.Base(p), s) }) {
			continue // captions, keypoints or segments, not boxes
		}
		n := len(b.rows)
		if err := b.readCOCOFile(t.fsys, p); err != nil {
			b.left.addUnread("files", p, err)
		}
		for _, r := range b.rows[n:] {
			picture, _, _ := CutCrop(r.path)
			if by := listedBy[picture]; by != "" && by != p {
				return nil, fmt.Errorf("%s: found labels of %s in %s and in %s, so two readings are possible: "+
					"name one of the files, or move the other away", name, picture, by, p)
			}
			listedBy[picture] = p
		}
		read = read || len(b.rows) > n || b.left.hasUnread()
	}
	if !read {
		return nil, nil
	}
	for _, p := range t.images {
		if listedBy[p] == "" {
			b.left.addOne(withoutBox, "images")
		}
	}
	return b.buildBoxes(name, cocoFolder, t.describeListing(cocoFolder, ".", true), annotationID, imageID)
}

// readCOCOFile reads a COCO file whose images are in the folder.
func (b *boxReader) readCOCOFile(fsys fs.FS, p string) error {
	stem := strings.TrimSuffix(path.Base(p), path.Ext(p))
	named := cmp.Or(splitOfName(stem), splitOfName(path.Base(path.Dir(p))))
	b.file, b.seen = p, nil
	// instances_train2017.json describes the images in train2017
	b.find = findPictures(fsys, path.Dir(p), stem[strings.LastIndexByte(stem, '_')+1:], stem)
	b.dirs = func(picture string) string { return cmp.Or(named, splitOfFolders(picture, b.opts.Split)) }
	f, err := fsys.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	return b.readCOCO(f)
}

// headSize is the number of bytes read to recognise a format.
const headSize = 1 << 12

// headOf returns the beginning of a file, limited to the given number of bytes.
func headOf(fsys fs.FS, p string, most int64) ([]byte, error) {
	f, err := fsys.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// mostSidecar limits the size of one image's box file, in bytes.
const mostSidecar = 64 << 20

func readSmall(fsys fs.FS, file string) ([]byte, error) {
	text, err := headOf(fsys, file, mostSidecar+1)
	if err == nil && len(text) > mostSidecar {
		err = fmt.Errorf("found more than %d MB, expected the boxes of one image", mostSidecar>>20)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

// findPictures returns a function that finds the images named in a file of the folder dir. The function searches dir,
// its parents, and their subfolders named after splits or image folders. A name may lack its extension.
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
			named = path.Base(named) // an absolute path from another machine
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
