// Package imagelist collects images from files, folders, zip files, shards, manifests, and paths on standard input.
package imagelist

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
)

// List is a list of images from files, folders, zip files, shards and manifests, in the order given. It is an fs.FS
// in which each image has the name that the user gave.
type List struct {
	Images []Image
	ctx    context.Context // of requests to object stores
	at     map[string]place
	roots  map[string]fs.FS // opened, by path
}

// Image is an image with its manifest's label and split.
type Image struct{ Path, Label, Split string }

// place is the location of an image: a path below a root, which is "" for the system's own files.
type place struct{ root, inner string }

// manifestEndings are the endings of files that list images.
var manifestEndings = []string{".csv", ".tsv", ".jsonl", ".txt"}

// Open finds the images named by the arguments; "-" means paths on standard input, one per line. Paths from
// manifests and standard input are relative to root; if root is "", to the manifest's folder and the working
// folder.
func Open(ctx context.Context, args []string, root string, stdin io.Reader) (*List, error) {
	l := &List{ctx: ctx, at: map[string]place{}, roots: map[string]fs.FS{}}
	for _, arg := range args {
		if err := l.take(arg, root, stdin); err != nil {
			return nil, err
		}
	}
	if len(l.Images) == 0 {
		return nil, fmt.Errorf("images: %s: found none", strings.Join(args, ", "))
	}
	return l, nil
}

func (l *List) take(arg, root string, stdin io.Reader) error {
	if arg == "-" {
		return l.takeLines(stdin, root)
	}
	if dir, ok := datasets.ShardRoot(arg); ok {
		return l.takeShards(arg, dir)
	}
	info, err := location.Stat(l.ctx, arg)
	switch {
	case err != nil:
		return fmt.Errorf("images: %w", err)
	case info.IsDir():
		return l.takeFolder(arg)
	case datasets.IsZip(arg):
		return l.takeZip(arg)
	}
	for _, ending := range manifestEndings {
		if strings.EqualFold(filepath.Ext(location.Base(arg)), ending) {
			return l.takeManifest(arg, root)
		}
	}
	return l.add(Image{Path: filepath.ToSlash(arg)}, place{inner: arg})
}

// takeFolder adds every image below a folder.
func (l *List) takeFolder(dir string) error {
	folder, err := location.Dir(l.ctx, dir)
	if err != nil {
		return fmt.Errorf("images: %w", err)
	}
	found, err := datasets.Images(folder, ".")
	if err != nil {
		return fmt.Errorf("images: %s: %w", dir, err)
	}
	if len(found) == 0 {
		return fmt.Errorf("images: %s: no image in this folder", dir)
	}
	for _, name := range found {
		file := location.Join(dir, name)
		if err := l.add(Image{Path: filepath.ToSlash(file)}, place{inner: file}); err != nil {
			return err
		}
	}
	return nil
}

// takeZip adds every image of a zip file, as birds.zip/03.jpg.
func (l *List) takeZip(file string) error {
	fsys, err := l.root(file)
	if err != nil {
		return err
	}
	found, err := datasets.Images(fsys, ".")
	if err != nil {
		return fmt.Errorf("images: %s: %w", file, err)
	}
	if len(found) == 0 {
		return fmt.Errorf("images: %s: no image in this file", file)
	}
	for _, name := range found {
		if err := l.add(Image{Path: filepath.ToSlash(location.Join(file, name))}, place{file, name}); err != nil {
			return err
		}
	}
	return nil
}

// takeShards adds every image of shards, as dir/birds.tar/03.jpg.
func (l *List) takeShards(pattern, dir string) error {
	d, err := datasets.Read(pattern, datasets.ReadOptions{Once: l.ctx})
	if err != nil {
		return err
	}
	if _, err := l.root(dir); err != nil {
		return err
	}
	for _, s := range d.Samples {
		n := Image{Path: filepath.ToSlash(location.Join(dir, s.Path)), Split: s.Split, Label: d.LabelName(s)}
		if err := l.add(n, place{dir, s.Path}); err != nil {
			return err
		}
	}
	return nil
}

// takeManifest adds the images of a manifest, under the manifest's paths, with labels and splits.
func (l *List) takeManifest(file, root string) error {
	d, err := datasets.Read(file, datasets.ReadOptions{Once: l.ctx})
	if err != nil {
		return err
	}
	root = imageroot.Resolve(root, file)
	if _, err := l.root(root); err != nil {
		return err
	}
	for _, s := range d.Samples {
		n := Image{Path: s.Path, Split: s.Split, Label: d.LabelName(s)}
		if err := l.add(n, place{root, s.Path}); err != nil {
			return err
		}
	}
	return nil
}

// takeLines adds paths, one per line. A missing file is an unreadable image, not an error.
func (l *List) takeLines(r io.Reader, root string) error {
	if root != "" {
		if _, err := l.root(root); err != nil {
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
		if err := l.add(Image{Path: filepath.ToSlash(name)}, place{root, name}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("images: standard input: %w", err)
	}
	return nil
}

// root opens a folder or zip file once.
func (l *List) root(name string) (fs.FS, error) {
	if fsys, ok := l.roots[name]; ok {
		return fsys, nil
	}
	fsys, err := imageroot.Open(l.ctx, name)
	if err != nil {
		return nil, err
	}
	l.roots[name] = fsys
	return fsys, nil
}

// add adds an image. Two images of the same name are an error, because they would be mixed up.
func (l *List) add(n Image, at place) error {
	if old, ok := l.at[n.Path]; ok && old != at {
		return fmt.Errorf("images: two are called %s: below %q and below %q", n.Path, old.root, at.root)
	}
	l.at[n.Path] = at
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

// Open implements fs.FS.
func (l *List) Open(name string) (fs.File, error) {
	at, ok := l.at[name]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case at.root == "":
		return location.Open(l.ctx, at.inner)
	}
	return l.roots[at.root].Open(at.inner)
}

// Files returns the files that the images are read from, without folders and manifests.
func (l *List) Files() (files []string) {
	for root := range l.roots {
		files = append(files, root)
	}
	return files
}
