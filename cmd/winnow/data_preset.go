package main

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/datasets/cifar"
	"winnow/datasets/mnist"
)

// presetReaders are the datasets that --preset names. (Fashion-MNIST has MNIST's files.)
func presetReaders() map[string]func(fs.FS) (*datasets.Dataset, error) {
	return map[string]func(fs.FS) (*datasets.Dataset, error){
		"mnist": mnist.Read, "fashion-mnist": mnist.Read,
		"cifar10": cifar.Read10, "cifar100": cifar.Read100,
	}
}

func presetNames() []string { return slices.Sorted(maps.Keys(presetReaders())) }

// dataPreset writes the manifest of a known dataset with its official split.
func dataPreset(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	for _, name := range []string{"format", "strip-prefix", "split", "by"} {
		if c.IsSet(name) {
			return misused("data import: --%s does not go with --preset, which has the official split", name)
		}
	}
	read, ok := presetReaders()[c.String("preset")]
	share := c.Float64("validation")
	switch {
	case !ok:
		return misused("--preset: %q is unknown, expected one of %s", c.String("preset"), strings.Join(presetNames(), ", "))
	case c.String("root") == "":
		return misused("data import: --preset needs --root, the folder with the dataset's files")
	case share < 0 || share >= 1:
		return misused("--validation: found %v, expected a share from 0 to below 1", share)
	}
	if _, err := os.Stat(c.String("root")); err != nil {
		return err
	}
	d, err := read(os.DirFS(c.String("root")))
	if err != nil {
		return err
	}
	if share > 0 {
		if err := holdOut(d, share, c.Uint64("seed")); err != nil {
			return err
		}
	}
	if err := writeManifest(c.String("out"), d); err != nil {
		return err
	}
	printCounts(c.App.Writer, d)
	return nil
}

// holdOut gives a share of each class's training images to validation.
func holdOut(d *datasets.Dataset, share float64, seed uint64) error {
	train := d.Select(datasets.Train)
	part := &datasets.Dataset{Classes: d.Classes}
	for _, i := range train {
		part.Samples = append(part.Samples, d.Samples[i])
	}
	rng := rand.New(rand.NewPCG(seed, 0x686f6c64)) // "hold"
	if err := part.SplitByImage([]datasets.Share{{Split: datasets.Train, Share: 1 - share}, {Split: datasets.Validation, Share: share}}, rng); err != nil {
		return err
	}
	for k, i := range train {
		d.Samples[i].Split = part.Samples[k].Split
	}
	return nil
}

// readSource reads a manifest, an image folder, or a .zip file of one.
func readSource(source string, opts datasets.ReadOptions) (*datasets.Dataset, error) {
	if !isZip(source) {
		return datasets.Read(source, opts)
	}
	root, err := zipRoot(source)
	if err != nil {
		return nil, err
	}
	return datasets.ReadFolders(root, source, opts)
}
