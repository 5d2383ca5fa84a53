package packed

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets"
)

// The side of a CIFAR image in pixels, and its size in bytes: three planes in the order red, green, blue.
const (
	cifarSide   = 32
	cifarPixels = 3 * cifarSide * cifarSide
)

// cifar describes the published binary files of CIFAR-10 or CIFAR-100. Each record has a label (CIFAR-100: the
// superclass, then the class) and an image. Images are numbered from 0 in the order of the files; lists of human labels
// such as CIFAR-10N use the same order.
//
// Source: Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009; "the CIFAR-10 dataset", section
// "binary version".
type cifar struct {
	classes int
	labels  int // number of label bytes before the pixels; the last byte is the class
	train   []string
	test    []string
	names   string // file with one class name per line
}

var (
	cifar10 = cifar{classes: 10, labels: 1, names: "batches.meta.txt", test: []string{"test_batch.bin"},
		train: []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
			"data_batch_5.bin"}}
	cifar100 = cifar{classes: 100, labels: 2, names: "fine_label_names.txt", train: []string{"train.bin"},
		test: []string{"test.bin"}}
)

// isHere reports whether a folder contains the dataset's files. Because CIFAR-100's file names are common, it also
// checks the file size.
func (c cifar) isHere(fsys fs.FS) bool {
	for _, name := range []string{c.train[0], c.test[0]} {
		info, err := fs.Stat(fsys, name)
		if err == nil && info.Mode().IsRegular() && info.Size() > 0 && info.Size()%int64(c.labels+cifarPixels) == 0 {
			return true
		}
	}
	return false
}

// readSplits returns the records of the splits that exist.
func (c cifar) readSplits(fsys fs.FS) (records [][]byte, images []Images, err error) {
	size := c.labels + cifarPixels
	for _, split := range []string{datasets.Train, datasets.Test} {
		names := c.train
		if split == datasets.Test {
			names = c.test
		}
		var all []byte
		for _, name := range names {
			data, err := fs.ReadFile(fsys, name)
			if errors.Is(err, fs.ErrNotExist) {
				break // the first batches are enough
			}
			if err != nil {
				return nil, nil, fmt.Errorf("packed: %w", err)
			}
			if len(data) == 0 || len(data)%size != 0 {
				return nil, nil, fmt.Errorf("packed: %s: found %d bytes, expected records of %d", name, len(data), size)
			}
			all = append(all, data...)
		}
		if len(all) == 0 {
			continue
		}
		records = append(records, all)
		images = append(images, Images{Folder: split, Width: cifarSide, Height: cifarSide, Channels: 3,
			Count: len(all) / size, Pixels: func(i int) []byte { return all[i*size+c.labels : (i+1)*size] }})
	}
	if len(images) == 0 {
		return nil, nil, fmt.Errorf("packed: found neither %s nor %s of CIFAR-%d's binary version: %w", c.train[0],
			c.test[0], c.classes, fs.ErrNotExist)
	}
	return records, images, nil
}

// ReadCIFAR10 lists the images of CIFAR-10 with their labels.
func ReadCIFAR10(fsys fs.FS) (*datasets.Dataset, error) { return cifar10.readDataset(fsys) }

// ReadCIFAR100 lists the images of CIFAR-100 with their fine labels.
func ReadCIFAR100(fsys fs.FS) (*datasets.Dataset, error) { return cifar100.readDataset(fsys) }

func (c cifar) readDataset(fsys fs.FS) (*datasets.Dataset, error) {
	records, images, err := c.readSplits(fsys)
	if err != nil {
		return nil, err
	}
	d := &datasets.Dataset{Classes: c.readNames(fsys)}
	for k, m := range images {
		for i := range m.Count {
			label := int(records[k][i*(c.labels+cifarPixels)+c.labels-1])
			if label >= c.classes {
				return nil, fmt.Errorf("packed: %s: image %d has the label %d, expected 0 to %d", m.Folder, i, label,
					c.classes-1)
			}
			d.Samples = append(d.Samples, datasets.Sample{Path: m.Path(i), Label: label, True: datasets.Unlabelled,
				Split: m.Folder})
		}
	}
	return d, nil
}

// readNames returns the class names from the file of names if it is complete, else the class numbers.
func (c cifar) readNames(fsys fs.FS) []string {
	text, _ := fs.ReadFile(fsys, c.names) // the file may be missing
	names := strings.Fields(string(text))
	if unique := slices.Compact(slices.Sorted(slices.Values(names))); len(unique) == c.classes &&
		len(names) == c.classes {
		return names
	}
	names = nil
	for i := range c.classes {
		names = append(names, strconv.Itoa(i))
	}
	return names
}
