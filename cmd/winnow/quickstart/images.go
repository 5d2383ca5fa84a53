package quickstart

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
	"winnow/internal/lock"
	"winnow/models"
	"winnow/run"
	"winnow/run/extraction"
)

// network is the name of the built-in network.
const network = "glyphnet"

// Names of the files in a quickstart's folder.
const (
	imagesFile     = "images.zip"
	featuresFolder = "suspects.features" // where winnow audit looks for the features of suspects.csv
	manifestFile   = "manifest.csv"
)

// drawData draws the images and their labels, and makes some labels wrong. An error means that an option is not valid.
func drawData(o Options) (*datasets.Dataset, fs.FS, error) {
	noise, err := datasets.NewNoise("symmetric", o.Rate)
	if err != nil {
		return nil, nil, err
	}
	clean, images, err := glyphs.New(glyphs.Config{Classes: o.Classes, Images: o.Images, Seed: glyphs.DemoSeed})
	if err != nil {
		return nil, nil, err
	}
	noisy, err := clean.Corrupt(datasets.Train, noise, run.NoiseRand(o.Seed))
	return noisy, images, err
}

// writeData writes the manifest, the images and their features to a folder.
func writeData(ctx context.Context, dir string, d *datasets.Dataset, images fs.FS, host extraction.Host) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	held, err := lock.Folder(dir)
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	defer held.Close()
	if err = writeImages(ctx, filepath.Join(dir, imagesFile), d.Paths(), images); err == nil {
		err = datasets.WriteFile(filepath.Join(dir, manifestFile), d, nil)
	}
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	return extractFeatures(ctx, dir, d.Paths(), host)
}

// writeImages writes the images to a zip file without compression, so that the same images give the same bytes.
func writeImages(ctx context.Context, path string, names []string, images fs.FS) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		archive := zip.NewWriter(interrupt.NewWriter(ctx, w))
		for _, name := range names {
			data, err := fs.ReadFile(images, name)
			if err != nil {
				return err
			}
			file, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err != nil {
				return err
			}
			if _, err := file.Write(data); err != nil {
				return err
			}
		}
		return archive.Close()
	})
}

// extractFeatures computes and stores the features of all images.
func extractFeatures(ctx context.Context, dir string, names []string, host extraction.Host) error {
	b, cut, err := extraction.OpenBackbone(network, models.Settings{})
	if err != nil {
		return err
	}
	b.Preprocessing.EXIF = true // as winnow audit does, which reuses these features
	written, err := zip.OpenReader(filepath.Join(dir, imagesFile))
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	defer written.Close()
	e := extraction.Extraction{
		Out: filepath.Join(dir, featuresFolder), Overwrite: true, Root: written, Paths: names, Model: b, Cut: cut,
		Config: backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extraction.UsualBatch, Strict: true},
	}
	_, err = e.Store(ctx, host.Complete())
	return err
}
