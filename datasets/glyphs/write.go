package glyphs

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/datasets"
	"winnow/internal/atomicfile"
)

// DemoSeed is the seed of winnow demo's images.
const DemoSeed = 1

// ErrNotEmpty means that a folder is not empty.
var ErrNotEmpty = errors.New("expected an empty or new folder")

// Write draws the dataset into an empty or new folder and lists it in a manifest. The manifest is written last: if
// it exists, all images do.
func Write(ctx context.Context, dataset *datasets.Dataset, files fs.FS, dir, manifest string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s: holds %q, %w", dir, entries[0].Name(), ErrNotEmpty)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	return atomicfile.Write(manifest, func(w io.Writer) error { return WriteManifest(w, dataset) })
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
	return os.WriteFile(to, data, 0o644)
}

// WriteManifest writes the dataset as CSV, true labels included.
func WriteManifest(w io.Writer, d *datasets.Dataset) error {
	table := csv.NewWriter(w)
	table.Write([]string{"path", "label", "split", "true_label"}) // errors are kept by the writer until Error
	for _, s := range d.Samples {
		table.Write([]string{s.Path, d.Classes[s.Label], s.Split, d.Classes[s.True]})
	}
	table.Flush()
	return table.Error()
}
