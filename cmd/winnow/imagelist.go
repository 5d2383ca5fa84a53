package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"winnow/datasets"
	"winnow/datasets/imageroot"
)

// imageList is images from anywhere, in the order they were named: files, folders, zip files, manifests. It is an fs.FS
// in which each has the name that the user knows it by.
type imageList struct {
	named []namedImage
	at    map[string]place
	roots map[string]fs.FS // opened, by path
}

// namedImage is an image with what its manifest says of it.
type namedImage struct{ path, label, split string }

// place is where an image lies: below a root, "" for the system's own files.
type place struct{ root, inner string }

// manifestEndings are those of files that list images.
var manifestEndings = []string{".csv", ".jsonl", ".txt"}

// listImages finds the images that arguments name; "-" is paths on standard input, a line each. root is what the paths
// of manifests and of standard input start from, "" for the manifest's folder and the working folder.
func listImages(args []string, root string, stdin io.Reader) (*imageList, error) {
	l := &imageList{at: map[string]place{}, roots: map[string]fs.FS{}}
	for _, arg := range args {
		if err := l.take(arg, root, stdin); err != nil {
			return nil, err
		}
	}
	if len(l.named) == 0 {
		return nil, fmt.Errorf("images: %s: found none", strings.Join(args, ", "))
	}
	return l, nil
}

func (l *imageList) take(arg, root string, stdin io.Reader) error {
	if arg == "-" {
		return l.takeLines(stdin, root)
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		return fmt.Errorf("images: %w", err)
	case info.IsDir():
		return l.takeFolder(arg)
	case imageroot.IsZip(arg):
		return l.takeZip(arg)
	}
	for _, ending := range manifestEndings {
		if strings.EqualFold(filepath.Ext(arg), ending) {
			return l.takeManifest(arg, root)
		}
	}
	return l.add(namedImage{path: filepath.ToSlash(arg)}, place{inner: arg})
}

// takeFolder takes every image below a folder.
func (l *imageList) takeFolder(dir string) error {
	found, err := datasets.Images(os.DirFS(dir), ".")
	if err != nil {
		return fmt.Errorf("images: %s: %w", dir, err)
	}
	if len(found) == 0 {
		return fmt.Errorf("images: %s: no image in this folder", dir)
	}
	for _, name := range found {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := l.add(namedImage{path: filepath.ToSlash(file)}, place{inner: file}); err != nil {
			return err
		}
	}
	return nil
}

// takeZip takes every image of a zip file, as birds.zip/03.jpg.
func (l *imageList) takeZip(file string) error {
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
		if err := l.add(namedImage{path: path.Join(filepath.ToSlash(file), name)}, place{file, name}); err != nil {
			return err
		}
	}
	return nil
}

// takeManifest takes the images of a manifest, under the manifest's own paths, with labels and splits.
func (l *imageList) takeManifest(file, root string) error {
	d, err := datasets.Read(file, datasets.ReadOptions{})
	if err != nil {
		return err
	}
	root = imageroot.Of(root, file)
	if _, err := l.root(root); err != nil {
		return err
	}
	for _, s := range d.Samples {
		n := namedImage{path: s.Path, split: s.Split}
		if s.Label != datasets.Unlabelled {
			n.label = d.Classes[s.Label]
		}
		if err := l.add(n, place{root, s.Path}); err != nil {
			return err
		}
	}
	return nil
}

// takeLines takes paths, one a line. A file that is not there is an unreadable image, not an error.
func (l *imageList) takeLines(r io.Reader, root string) error {
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
		if err := l.add(namedImage{path: filepath.ToSlash(name)}, place{root, name}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("images: standard input: %w", err)
	}
	return nil
}

// root opens a folder or zip file once.
func (l *imageList) root(name string) (fs.FS, error) {
	if fsys, ok := l.roots[name]; ok {
		return fsys, nil
	}
	fsys, err := imageroot.Open(name)
	if err != nil {
		return nil, err
	}
	l.roots[name] = fsys
	return fsys, nil
}

// add takes an image. One name for two images would mix them up.
func (l *imageList) add(n namedImage, at place) error {
	if old, ok := l.at[n.path]; ok && old != at {
		return fmt.Errorf("images: two are called %s: below %q and below %q", n.path, old.root, at.root)
	}
	l.at[n.path] = at
	l.named = append(l.named, n)
	return nil
}

// paths are the names in order.
func (l *imageList) paths() []string {
	list := make([]string, len(l.named))
	for i, n := range l.named {
		list[i] = n.path
	}
	return list
}

// Open implements fs.FS.
func (l *imageList) Open(name string) (fs.File, error) {
	at, ok := l.at[name]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case at.root == "":
		return os.Open(at.inner)
	}
	return l.roots[at.root].Open(at.inner)
}
