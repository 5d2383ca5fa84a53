package datasets

import (
	"context"
	"strings"

	"winnow/datasets/location"
	"winnow/datasets/shards"
)

// Layout is how a source holds a dataset.
type Layout int

// The layouts. A source that does not exist counts as a File.
const (
	File   Layout = iota // a manifest, or a pipe that one is read from
	Folder               // a folder of images or of shards
	Zip                  // a .zip file of a folder of images
	Shards               // a tar or Parquet file, or a pattern of the names of several
)

// LayoutOf looks at a source, but not into a pipe.
func LayoutOf(ctx context.Context, source location.Source) (Layout, error) {
	if shards.IsPattern(source) {
		return Shards, nil
	}
	if source.IsPipe() {
		return File, nil
	}
	info, err := source.Stat(ctx)
	if err != nil {
		return File, err
	}
	if info.IsDir() {
		return Folder, nil
	}
	if kind, err := shards.KindOf(ctx, source); err == nil && kind != shards.None {
		return Shards, nil
	}
	if source.IsZip() && !isCompressed(ctx, source) {
		return Zip, nil
	}
	return File, nil
}

// isCompressed reports whether a file is compressed, but no zip file, such as a .tar.gz with another name.
func isCompressed(ctx context.Context, source location.Source) bool {
	f, err := source.Open(ctx)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 8)
	n, _ := f.ReadAt(head, 0) // a short file gives less
	what := magicOf(head[:n])
	return strings.HasPrefix(what, "compressed by") || strings.HasPrefix(what, "a 7z archive")
}

// isTree reports whether a source has no form that a mended copy could keep: it is a folder, zipped or not, or shards.
func isTree(source location.Source) bool {
	layout, _ := LayoutOf(context.Background(), source)
	return layout != File
}
