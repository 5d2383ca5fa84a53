package glyphs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/datasets"
	"winnow/internal/atomicfile"
	"winnow/internal/regular"
)

// ErrNotEmpty reports that a folder is not empty.
var ErrNotEmpty = errors.New("expected an empty or new folder")

// Write draws the dataset into a folder and lists it in a manifest. The folder must be new or empty, or contain files
// of an earlier, unfinished call for the same dataset. The manifest is written last, so if it exists, all images exist.
func Write(ctx context.Context, dataset *datasets.Dataset, files fs.FS, dir, manifest string) error {
	if err := checkUnused(dataset, dir, manifest); err != nil {
		return err
	}
	for i, s := range dataset.Samples {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := copyImage(files, s.Path, dir); err != nil {
			return err
		}
	}
	return datasets.WriteFile(manifest, dataset, nil)
}

// checkUnused returns an error if a folder contains files other than the dataset's images and a temporary manifest.
func checkUnused(dataset *datasets.Dataset, dir, manifest string) error {
	ours := make(map[string]bool, len(dataset.Samples))
	for _, s := range dataset.Samples {
		ours[filepath.Join(dir, filepath.FromSlash(s.Path))] = true
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || d.IsDir() || ours[path]:
			return err
		case atomicfile.Left(manifest, path): // temporary file of a killed process
			return nil
		}
		name, _ := filepath.Rel(dir, path)
		return fmt.Errorf("%s: holds %q, %w", dir, filepath.ToSlash(name), ErrNotEmpty)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func copyImage(files fs.FS, path, dir string) error {
	data, err := fs.ReadFile(files, path)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := regular.OpenOwn(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
