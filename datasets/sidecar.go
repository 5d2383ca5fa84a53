package datasets

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// pictureFolder matches the names of folders that hold pictures beside their annotations.
var pictureFolder = regexp.MustCompile(
	`^(images?|imgs?|jpegimages|jpe?g|png|obj_train_data)(_[0-9])?$|^(pictures|photos)$`)

func isPictureFolder(name string) bool { return pictureFolder.MatchString(strings.ToLower(name)) }

// sidecar is a form in which each picture has a file of boxes, next to it or in a folder beside its folder.
type sidecar struct {
	*annotations
	ending  string
	folders []string // that stand in place of the picture folder
}

var sidecars = []sidecar{
	{&yolo, ".txt", []string{"labels"}},
	{&voc, ".xml", []string{"Annotations", "annotations", "xmls"}},
	{&labelMe, ".json", []string{"annotations", "labels", "json"}},
}

// findSidecar returns the file of a picture's boxes, "" if there is none. is holds the files by their names in lower
// case.
func (s sidecar) findSidecar(picture string, is map[string]string) string {
	stem := strings.ToLower(strings.TrimSuffix(picture, path.Ext(picture)) + s.ending)
	if is[stem] != "" {
		return is[stem]
	}
	parts := strings.Split(stem, "/")
	for i := len(parts) - 2; i >= 0; i-- {
		if !isPictureFolder(parts[i]) {
			continue
		}
		for _, folder := range s.folders {
			other := slices.Clone(parts)
			other[i] = strings.ToLower(folder)
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

// boxFile is a file of boxes.
type boxFile struct {
	file    string // "": the picture has none
	picture string // that it belongs to; "": the file names its pictures
	split   string // of its pictures; "": by their folders
}

// boxFiles are the files of boxes in a folder.
type boxFiles struct {
	*annotations
	files []boxFile
	names []string // of the classes by number
	// namedIn is the file of the names; "" if there is none
	namedIn string
	numbers bool      // labels are numbers, because two names are equal
	rivals  []boxFile // pictures with such files, if their folders may be classes; nil: they are not
	left    map[Left]int
	find    func(f boxFile, named string) (string, bool) // the picture that a file names
}

// tried is how many files show a form: an odd one among them does not hide it.
const tried = 16

// sidecarsOf returns the files that belong to a picture each, or nil if there are none. at holds the folders of
// Pascal VOC, if there are any; then other pictures are left out.
func (t *listing) sidecarsOf(at string) (*boxFiles, error) {
	standard := isVOC(t.listFoldersIn(at))
	if len(t.images) == 0 {
		return nil, nil
	}
	mayBeClasses := !standard && !t.isClassless()
	is := make(map[string]string, len(t.others))
	for _, p := range t.others {
		is[strings.ToLower(p)] = p
	}
	for _, s := range sidecars {
		b := &boxFiles{annotations: s.annotations, left: map[Left]int{}}
		var shown []boxFile
		for _, p := range t.images {
			f := boxFile{picture: p}
			if _, ok := cutFolder(p, path.Join(at, vocImages)); standard && !ok {
				b.left[Left{Reason: "beside " + vocImages, Of: "pictures"}]++
				continue
			}
			f.file = s.findSidecar(p, is)
			if mayBeClasses && path.Dir(f.file) == path.Dir(p) {
				f.file = "" // the folder is the class; beside the folders there may be others of boxes
			}
			if f.file != "" {
				shown = append(shown, f)
			}
			b.files = append(b.files, f)
		}
		var err error
		if len(shown) == 0 || mayBeClasses && 2*len(shown) < len(b.files) {
			continue
		}
		if mayBeClasses {
			b.rivals = shown
		}
		if s.annotations == &yolo {
			if b.names, b.namedIn, err = t.classNames(); err != nil {
				return nil, err
			}
			b.names, b.numbers = numberedIfTwins(b.names)
		}
		is := false
		for i := range min(len(shown), tried) { // of the whole list: the first may be of pictures without boxes
			f := shown[i*len(shown)/min(len(shown), tried)]
			_, err := t.parseBoxFile(b, f, func(*photo) ([]Decision, error) { return nil, nil })
			is = is || !errors.Is(err, errOther)
		}
		if is {
			return b, t.readSplitLists(b, at)
		}
	}
	return nil, nil
}

// readSplitLists gives pictures the splits of Pascal VOC's lists, and leaves those out that are in none.
func (t *listing) readSplitLists(b *boxFiles, at string) error {
	splits, err := vocSplits(t.fsys, path.Join(at, vocLists))
	if err != nil || len(splits) == 0 || b.annotations != &voc {
		return err
	}
	kept := b.files[:0]
	for _, f := range b.files {
		split, ok := splits[strings.TrimSuffix(path.Base(f.picture), path.Ext(f.picture))]
		if !ok {
			b.left[Left{Reason: "not in the lists of " + vocLists, Of: "pictures"}]++
			continue
		}
		f.split = split
		kept = append(kept, f)
	}
	b.files = kept
	return nil
}

// errOther says that a file is of another form.
var errOther = errors.New("is of another form")

// parseBoxFile reads a file of boxes, and returns it with the decisions that give returns, as a form does.
func (t *listing) parseBoxFile(b *boxFiles, f boxFile, give func(*photo) ([]Decision, error)) ([]byte, error) {
	text, err := headOf(t.fsys, f.file, mostFile+1)
	if err == nil && len(text) > mostFile {
		err = fmt.Errorf("found more than %d MB, expected a file of boxes", mostFile>>20)
	}
	if err != nil {
		return nil, err
	}
	mark := text[:len(text)-len(bytes.TrimPrefix(text, []byte("\ufeff")))]
	about := &subject{names: b.names, size: func() (float64, float64, error) { return t.readPictureSize(f.picture) }}
	edited, err := b.annotations.parse(text[len(mark):], about, give)
	b.numbers = b.numbers || about.numbers
	return slices.Concat(mark, edited), err
}

// mostFile is the largest file of boxes in bytes.
const mostFile = 1 << 30

// readBoxes reads files of boxes.
func (t *listing) readBoxes(ctx context.Context, b *boxFiles, name string, opts ReadOptions) (*Dataset, error) {
	if err := opts.checkBoxes(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &boxReader{opts: reading{ReadOptions: opts}, left: b.left, size: t.readPictureSize}
	read := map[string]int{}
	if b.namedIn != "" {
		read[strings.ToLower(path.Ext(b.namedIn))]++
	}
	for _, f := range b.files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f.file == "" {
			r.left[Left{Reason: "without a file of boxes", Of: "pictures"}]++
			continue
		}
		read[strings.ToLower(path.Ext(f.file))]++
		r.resolve = func(named string) (string, bool) { return b.findPictureOfFile(f, named) }
		r.split = func(picture string) string { return cmp.Or(f.split, splitOfFolders(picture, opts.Split)) }
		if f.picture != "" {
			r.seen = nil
		}
		r.readBoxFile(f.file, func() error {
			_, err := t.parseBoxFile(b, f, func(p *photo) ([]Decision, error) {
				r.addPhotoRows(b.annotations, p)
				return nil, nil
			})
			return err
		})
	}
	if len(r.rows) == 0 {
		return nil, r.explainNoBox(b.form, name)
	}
	columns := []string{objectColumn}
	if b.column != "" {
		columns = append(columns, b.column)
	}
	d := buildDataset(r.rows, columns)
	d.Reading = t.describeListing(b.form, ".", d.Classes)
	d.Reading.dropRead(read)
	r.describeLeftOut(d.Reading)
	if b.numbers {
		opts.noteLines(name, []string{labelsAreNumbers})
	}
	return d, nil
}

// objectColumn keeps the number of a box among those of its picture, from 1.
const objectColumn = "object"

// findPictureOfFile returns the path of the picture that a file is about.
func (b *boxFiles) findPictureOfFile(f boxFile, named string) (string, bool) {
	if f.picture != "" {
		return f.picture, true
	}
	return b.find(f, named)
}

// splitOfFolders returns the split that a folder of a path is named after, or another.
func splitOfFolders(p, otherwise string) string {
	split := otherwise
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		if s, err := ParseSplit(dir); err == nil {
			split = s
		}
	}
	return split
}

// dropRead takes files that were read, by their endings, from those that were left out.
func (r *Reading) dropRead(read map[string]int) {
	for i := range r.Left {
		if r.Left[i].Reason == "no picture" {
			r.Left[i].Files -= read[r.Left[i].Of]
		}
	}
	r.Left = slices.DeleteFunc(r.Left, func(l Left) bool { return l.Files <= 0 })
	r.Empty = []string{}
}

// mostSidecar is the largest file of boxes in bytes.
const mostSidecar = 16 << 20

func readSmall(fsys fs.FS, file string) ([]byte, error) {
	text, err := headOf(fsys, file, mostSidecar+1)
	if err == nil && len(text) > mostSidecar {
		err = fmt.Errorf("found more than %d MB, expected the boxes of one picture", mostSidecar>>20)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}
