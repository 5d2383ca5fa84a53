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

// Layout is how a dataset is stored.
type Layout int

// The layouts. A source that does not exist counts as a File.
const (
	File   Layout = iota // a manifest file, or a pipe that delivers one
	Folder               // a folder of images or of shards
	Zip                  // a zipped folder of images
	Shards               // a tar or Parquet file, or a name pattern for several
)

// LayoutOf returns the layout of a source. It does not read from a pipe.
func LayoutOf(ctx context.Context, source location.Source) (Layout, error) {
	if shards.IsPattern(source) {
		return Shards, nil
	}
	if source.IsPipe() {
		return File, nil
	}
	info, err := shards.StatImages(ctx, source)
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

// OpenZip opens a zip file as a folder. It reads names with backslashes, which some Windows programs write, as paths.
func OpenZip(f io.ReaderAt, size int64) (*zip.Reader, error) {
	var head [64]byte
	n, _ := f.ReadAt(head[:], 0) // a short file gives fewer bytes
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

// imageNames lists the extensions of files read as images from a folder; the content is checked later. otherNames lists
// image formats that winnow cannot decode. Their files are included, so that they are reported instead of ignored.
var (
	imageNames = []string{".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".jpe", ".jfif"}
	otherNames = []string{".tif", ".tiff", ".heic", ".heif", ".avif", ".jxl", ".jp2"}
)

// isImageName reports whether a path has an image extension.
func isImageName(p string) bool {
	end := strings.ToLower(path.Ext(p))
	return slices.Contains(imageNames, end) || slices.Contains(otherNames, end)
}

// pictureFolder matches the names of folders that hold images next to their annotations.
var pictureFolder = regexp.MustCompile(
	`^(images?|imgs?|jpegimages|jpe?g|png|obj_train_data)(_[0-9])?$|^(pictures|photos)$`)

func isPictureFolder(name string) bool { return pictureFolder.MatchString(strings.ToLower(name)) }

// isNoClass reports whether a name is that of an image folder and never that of a class.
func isNoClass(name string) bool {
	return isPictureFolder(name) && !strings.EqualFold(name, "photos") && !strings.EqualFold(name, "pictures")
}

// serviceFolders lists folders that operating systems and network drives create, such as thumbnails and recycle bins.
// Folders whose names start with a dot are skipped as well.
var serviceFolders = []string{"__MACOSX", "@eaDir", "#recycle", "#snapshot", "@Recycle", "$RECYCLE.BIN", "lost+found",
	"System Volume Information"}

// listing holds the files and folders below a folder.
type listing struct {
	fsys    fs.FS
	images  []string       // in the order of fs.WalkDir
	folders []string       // all folders except service folders
	others  []string       // files that are not images
	hidden  map[string]int // number of service folders by name
	unnamed []string       // folders that cannot be opened because their names are not UTF-8
}

// listTree lists a folder. It follows links to folders in the two highest levels, which hold splits and classes.
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

// isFile reports whether an entry is a file or a link to a file. A broken link is treated as a file, so that opening it
// reports the error.
func isFile(fsys fs.FS, p string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.Type().IsRegular()
	}
	info, err := fs.Stat(fsys, p)
	return err != nil || info.Mode().IsRegular()
}

// Images lists the images in dir and its subfolders, except service folders, in text order.
func Images(fsys fs.FS, dir string) (paths []string, err error) {
	below, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, err
	}
	t, err := listTree(context.Background(), below)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Concat(t.images, t.unnamed) { // reading an unnamed folder reports an error
		paths = append(paths, path.Join(dir, p))
	}
	return paths, nil
}

// cutFolder returns the part of a path after a folder.
func cutFolder(p, folder string) (rest string, ok bool) {
	if folder == "." {
		return p, p != "."
	}
	return strings.CutPrefix(p, folder+"/")
}

// listTopFolders returns the folders directly in at that contain images, and the number of images directly in at.
func (t *listing) listTopFolders(at string) (tops []string, loose int) {
	for _, p := range t.images {
		rest, ok := cutFolder(p, at)
		top, _, deep := strings.Cut(rest, "/")
		switch {
		case !ok:
		case !deep:
			loose++
		case !slices.Contains(tops[max(0, len(tops)-1):], top): // images of the same folder are adjacent
			tops = append(tops, top)
		}
	}
	slices.Sort(tops)
	return slices.Compact(tops), loose
}

// listFoldersIn lists the folders directly in a folder.
func (t *listing) listFoldersIn(at string) (list []string) {
	for _, p := range t.folders {
		if rest, ok := cutFolder(p, at); ok && !strings.Contains(rest, "/") {
			list = append(list, rest)
		}
	}
	return list
}

// unwrapFolders returns the folder that contains the class or split folders. From the given folder, it descends as long
// as one subfolder contains all images and has subfolders with images. It does not enter a folder named after a split.
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

// describeListing describes what was left out besides images; with boxes, the other files were read.
func (t *listing) describeListing(form, at string, boxes bool) *Reading {
	r := newReading(form, nil, nil)
	if at != "." {
		r.At = at
	}
	var left leftList
	for _, p := range t.others {
		if !boxes {
			left.addOne("no image", cmp.Or(strings.ToLower(path.Ext(p)), "files without an extension"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.hidden)) {
		left.addMany("service folder", name, "", t.hidden[name])
	}
	for _, p := range t.unnamed {
		left.addUnread("folders", strconv.QuoteToASCII(p), errors.New("the name is not UTF-8 text: rename the folder"))
	}
	r.Left = left.sortReasons()
	return r
}

// splitOfName returns the split that a word of a name means, such as validation for instances_val2017; "" if none does.
func splitOfName(name string) (split string) {
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if s, err := ParseSplit(word); err == nil {
			split = s
		}
	}
	return split
}
