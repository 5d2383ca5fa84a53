package quickstart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"winnow/backbone"
	"winnow/datasets/drawings"
	"winnow/datasets/glyphs"
	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/models"
	"winnow/run/extraction"
)

// network is the name of the built-in network.
const network = "glyphnet"

// Names of the files and folders in a quickstart's folder.
const (
	imagesFolder   = "images"
	featuresFolder = "suspects.features" // where winnow audit looks for the features of suspects.csv
	manifestFile   = "manifest.csv"
)

// writeData draws the images, and writes them with their manifest and features to a folder.
func writeData(ctx context.Context, o Options, host extraction.Host) error {
	d, images, err := drawings.New(ctx, o.Seed)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	held, err := lock.Folder(o.Dir)
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	defer held.Close()
	folder := filepath.Join(o.Dir, imagesFolder)
	err = glyphs.Write(ctx, d, images, folder, filepath.Join(o.Dir, manifestFile))
	if errors.Is(err, glyphs.ErrNotEmpty) {
		err = hint.With(err, "give another folder with --out, or remove this folder first")
	}
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	b, cut, err := extraction.OpenBackbone(network, models.Settings{})
	if err != nil {
		return err
	}
	b.Preprocessing.EXIF = true // as winnow audit does, which reuses these features
	e := extraction.Extraction{
		Out: filepath.Join(o.Dir, featuresFolder), Overwrite: true, Root: os.DirFS(folder), Paths: d.Paths(), Model: b,
		Cut:    cut,
		Config: backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extraction.UsualBatch, Strict: true},
	}
	_, err = e.Store(ctx, host.Complete())
	return err
}
