// Package mnist reads MNIST and datasets in files of the same names (Fashion-MNIST, KMNIST): images and labels in
// four idx files, compressed by gzip or not.
//
// The images appear as files train/00017.bmp and test/00042.bmp, numbered from 0 in the order of the idx files.
// Classes are named by the labels' numbers. The split is the official one: train-… train, t10k-… test.
//
// The package imports datasets and datasets/packed.
package mnist

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"winnow/datasets"
	"winnow/datasets/packed"
)

// parts are the official splits and the prefixes of their file names.
var parts = [2]struct{ split, name string }{{datasets.Train, "train"}, {datasets.Test, "t10k"}}

// listSpellings returns the possible names of an image or label file after its prefix: as published, and as some
// unpackers leave it; each also with .gz.
func listSpellings(part, what string, dimensions int) []string {
	var list []string
	for _, dash := range []string{"-", "."} {
		name := fmt.Sprintf("%s-%s%sidx%d-ubyte", part, what, dash, dimensions)
		list = append(list, name, name+".gz")
	}
	return list
}

// Here reports whether a folder holds images in MNIST's files.
func Here(fsys fs.FS) bool {
	return slices.ContainsFunc(parts[:], func(p struct{ split, name string }) bool {
		return findFirst(fsys, listSpellings(p.name, "images", 3)) != ""
	})
}

// findFirst returns the first of the names that exists, or "".
func findFirst(fsys fs.FS, names []string) string {
	for _, name := range names {
		if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// Images serves the images of a folder with MNIST's files, of one split or both.
func Images(fsys fs.FS) (fs.FS, error) {
	var folders []packed.Images
	for _, p := range parts {
		m, err := readPartImages(fsys, p.split, p.name)
		if err != nil {
			return nil, err
		}
		if m != nil {
			folders = append(folders, *m)
		}
	}
	if len(folders) == 0 {
		return nil, refuseMissingPart(parts[0].name, "images", 3)
	}
	return packed.FS(folders...), nil
}

// Read lists the images of a folder with their labels.
func Read(fsys fs.FS) (*datasets.Dataset, error) {
	d := &datasets.Dataset{}
	highest := 0
	for _, p := range parts {
		m, err := readPartImages(fsys, p.split, p.name)
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		labels, err := readArray(fsys, p.name, "labels", 1)
		if err != nil {
			return nil, err
		}
		if labels == nil {
			return nil, refuseMissingPart(p.name, "labels", 1)
		}
		if labels.sizes[0] != m.Count {
			return nil, fmt.Errorf("mnist: %s: found %d labels and %d images, expected as many", p.name,
				labels.sizes[0], m.Count)
		}
		for i, label := range labels.data {
			highest = max(highest, int(label))
			d.Samples = append(d.Samples,
				datasets.Sample{Path: m.Path(i), Label: int(label), True: datasets.Unlabelled, Split: p.split})
		}
	}
	if len(d.Samples) == 0 {
		return nil, refuseMissingPart(parts[0].name, "images", 3)
	}
	for c := range highest + 1 {
		d.Classes = append(d.Classes, strconv.Itoa(c))
	}
	return d, nil
}

// readPartImages returns one part's images, nil if there are none.
func readPartImages(fsys fs.FS, split, part string) (*packed.Images, error) {
	a, err := readArray(fsys, part, "images", 3)
	if a == nil || err != nil {
		return nil, err
	}
	size := a.sizes[1] * a.sizes[2]
	return &packed.Images{Folder: split, Count: a.sizes[0], Height: a.sizes[1], Width: a.sizes[2], Channels: 1,
		Pixels: func(i int) []byte { return a.data[i*size : (i+1)*size] }}, nil
}

// readArray reads one of the files, nil if it does not exist.
func readArray(fsys fs.FS, part, what string, dimensions int) (*array, error) {
	name := findFirst(fsys, listSpellings(part, what, dimensions))
	if name == "" {
		return nil, nil
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("mnist: %w", err)
	}
	defer f.Close()
	a, err := readIdx(f, dimensions)
	if err != nil {
		return nil, fmt.Errorf("mnist: %s: %w", name, err)
	}
	return a, nil
}

func refuseMissingPart(part, what string, dimensions int) error {
	return errors.New("mnist: found no " + listSpellings(part, what, dimensions)[1] + " (or without .gz)")
}
