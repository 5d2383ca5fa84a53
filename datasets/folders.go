package datasets

import (
	"archive/zip"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"winnow/datasets/location"
)

// imageNames are the endings of files that a folder import takes for images; their content is checked later. Those of
// otherNames are images that cannot be read: they are taken too, so that they are reported and not passed over.
var (
	imageNames = []string{".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".jpe", ".jfif"}
	otherNames = []string{".tif", ".tiff", ".heic", ".heif", ".avif", ".jxl", ".jp2"}
)

// isImageName reports whether a path ends like an image.
func isImageName(p string) bool {
	end := strings.ToLower(path.Ext(p))
	return slices.Contains(imageNames, end) || slices.Contains(otherNames, end)
}

// IsZip reports whether a path has the name of a zip file, which is read as the folder that it holds.
func IsZip(path string) bool { return strings.EqualFold(filepath.Ext(location.Base(path)), ".zip") }

// isTree reports whether a source is a folder, zipped or not, or shards: it has no form that a mended copy could have.
func isTree(source string) bool {
	ctx := context.Background()
	return isFolder(ctx, source) || isShards(ctx, source, Auto)
}

// isFolder reports whether a source is a folder, zipped or not.
func isFolder(ctx context.Context, source string) bool {
	info, err := location.Stat(ctx, source)
	return err == nil && (info.IsDir() || IsZip(source))
}

// readZip reads the folder that a zip file holds.
func readZip(source string, opts ReadOptions) (*Dataset, error) {
	f, err := location.Open(opts.context(), source)
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
	return ReadFolders(root, source, opts)
}

// ReadFolders reads a folder per class, of Pascal VOC the boxes, or where it holds metadata.csv, .jsonl or .parquet with a column file_name what that
// lists, as Hugging Face's imagefolder has it. Where the top folders are named after splits (train, val, test, …)
// the classes are looked for below them. A folder that holds nothing but one folder of folders, as many a zip file, only
// wraps that one. Files that do not end like an image, names that begin with a dot, and pipes and devices are passed over;
// nested folders belong to the class folder they lie in. A folder whose name is not UTF-8 cannot be opened, and stands for
// its images.
func ReadFolders(fsys fs.FS, name string, opts ReadOptions) (*Dataset, error) {
	if opts.StripPrefix != "" {
		return nil, fmt.Errorf("datasets: %s: found a prefix to strip, %q, expected none: paths are relative to the folder", name, opts.StripPrefix)
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
		return nil, fmt.Errorf("datasets: %s: found names of columns, expected none: it is a folder with a folder for each class, and no table", name)
	}
	splits := make(map[string]string, len(tops)) // top folder → split
	for _, top := range tops {
		if s, err := ParseSplit(top); err == nil {
			splits[top] = s
		}
	}
	if len(splits) > 0 && len(splits) < len(tops) { // a feature store beside them, say, is no class
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

// noImage is the error of a folder, called so, without images.
type noImage struct{ name string }

func (n *noImage) Error() string {
	return fmt.Sprintf("datasets: %s: no image found, expected one folder per class with files ending in %s", n.name, strings.Join(imageNames, ", "))
}

// unwrapped returns the folder that the classes or splits lie in, and them: the top one, or where that holds nothing but
// one folder of folders, the one inside.
func unwrapped(ctx context.Context, fsys fs.FS) (at string, tops []string, err error) {
	for at = "."; ; at = path.Join(at, tops[0]) {
		if tops, err = folders(ctx, fsys, at); err != nil || len(tops) != 1 {
			return at, tops, err
		}
		if _, err := ParseSplit(tops[0]); err == nil {
			return at, tops, nil
		}
		below, err := fs.ReadDir(fsys, path.Join(at, tops[0]))
		if err != nil { // it is told where its images are looked for
			return at, tops, nil
		}
		isImage := func(e fs.DirEntry) bool { return isImageName(e.Name()) }
		if slices.ContainsFunc(below, isImage) || !slices.ContainsFunc(below, fs.DirEntry.IsDir) {
			return at, tops, nil
		}
	}
}

// withImages returns those of the folders that an image lies below.
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

// folders lists the visible folders of dir in order, without what macOS puts beside the files of a zip.
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
		info, err := fs.Stat(fsys, path.Join(dir, e.Name())) // links count
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

// Images lists the images of a folder and all below it, in text order: files that end like one, names that begin with a
// dot passed over.
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

// isFile reports whether an entry is a file, or a link to one; a link that leads nowhere stays, for its reader to report.
func isFile(fsys fs.FS, p string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return entry.Type().IsRegular()
	}
	info, err := fs.Stat(fsys, p)
	return err != nil || info.Mode().IsRegular()
}
