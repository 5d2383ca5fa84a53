package datasets

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"winnow/datasets/location"
	"winnow/datasets/shards"
	"winnow/internal/regular"
)

// Layout is how a source holds a dataset.
type Layout int

// The layouts. A source that does not exist counts as a File.
const (
	File   Layout = iota // a manifest, or a pipe that one is read from
	Folder               // a folder of images or of shards
	Zip                  // a .zip file of a folder of images
	Shards               // a tar or Parquet file, or a pattern of the names of several
)

// LayoutOf finds the layout of a source, without reading a pipe.
func LayoutOf(ctx context.Context, source location.Source) (Layout, error) {
	if shards.IsPattern(source) {
		return Shards, nil
	}
	if source.IsPipe() {
		return File, nil
	}
	info, err := source.Stat(ctx)
	if err != nil {
		return File, err
	}
	if info.IsDir() {
		return Folder, nil
	}
	if kind, err := shards.KindOf(ctx, source); err == nil && kind != shards.None {
		return Shards, nil
	}
	if source.IsZip() {
		return Zip, nil
	}
	return File, nil
}

// OpenZip opens a zip file as a folder. Names with backslashes, as some programs of Windows write them, are read as
// paths.
func OpenZip(f io.ReaderAt, size int64) (*zip.Reader, error) {
	var head [64]byte
	n, _ := f.ReadAt(head[:], 0) // a short file gives less
	if err := regular.Pointer(head[:n]); err != nil {
		return nil, err
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

// pictureFolder matches the names of folders that hold pictures next to their annotations.
var pictureFolder = regexp.MustCompile(
	`^(images?|imgs?|jpegimages|jpe?g|png|obj_train_data)(_[0-9])?$|^(pictures|photos)$`)

func isPictureFolder(name string) bool { return pictureFolder.MatchString(strings.ToLower(name)) }

// isNoClass reports whether a folder of pictures has a name that no class has.
func isNoClass(name string) bool {
	return isPictureFolder(name) && !strings.EqualFold(name, "photos") && !strings.EqualFold(name, "pictures")
}

// serviceFolders are made by systems and network drives between people's pictures: thumbnails, recycle bins. Names
// that begin with a dot are theirs, too.
var serviceFolders = []string{"__MACOSX", "@eaDir", "#recycle", "#snapshot", "@Recycle", "$RECYCLE.BIN", "lost+found",
	"System Volume Information"}

// listing is what a folder holds: its images and what else is there.
type listing struct {
	fsys    fs.FS
	images  []string       // in the order of the walk
	folders []string       // all folders but those of services
	others  []string       // files that are no images
	hidden  map[string]int // folders of services by name
	unnamed []string       // folders that cannot be opened, because their names are not UTF-8
}

// listTree lists a folder. Links to folders are followed in the two highest levels, where splits and classes are.
func listTree(ctx context.Context, fsys fs.FS) (*listing, error) {
	t := &listing{fsys: fsys, hidden: map[string]int{}}
	return t, t.walkFolder(ctx, ".", false)
}

func (t *listing) walkFolder(ctx context.Context, from string, linked bool) error {
	return fs.WalkDir(t.fsys, from, func(p string, entry fs.DirEntry, err error) error {
		if err != nil && !utf8.ValidString(p) {
			t.unnamed = append(t.unnamed, p)
			return fs.SkipDir
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		name := path.Base(p)
		isFolder := entry.IsDir()
		if entry.Type()&fs.ModeSymlink != 0 && !linked && strings.Count(p, "/") < 2 {
			if info, err := fs.Stat(t.fsys, p); err == nil && info.IsDir() {
				isFolder = true
			}
		}
		switch {
		case p == ".":
			return nil
		case isFolder && slices.ContainsFunc(serviceFolders, func(s string) bool { return strings.EqualFold(s, name) }):
			t.hidden[name]++
		case strings.HasPrefix(name, "."):
		case isFolder && !entry.IsDir():
			return t.walkFolder(ctx, p, true)
		case isFolder:
			t.folders = append(t.folders, p)
			return nil
		case isImageName(p) && isFile(t.fsys, p, entry):
			t.images = append(t.images, p)
		case entry.Type().IsRegular():
			t.others = append(t.others, p)
		}
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
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
	for _, p := range slices.Concat(t.images, t.unnamed) { // reading an unnamed one reports it
		paths = append(paths, path.Join(dir, p))
	}
	return paths, nil
}

// cutFolder returns the rest of a path below a folder.
func cutFolder(p, folder string) (rest string, ok bool) {
	if folder == "." {
		return p, p != "."
	}
	return strings.CutPrefix(p, folder+"/")
}

// listTopFolders returns the folders of a folder that hold images, and the number of images directly in it.
func (t *listing) listTopFolders(at string) (tops []string, loose int) {
	for _, p := range t.images {
		rest, ok := cutFolder(p, at)
		top, _, deep := strings.Cut(rest, "/")
		switch {
		case !ok:
		case !deep:
			loose++
		case !slices.Contains(tops[max(0, len(tops)-1):], top): // the images of a folder follow each other
			tops = append(tops, top)
		}
	}
	slices.Sort(tops)
	return slices.Compact(tops), loose
}

// listFoldersIn lists all folders directly in a folder.
func (t *listing) listFoldersIn(at string) (list []string) {
	for _, p := range t.folders {
		if rest, ok := cutFolder(p, at); ok && !strings.Contains(rest, "/") {
			list = append(list, rest)
		}
	}
	return list
}

// unwrapFolders returns the folder that holds the classes or splits of a folder: itself or, as long as the images are
// all in one folder that holds folders of them, that folder. A split is no such folder.
func (t *listing) unwrapFolders(at string) string {
	for {
		tops, loose := t.listTopFolders(at)
		if len(tops) != 1 || loose > 0 {
			return at
		}
		below := path.Join(at, tops[0])
		inner, loose := t.listTopFolders(below)
		if _, err := ParseSplit(tops[0]); err == nil || len(inner) == 0 ||
			loose > 0 && !(isPictureFolder(tops[0]) && len(inner) > 1) {
			return at
		}
		at = below
	}
}

// describeListing describes what was left out around the images that were read; boxes: files were read, too.
func (t *listing) describeListing(form, at string, boxes bool) *Reading {
	r := newReading(form, nil, nil)
	if at != "." {
		r.At = at
	}
	var left leftList
	for _, p := range t.others {
		if !boxes {
			left.addOne("no picture", cmp.Or(strings.ToLower(path.Ext(p)), "files without an ending"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.hidden)) {
		left.addMany("service folder", name, "", t.hidden[name])
	}
	for _, p := range t.unnamed {
		left.addUnread("folders", strconv.QuoteToASCII(p), errors.New("its name is not UTF-8 text: rename it"))
	}
	r.Left = left.sortReasons()
	return r
}

// splitOfName returns the split that a word of a name is: validation for instances_val2017; "" if none is one.
func splitOfName(name string) (split string) {
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if s, err := ParseSplit(word); err == nil {
			split = s
		}
	}
	return split
}
