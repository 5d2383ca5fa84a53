package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// boxForms are the forms of files of boxes, and of labels of whole pictures, in folders.
var boxForms = []*annotations{&yolo, &voc, &labelMe, &fiftyOne}

// readFolderBoxes reads the labelled boxes of a folder, or returns nil if there are none.
func (t *listing) readFolderBoxes(ctx context.Context, at, name string, opts ReadOptions) (*Dataset, error) {
	b, err := t.boxFilesAt(at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if b == nil {
		return t.readTables(name, opts)
	}
	if b.rivals != nil && opts.Format != Boxes {
		return nil, b.refuseAmbiguousBoxes(name, at)
	}
	return t.readBoxes(ctx, b, name, opts)
}

// refuseAmbiguousBoxes is the error for folders that may be classes, of pictures whose boxes are in a folder beside.
func (b *boxFiles) refuseAmbiguousBoxes(name, at string) error {
	var rows []string
	for _, f := range b.rivals[:min(len(b.rivals), 3)] {
		class := ""
		rest, _ := cutFolder(f.picture, at)
		for dir := range strings.SplitSeq(path.Dir(rest), "/") {
			if _, err := ParseSplit(dir); err != nil && !isPictureFolder(dir) {
				class = cmp.Or(class, dir)
			}
		}
		rows = append(rows, fmt.Sprintf("%s is of class %q, or has the boxes in %s", f.picture, class, f.file))
	}
	return fmt.Errorf("%s: two readings are possible: folders of classes, or %s (%s). Choose with %sfolders or "+
		"%[4]sboxes", name, b.form, strings.Join(rows, "; "), byFormat)
}

// boxFilesAt returns the files of boxes of a folder, or nil if there are none.
func (t *listing) boxFilesAt(at string) (*boxFiles, error) {
	if b, err := t.fiftyOneFiles(); b != nil || err != nil {
		return b, err
	}
	return t.sidecarsOf(at)
}

// mostGathered is how many files of an ending are looked at: where there are more, each belongs to a picture.
const mostGathered = 64

// fiftyOneFiles returns the files of FiftyOne, which describe many pictures, or nil if there are none.
func (t *listing) fiftyOneFiles() (b *boxFiles, err error) {
	var found []string
	for _, p := range t.others {
		if strings.EqualFold(path.Ext(p), ".json") && strings.Count(p, "/") < 4 {
			found = append(found, p)
		}
	}
	if len(t.images) == 0 || len(found) > mostGathered {
		return nil, nil
	}
	for _, p := range found {
		head, err := headOf(t.fsys, p, headSize)
		if err != nil {
			return nil, err
		}
		if !isFiftyOne(head) {
			continue
		}
		if b == nil {
			b = &boxFiles{annotations: &fiftyOne, left: map[Left]int{}, find: t.newPictureFinder()}
		}
		split, _ := ParseSplit(strings.TrimSuffix(path.Base(p), path.Ext(p)))
		b.files = append(b.files, boxFile{file: p, split: split})
	}
	return b, nil
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

// newPictureFinder returns a function that finds the picture that a file of annotations names: below its own folder or
// a folder of pictures near it, or, if only one picture ends in that path, that one. A name may lack the ending of a
// picture.
func (t *listing) newPictureFinder() func(f boxFile, named string) (string, bool) {
	is := make(map[string]bool, len(t.images))
	ending := map[string]string{} // of pictures by their paths without it; "" if there are several
	byBase := map[string][]string{}
	for _, p := range t.images {
		is[p] = true
		stem := strings.TrimSuffix(p, path.Ext(p))
		if _, twice := ending[stem]; twice {
			ending[stem] = ""
		} else {
			ending[stem] = path.Ext(p)
		}
		for _, base := range []string{path.Base(p), path.Base(stem)} {
			byBase[base] = append(byBase[base], p)
		}
	}
	return func(f boxFile, named string) (string, bool) {
		named, err := cleanPath(strings.ReplaceAll(named, `\`, "/"), "")
		if err != nil {
			named = path.Base(named) // an absolute path of another machine
		}
		own := strings.TrimSuffix(path.Base(f.file), path.Ext(f.file))
		for dir := path.Dir(f.file); ; dir = path.Dir(dir) {
			for _, below := range []string{"", "images", "images/" + own, own, "data", "JPEGImages", "img"} {
				p := path.Join(dir, below, named)
				if is[p] {
					return p, true
				}
				if end := ending[p]; end != "" {
					return p + end, true
				}
			}
			if dir == "." {
				break
			}
		}
		found, n := "", 0
		for _, p := range byBase[path.Base(named)] {
			stem := strings.TrimSuffix(p, path.Ext(p))
			if strings.HasSuffix("/"+p, "/"+named) || strings.HasSuffix("/"+stem, "/"+named) {
				if found, n = p, n+1; n > 1 {
					return "", false
				}
			}
		}
		return found, n == 1
	}
}

// readFiftyOne reads a file of FiftyOne.
func readFiftyOne(in io.Reader, name string, opts reading) (*Dataset, error) {
	r := &boxReader{opts: opts, left: map[Left]int{}, resolve: opts.newPathMaker()}
	r.opts.StripPrefix = "" // resolve strips it
	if dir := opts.findPicturesFolder(); dir != nil {
		r.size = (&listing{fsys: dir}).readPictureSize
	}
	about := &subject{}
	text, err := io.ReadAll(in)
	if err == nil {
		_, err = fiftyOne.parse(text, about, func(p *photo) ([]Decision, error) {
			r.addPhotoRows(&fiftyOne, p)
			return nil, nil
		})
	}
	if errors.Is(err, errOther) {
		err = fmt.Errorf("expected %s", fiftyOne.form)
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if len(r.rows) == 0 {
		return nil, fmt.Errorf("datasets: %w", r.explainNoBox(fiftyOne.form, name))
	}
	d := buildDataset(r.rows, []string{objectColumn})
	d.Reading = &Reading{Form: fiftyOne.form, Left: []Left{}, Empty: []string{}, Alike: lookAlikes(d.Classes)}
	r.describeLeftOut(d.Reading)
	opts.noteLines(name, append([]string{"read as " + fiftyOne.form}, d.Reading.Lines()...))
	if about.numbers {
		opts.noteLines(name, []string{labelsAreNumbers})
	}
	return d, nil
}

// newPathMaker returns a function that makes paths of the names in a file of annotations: those of the
// pictures in the file's folder or in one of pictures there or, from the first that is not there on, as they are.
func (o reading) newPathMaker() func(named string) (string, bool) {
	var find func(named string) (string, bool)
	if dir := o.findPicturesFolder(); dir != nil {
		find = findBeside(dir, strings.TrimSuffix(o.from.Base(), o.from.Ext()))
	}
	return func(named string) (string, bool) {
		p, err := cleanPath(named, o.StripPrefix)
		if err != nil {
			return named, true // the row's check reports it
		}
		if find != nil {
			if file, ok := find(p); ok {
				return file, true
			}
			find = nil // the pictures are elsewhere: their root is named
		}
		return p, true
	}
}

// samePicture reports whether a name of a file of annotations may be that of a picture's path.
func samePicture(named, file string) bool {
	named = path.Clean(strings.ReplaceAll(named, `\`, "/"))
	for _, p := range []string{file, strings.TrimSuffix(file, path.Ext(file))} { // named without an ending
		if named == p || strings.HasSuffix(named, "/"+p) || strings.HasSuffix(p, "/"+named) {
			return true
		}
	}
	return false
}
