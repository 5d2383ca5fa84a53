// Package cifar reads CIFAR-10 and CIFAR-100 in their published binary form: records of one label (CIFAR-100:
// coarse label, then fine label) and 3×32×32 bytes, the red plane first.
//
// The images appear as files train/00017.bmp and test/00042.bmp, numbered from 0 in the order of the files
// (CIFAR-10: data_batch_1.bin to data_batch_5.bin). Lists of human labels such as CIFAR-10N's use the same order.
// The split is the official one. Classes are named by batches.meta.txt or fine_label_names.txt if present,
// otherwise by their numbers.
//
// The package imports datasets and datasets/packed.
//
// Source: Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009; "the CIFAR-10 dataset",
// section "binary version".
package cifar

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"winnow/datasets"
	"winnow/datasets/packed"
)

const (
	side      = 32
	pixels    = 3 * side * side
	maxImages = 1 << 20 // in one file
)

// layout describes one of the two datasets.
type layout struct {
	classes int
	labels  int // bytes before the pixels; the last one is the class
	train   []string
	test    []string
	names   string // file with one class name per line
}

func newCIFAR10() layout {
	l := layout{classes: 10, labels: 1, test: []string{"test_batch.bin"}, names: "batches.meta.txt"}
	for i := range 5 {
		l.train = append(l.train, fmt.Sprintf("data_batch_%d.bin", i+1))
	}
	return l
}

func newCIFAR100() layout {
	return layout{classes: 100, labels: 2, train: []string{"train.bin"}, test: []string{"test.bin"},
		names: "fine_label_names.txt"}
}

// Here reports whether a folder holds one of the two datasets.
func Here(fsys fs.FS) bool { return newCIFAR10().hasLayout(fsys) || newCIFAR100().hasLayout(fsys) }

// hasLayout reports whether a folder holds the dataset's files. CIFAR-100's file names are common, so their sizes must
// fit as well.
func (l layout) hasLayout(fsys fs.FS) bool {
	for _, name := range []string{l.train[0], l.test[0]} {
		info, err := fs.Stat(fsys, name)
		if err == nil && info.Mode().IsRegular() &&
			(l.classes == 10 || info.Size() > 0 && info.Size()%int64(l.labels+pixels) == 0) {
			return true
		}
	}
	return false
}

// part is the records of one split.
type part struct {
	images  packed.Images
	records []byte
	size    int // of a record
}

// readSplitFiles reads the files of a split in order. If one is missing, those after it must be missing too.
func (l layout) readSplitFiles(fsys fs.FS, split string, files []string) (*part, error) {
	p := &part{size: l.labels + pixels}
	gap := ""
	for _, name := range files {
		info, err := fs.Stat(fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			gap = name
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cifar: %w", err)
		}
		if gap != "" {
			return nil, fmt.Errorf("cifar: found %s without %s: the images could not be numbered", name, gap)
		}
		if n := info.Size(); n == 0 || n%int64(p.size) != 0 || n/int64(p.size) > maxImages {
			return nil, fmt.Errorf("cifar: %s: found %d bytes, expected records of %d, at most %d of them", name, n,
				p.size, maxImages)
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("cifar: %w", err)
		}
		if int64(len(data)) != info.Size() {
			return nil, fmt.Errorf("cifar: %s: found %d bytes, expected %d", name, len(data), info.Size())
		}
		p.records = append(p.records, data...)
	}
	p.images = packed.Images{Folder: split, Width: side, Height: side, Channels: 3, Count: len(p.records) / p.size,
		Pixels: func(i int) []byte { return p.records[i*p.size+l.labels : (i+1)*p.size] }}
	return p, nil
}

// readBothSplits reads the splits that exist.
func (l layout) readBothSplits(fsys fs.FS) ([]*part, error) {
	var list []*part
	for _, s := range []struct {
		split string
		files []string
	}{{datasets.Train, l.train}, {datasets.Test, l.test}} {
		p, err := l.readSplitFiles(fsys, s.split, s.files)
		if err != nil {
			return nil, err
		}
		if p.images.Count > 0 {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("cifar: found neither %s nor %s, the files of CIFAR-%d's binary version", l.train[0],
			l.test[0], l.classes)
	}
	return list, nil
}

// Images serves the images of a folder that holds one of the datasets.
func Images(fsys fs.FS) (fs.FS, error) {
	l := newCIFAR10()
	if !l.hasLayout(fsys) {
		l = newCIFAR100()
	}
	list, err := l.readBothSplits(fsys)
	if err != nil {
		return nil, err
	}
	var folders []packed.Images
	for _, p := range list {
		folders = append(folders, p.images)
	}
	return packed.FS(folders...), nil
}

// Read10 lists the images of CIFAR-10 with their labels.
func Read10(fsys fs.FS) (*datasets.Dataset, error) { return newCIFAR10().newDatasetOf(fsys) }

// Read100 lists the images of CIFAR-100 with their fine labels; the column coarse holds the coarse ones.
func Read100(fsys fs.FS) (*datasets.Dataset, error) { return newCIFAR100().newDatasetOf(fsys) }

// CoarseNames returns the names of CIFAR-100's 20 superclasses, or their numbers without coarse_label_names.txt.
func CoarseNames(fsys fs.FS) []string {
	return layout{classes: 20, names: "coarse_label_names.txt"}.classNames(fsys)
}

func (l layout) newDatasetOf(fsys fs.FS) (*datasets.Dataset, error) {
	d := &datasets.Dataset{Classes: l.classNames(fsys)}
	if l.labels == 2 {
		d.Columns = []string{"coarse"}
	}
	list, err := l.readBothSplits(fsys)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		for i := range p.images.Count {
			record := p.records[i*p.size:]
			s := datasets.Sample{Path: p.images.Path(i), Label: int(record[l.labels-1]), True: datasets.Unlabelled,
				Split: p.images.Folder}
			if s.Label >= l.classes {
				return nil, fmt.Errorf("cifar: %s: image %d has the label %d, expected 0 to %d", p.images.Folder, i,
					s.Label, l.classes-1)
			}
			if l.labels == 2 {
				s.Extra = []string{strconv.Itoa(int(record[0]))}
			}
			d.Samples = append(d.Samples, s)
		}
	}
	return d, nil
}

// classNames returns the classes' names: from the file if it has one per class, otherwise their numbers.
func (l layout) classNames(fsys fs.FS) []string {
	var names []string
	text, err := fs.ReadFile(fsys, l.names)
	seen := map[string]bool{}
	for in := bufio.NewScanner(bytes.NewReader(text)); err == nil && in.Scan(); {
		if name := string(bytes.TrimSpace(in.Bytes())); name != "" && !seen[name] {
			names, seen[name] = append(names, name), true
		}
	}
	if len(names) == l.classes {
		return names
	}
	names = nil
	for c := range l.classes {
		names = append(names, strconv.Itoa(c))
	}
	return names
}
