package datasets

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// imageNames are the endings of files that a folder import takes for images; their content is checked later.
var imageNames = []string{".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".jpe", ".jfif"}

// ReadFolders reads a folder per class. Where the top folders are named after splits (train, val, test, …)
// the classes are looked for below them. Files that do not end like an image, names that begin with a
// dot, and pipes and devices are passed over; nested folders belong to the class folder they lie in. A folder whose name is
// not UTF-8 cannot be opened, and stands for its images.
func ReadFolders(fsys fs.FS, name string, opts ReadOptions) (*Dataset, error) {
	if opts.StripPrefix != "" {
		return nil, fmt.Errorf("datasets: %s: found a prefix to strip, %q, expected none: paths are relative to the folder", name, opts.StripPrefix)
	}
	opts.Split = cmp.Or(opts.Split, Train)
	split, err := ParseSplit(opts.Split)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	ctx := opts.Once
	if ctx == nil {
		ctx = context.Background()
	}
	tops, err := folders(ctx, fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	splits := make(map[string]string, len(tops)) // top folder → split
	for _, top := range tops {
		if s, err := ParseSplit(top); err == nil {
			splits[top] = s
		}
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
		err = add(".", split, tops)
	} else {
		for _, top := range tops {
			classes, ferr := folders(ctx, fsys, top)
			if ferr != nil {
				return nil, fmt.Errorf("datasets: %s: %w", name, ferr)
			}
			if err = add(top, splits[top], classes); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("datasets: %s: no image found, expected one folder per class with files ending in %s", name, strings.Join(imageNames, ", "))
	}
	return build(rows, nil), nil
}

// folders lists the visible folders of dir in order.
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
		if strings.HasPrefix(e.Name(), ".") {
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
		if !hidden && slices.Contains(imageNames, strings.ToLower(path.Ext(p))) && isFile(fsys, p, entry) {
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
