package imageroot

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/internal/regular"
	"winnow/internal/text"
)

// List is an ordered list of images from files, folders, zip files, shards and manifests. It is an fs.FS in which each
// image has the name given by the user.
type List struct {
	Images []Image
	ctx    context.Context // cancels requests to object stores
	at     map[string]imagePlace
	roots  map[location.Source]fs.FS // opened roots

	folders []string // folders of the list, each with a final slash
	twice   []string // images that were named repeatedly
	note    func(format string, args ...any)
}

// Image is an image with its label and split from a manifest.
type Image struct{ Path, Label, Split string }

// imagePlace is the location of an image: a path below a root or, if root is zero, a file.
type imagePlace struct {
	root  location.Source
	inner string
	file  location.Source
	as    Image // the first entry of the image
}

// manifestEndings lists the extensions of files that list images.
var manifestEndings = []string{".csv", ".tsv", ".jsonl", ".txt"}

// OpenList finds the images of sources; "-" stands for paths on standard input, one per line. Paths from manifests and
// standard input are relative to root or, if root is zero, to the manifest's folder and the working folder. An image
// that is named twice is read once; note, if not nil, receives a line about it.
func OpenList(ctx context.Context, sources []location.Source, root location.Source, stdin io.Reader,
	note func(format string, args ...any)) (*List, error) {
	l := &List{ctx: ctx, at: map[string]imagePlace{}, roots: map[location.Source]fs.FS{}, note: note}
	for _, source := range sources {
		if err := l.takeSource(source, root, stdin); err != nil {
			return nil, err
		}
	}
	if len(l.Images) == 0 {
		return nil, fmt.Errorf("images: found no image in %v", sources)
	}
	if len(l.twice) > 0 && note != nil {
		note("%s named repeatedly and read once, such as %s", text.Plural(len(l.twice), "image"), text.Line(l.twice[0]))
	}
	return l, nil
}

func (l *List) takeSource(source, root location.Source, stdin io.Reader) error {
	if source.Path() == "-" {
		return l.takeLines(stdin, root)
	}
	layout, err := datasets.LayoutOf(l.ctx, source)
	switch {
	case err != nil:
		return fmt.Errorf("images: %w", err)
	case layout == datasets.Folder, layout == datasets.Zip:
		return l.takeTree(source, layout == datasets.Zip)
	case layout == datasets.Shards:
		return l.takeShards(source)
	case slices.Contains(manifestEndings, strings.ToLower(source.Ext())):
		return l.takeManifest(source, root, Resolve(root, source),
			func(path string) string { return path })
	}
	return l.addListed(Image{Path: nameOf(source)}, imagePlace{file: source})
}

// nameOf returns the name of an image file given by the user.
func nameOf(file location.Source) string { return filepath.ToSlash(file.String()) }

// takeTree adds every image of a folder or a zip file, under names such as birds.zip/03.jpg.
func (l *List) takeTree(source location.Source, zip bool) error {
	files, err := fs.FS(nil), error(nil)
	if zip {
		files, err = l.openRoot(source)
	} else if files, err = source.Dir(l.ctx); err != nil {
		err = fmt.Errorf("images: %w", err)
	}
	if err != nil {
		return err
	}
	found, err := datasets.Images(files, ".")
	if err != nil {
		return fmt.Errorf("images: %s: %w", source, err)
	}
	if len(found) == 0 && zip {
		return fmt.Errorf("images: %s: no image in this file", source)
	} else if len(found) == 0 {
		if err := l.takeShards(source); err != nil {
			return fmt.Errorf("images: %s: no image in this folder: %w", source, err)
		}
		return nil
	}
	l.folders = append(l.folders, strings.TrimSuffix(nameOf(source.Join("x")), "x"))
	for _, name := range found {
		file := source.Join(name)
		at := imagePlace{file: file}
		if zip {
			at = imagePlace{root: source, inner: name}
		}
		if err := l.addListed(Image{Path: nameOf(file)}, at); err != nil {
			return err
		}
	}
	return nil
}

// takeShards adds the images of shards.
func (l *List) takeShards(source location.Source) error {
	root := Resolve(location.Source{}, source)
	return l.takeManifest(source, root, root, func(path string) string { return nameOf(root.Join(path)) })
}

// takeManifest adds the images of a manifest or of shards, with labels and splits. name converts a path below root to
// the image's name. asked is the root given by the user, which may be zero.
func (l *List) takeManifest(source, asked, root location.Source, name func(path string) string) error {
	d, err := datasets.Read(source, datasets.ReadOptions{Once: l.ctx, Root: asked, Note: l.note})
	if err != nil {
		return err
	}
	if _, err := l.openRoot(root); err != nil {
		return err
	}
	for _, s := range d.Samples {
		n := Image{Path: name(s.Path), Split: s.Split, Label: d.LabelName(s)}
		if err := l.addListed(n, imagePlace{root: root, inner: s.Path}); err != nil {
			return err
		}
	}
	return nil
}

// takeLines adds paths, one per line. A missing file is an unreadable image, not an error.
func (l *List) takeLines(r io.Reader, root location.Source) error {
	if !root.IsZero() {
		if _, err := l.openRoot(root); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name := strings.TrimSuffix(lines.Text(), "\r")
		if name == "" {
			continue
		}
		at := imagePlace{root: root, inner: name}
		if root.IsZero() {
			at = imagePlace{file: location.At(name)}
		}
		if err := l.addListed(Image{Path: filepath.ToSlash(name)}, at); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("images: standard input: %w", err)
	}
	return nil
}

// openRoot opens a folder or zip file once.
func (l *List) openRoot(at location.Source) (fs.FS, error) {
	if fsys, ok := l.roots[at]; ok {
		return fsys, nil
	}
	fsys, err := Open(l.ctx, at)
	if err != nil {
		return nil, err
	}
	l.roots[at] = fsys
	return fsys, nil
}

// addListed adds an image, once for each split. Two different images with the same name are an error, because they
// would be confused; so are two different labels of one image.
func (l *List) addListed(n Image, at imagePlace) error {
	old, again := l.at[n.Path]
	at.as = old.as
	switch {
	case again && old != at:
		return fmt.Errorf("images: two images have the name %s: below %q and below %q", n.Path, old.root.String(),
			at.root.String())
	case again && n.Label != old.as.Label && n.Label != "" && old.as.Label != "":
		return fmt.Errorf("images: %s is labelled %q and %q, expected one label per image: correct one of the lists",
			text.Line(n.Path), old.as.Label, n.Label)
	case again && (n == old.as || n.Label == "" && n.Split == ""):
		l.twice = append(l.twice, n.Path)
		return nil
	case !again:
		at.as = n
		l.at[n.Path] = at
	}
	l.Images = append(l.Images, n)
	return nil
}

// Paths returns the names of the images, in order.
func (l *List) Paths() []string {
	list := make([]string, len(l.Images))
	for i, n := range l.Images {
		list[i] = n.Path
	}
	return list
}

// Base returns the folder or container file that the name of an image is relative to: the working folder or a
// manifest's root. It returns the zero source if the image is not on this machine.
func (l *List) Base(name string) location.Source {
	at, ok := l.at[name]
	switch {
	case !ok || at.root.IsRemote() || at.file.IsRemote():
		return location.Source{}
	case at.root.IsZero() || nameOf(at.root.Join(at.inner)) == name:
		return location.At(".")
	}
	return at.root
}

// Has reports whether an image with this name is in the list.
func (l *List) Has(name string) bool {
	_, ok := l.at[name]
	return ok
}

// Covers reports whether an image with this name would be in the list if it existed, because it is below one of the
// folders of the list.
func (l *List) Covers(name string) bool {
	return slices.ContainsFunc(l.folders, func(folder string) bool { return strings.HasPrefix(name, folder) })
}

// Open implements fs.FS.
func (l *List) Open(name string) (fs.File, error) {
	if !utf8.ValidString(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: regular.ErrName}
	}
	at, ok := l.at[name]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case at.root.IsZero():
		return at.file.Open(l.ctx)
	}
	return l.roots[at.root].Open(at.inner)
}

// Files returns the container files and folders that images are read from.
func (l *List) Files() (files []string) {
	for root := range l.roots {
		files = append(files, root.String())
	}
	return files
}
