package datasets

import (
	"archive/zip"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/datasets/location"
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
	f, err := source.Open(opts.context())
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	root, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", source, err)
	}
	return ReadFolders(root, source.String(), opts)
}

// ReadFolders reads a folder with one folder per class. If it is a Pascal VOC folder, it reads the boxes. If it
// holds metadata.csv, .jsonl or .parquet with a column file_name, it reads what that lists, as Hugging Face's
// imagefolder does. If the top folders are named after splits (train, val, test, …), the class folders are one
// level below. A folder that holds nothing but one folder of folders, as in many zip files, is replaced by that
// one. Files without the ending of an image, names that begin with a dot, pipes and devices are ignored. Nested
// folders belong to their class folder. A folder whose name is not UTF-8 cannot be opened; it is listed in place of
// its images.
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
	ctx := opts.context()
	at, tops, err := unwrapped(ctx, fsys)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if opts.Format != Folders {
		if d, err := imageFolder(ctx, fsys, name, at, tops, opts); d != nil || err != nil {
			return d, err
		}
	}
	if opts.Format != Folders && isVOC(tops) {
		if err := opts.checkBoxes(); err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", name, err)
		}
		opts.Split = split
		return readVOC(ctx, fsys, name, at, opts)
	}
	if opts.named() {
		return nil, fmt.Errorf("datasets: %s: found column names, expected none: it is a folder of class folders, "+
			"not a table", name)
	}
	splits := make(map[string]string, len(tops)) // top folder → split
	for _, top := range tops {
		if s, err := ParseSplit(top); err == nil {
			splits[top] = s
		}
	}
	if len(splits) > 0 && len(splits) < len(tops) { // a feature store next to them, for example, is not a class
		if tops, err = withImages(ctx, fsys, at, tops); err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", name, err)
		}
		maps.DeleteFunc(splits, func(top, _ string) bool { return !slices.Contains(tops, top) })
	}
	var rows []row
	add := func(parent, split string, classes []string) error {
		for _, class := range classes {
			if rows, err = addClass(ctx, rows, fsys, path.Join(parent, class), class, split); err != nil {
				return fmt.Errorf("datasets: %s: %w", name, err)
			}
		}
		return nil
	}
	if len(tops) == 0 || len(splits) < len(tops) {
		err = add(at, split, tops)
	} else {
		for _, top := range tops {
			classes, ferr := folders(ctx, fsys, path.Join(at, top))
			if ferr != nil {
				return nil, fmt.Errorf("datasets: %s: %w", name, ferr)
			}
			if err = add(path.Join(at, top), splits[top], classes); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, &noImage{name}
	}
	return build(rows, nil), nil
}

// noImage is the error for a folder without images.
type noImage struct{ name string }

func (n *noImage) Error() string {
	return fmt.Sprintf("datasets: %s: no image found, expected one folder per class with files ending in %s", n.name,
		strings.Join(imageNames, ", "))
}

// unwrapped returns the folder that holds the classes or splits, and their names: the top folder or, if it holds
// nothing but one folder of folders, the inner one.
func unwrapped(ctx context.Context, fsys fs.FS) (at string, tops []string, err error) {
	for at = "."; ; at = path.Join(at, tops[0]) {
		if tops, err = folders(ctx, fsys, at); err != nil || len(tops) != 1 {
			return at, tops, err
		}
		if _, err := ParseSplit(tops[0]); err == nil {
			return at, tops, nil
		}
		below, err := fs.ReadDir(fsys, path.Join(at, tops[0]))
		if err != nil { // reported when its images are listed
			return at, tops, nil
		}
		isImage := func(e fs.DirEntry) bool { return isImageName(e.Name()) }
		if slices.ContainsFunc(below, isImage) || !slices.ContainsFunc(below, fs.DirEntry.IsDir) {
			return at, tops, nil
		}
	}
}

// withImages returns the folders that have an image below them.
func withImages(ctx context.Context, fsys fs.FS, at string, tops []string) (list []string, err error) {
	for _, top := range tops {
		images := 0
		if err := walkImages(ctx, fsys, path.Join(at, top), func(string) { images++ }); err != nil {
			return nil, err
		}
		if images > 0 {
			list = append(list, top)
		}
	}
	return list, nil
}

// folders lists the visible folders of dir in order, without the one that macOS adds to zip files.
func folders(ctx context.Context, fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if strings.HasPrefix(e.Name(), ".") || e.Name() == "__MACOSX" {
			continue
		}
		info, err := fs.Stat(fsys, path.Join(dir, e.Name())) // follows links
		if err == nil && info.IsDir() || e.IsDir() && !utf8.ValidString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func addClass(ctx context.Context, rows []row, fsys fs.FS, dir, class, split string) ([]row, error) {
	err := walkImages(ctx, fsys, dir, func(p string) { rows = append(rows, row{path: p, label: class, split: split}) })
	return rows, err
}

// Images lists the images in a folder and below, in text order: files with the ending of an image whose names do
// not begin with a dot.
func Images(fsys fs.FS, dir string) (paths []string, err error) {
	err = walkImages(context.Background(), fsys, dir, func(p string) { paths = append(paths, p) })
	return paths, err
}

func walkImages(ctx context.Context, fsys fs.FS, dir string, visit func(p string)) error {
	return fs.WalkDir(fsys, dir, func(p string, entry fs.DirEntry, err error) error {
		if err != nil && !utf8.ValidString(p) { // cannot be opened by its name: reading the image p reports it
			visit(p)
			return fs.SkipDir
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && p != dir
		if entry.IsDir() {
			if hidden {
				return fs.SkipDir
			}
			return nil
		}
		if !hidden && isImageName(p) && isFile(fsys, p, entry) {
			visit(p)
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
