// Package imageroot opens the root that the paths of a manifest are relative to: a folder, a zipped folder, or a folder
// with the packed files of a published dataset. The path of a crop opens the file that contains the crop. A path may
// continue inside a tar file as if the tar file were a folder. The package also collects images from files, folders,
// zip files, shards, manifests, and paths on standard input.
package imageroot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/datasets/packed"
	"winnow/datasets/shards"
	"winnow/internal/regular"
)

// Open opens the root of a manifest's paths: a folder, a .zip file, or the folder of shards, given by a shard or a name
// pattern. If a folder holds the files of MNIST or CIFAR, their images appear as train/00000.bmp and so on, next to the
// other files. A root may be in an object store; ctx then cancels its requests. A zip file is read in place and stays
// open until the program ends.
func Open(ctx context.Context, root location.Source) (fs.FS, error) {
	return openIn(ctx, root, func(dir location.Source) (fs.FS, error) { return dir.Dir(ctx) })
}

// OpenClosed is [Open] for roots served to other users: it does not follow symbolic links out of the folder.
func OpenClosed(ctx context.Context, root location.Source) (fs.FS, error) {
	return openIn(ctx, root, func(dir location.Source) (fs.FS, error) {
		if dir.IsRemote() {
			return dir.Dir(ctx)
		}
		root, err := os.OpenRoot(dir.Path())
		if err != nil {
			return nil, fmt.Errorf("root: %w", err)
		}
		return regular.Root(root), nil
	})
}

// openIn opens a root that also opens crops; open opens a folder.
func openIn(ctx context.Context, root location.Source, open func(location.Source) (fs.FS, error)) (fs.FS, error) {
	files, err := openFiles(ctx, root, open)
	if err != nil {
		return nil, err
	}
	return withCrops{shards.FS(files)}, nil
}

func openFiles(ctx context.Context, root location.Source, open func(location.Source) (fs.FS, error)) (fs.FS, error) {
	layout, err := datasets.LayoutOf(ctx, root)
	if layout == datasets.Shards {
		root = shards.Folder(root)
		_, err = root.Stat(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("root: %w", err)
	}
	if layout == datasets.File || layout == datasets.Zip {
		return openZip(ctx, root)
	}
	folder, err := open(root)
	if err != nil {
		return nil, err
	}
	if images, err := packed.Open(folder); images != nil || err != nil {
		if err != nil {
			return nil, fmt.Errorf("root: %s: %w", root, err)
		}
		return overlay{images, folder}, nil
	}
	return folder, nil
}

// Resolve returns the given root or, if root is zero, the manifest's folder; for a pipe, it returns the working folder.
// A folder or .zip file read as a manifest is its own root. The root of shards is the constant folder of their name
// pattern.
func Resolve(root, manifest location.Source) location.Source {
	if !root.IsZero() {
		return root
	}
	layout, _ := datasets.LayoutOf(context.Background(), manifest)
	switch {
	case layout == datasets.Shards:
		return shards.Folder(manifest)
	case layout == datasets.Folder, layout == datasets.Zip:
		return manifest
	case manifest.IsPipe():
		return location.At(".")
	}
	return manifest.Parent()
}

// openZip opens a zip file as a folder.
func openZip(ctx context.Context, file location.Source) (fs.FS, error) {
	if !file.IsZip() {
		return nil, fmt.Errorf("root: %s: is a file, expected the folder that the manifest's paths are relative to, "+
			"or a .zip file of it", file)
	}
	f, err := file.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("root: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("root: %w", err)
	}
	r, err := datasets.OpenZip(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("root: %s: %w", file, errors.Join(err, f.Close()))
	}
	return r, nil
}

// OpenPublished opens the folder or .zip file with the files of a published dataset.
func OpenPublished(ctx context.Context, root location.Source) (fs.FS, error) {
	if root.IsZip() {
		return openZip(ctx, root)
	}
	info, err := root.Stat(ctx)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("root: %s: is a file, expected the folder with the dataset's files, or a .zip file "+
			"of it", root)
	}
	return root.Dir(ctx)
}

// withCrops opens the file that contains a crop; package backbone cuts the crop.
type withCrops struct{ files fs.FS }

// Open implements fs.FS. If a name has no extension and no such file exists, Open tries image extensions, because some
// lists omit them: ISIC_0027419 opens ISIC_0027419.jpg.
func (c withCrops) Open(name string) (fs.File, error) {
	file, _, _ := datasets.CutCrop(name)
	f, err := c.files.Open(file)
	for _, full := range listEndings(file, err) {
		if f, err := c.files.Open(full); err == nil {
			return f, nil
		}
	}
	return f, err
}

// listEndings lists the files that a name without an extension may mean, if err reports that the file is missing.
func listEndings(name string, err error) (list []string) {
	if !errors.Is(err, fs.ErrNotExist) || path.Ext(name) != "" {
		return nil
	}
	for _, ending := range []string{".jpg", ".jpeg", ".png", ".JPG", ".JPEG", ".PNG", ".webp", ".bmp", ".gif"} {
		list = append(list, name+ending)
	}
	return list
}

// OnlyFiles implements the interface used by [regular.OnlyFiles].
func (c withCrops) OnlyFiles() bool { return regular.OnlyFiles(c.files) }

// Stat implements fs.StatFS, if possible without opening the file.
func (c withCrops) Stat(name string) (fs.FileInfo, error) {
	file, _, _ := datasets.CutCrop(name)
	info, err := fs.Stat(c.files, file)
	for _, full := range listEndings(file, err) {
		if info, err := fs.Stat(c.files, full); err == nil {
			return info, nil
		}
	}
	return info, err
}

// overlay looks for a file in the first tree, then in the second tree.
type overlay [2]fs.FS

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	f, err := o[0].Open(name)
	if errors.Is(err, fs.ErrNotExist) || name == "." {
		return o[1].Open(name)
	}
	return f, err
}

// Stat implements fs.StatFS without opening the file.
func (o overlay) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(o[0], name)
	if errors.Is(err, fs.ErrNotExist) || name == "." {
		return fs.Stat(o[1], name)
	}
	return info, err
}
