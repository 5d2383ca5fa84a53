package packed

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"

	"winnow/datasets"
)

// mnistParts lists the official splits and their file name prefixes, for MNIST and datasets with the same file names
// (Fashion-MNIST, KMNIST).
var mnistParts = [2]struct{ split, name string }{{datasets.Train, "train"}, {datasets.Test, "t10k"}}

// isMNISTHere reports whether a folder contains image files of MNIST.
func isMNISTHere(fsys fs.FS) bool {
	return findIdx(fsys, "train", "images", 3) != "" || findIdx(fsys, "t10k", "images", 3) != ""
}

// findIdx returns the name of an image or label file, as published or as some unpackers rename it; "" if none exists.
func findIdx(fsys fs.FS, part, what string, dimensions int) string {
	for _, format := range []string{"%s-%s-idx%d-ubyte", "%s-%s-idx%d-ubyte.gz", "%s-%s.idx%d-ubyte"} {
		name := fmt.Sprintf(format, part, what, dimensions)
		if info, err := fs.Stat(fsys, name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// openMNIST returns the images of the splits that exist.
func openMNIST(fsys fs.FS) (folders []Images, err error) {
	for _, p := range mnistParts {
		if findIdx(fsys, p.name, "images", 3) == "" {
			continue
		}
		sizes, data, err := readIdx(fsys, p.name, "images", 3)
		if err != nil {
			return nil, err
		}
		size := sizes[1] * sizes[2]
		folders = append(folders, Images{Folder: p.split, Count: sizes[0], Height: sizes[1], Width: sizes[2],
			Channels: 1, Pixels: func(i int) []byte { return data[i*size : (i+1)*size] }})
	}
	if len(folders) == 0 {
		err = fmt.Errorf("packed: found no train-images-idx3-ubyte.gz: %w", fs.ErrNotExist)
	}
	return folders, err
}

// ReadMNIST lists the images and labels of a folder with MNIST's files. Classes are named by number.
func ReadMNIST(fsys fs.FS) (*datasets.Dataset, error) {
	folders, err := openMNIST(fsys)
	if err != nil {
		return nil, err
	}
	d := &datasets.Dataset{}
	highest := 0
	for _, m := range folders {
		part := mnistParts[0].name
		if m.Folder == datasets.Test {
			part = mnistParts[1].name
		}
		_, labels, err := readIdx(fsys, part, "labels", 1)
		if err != nil {
			return nil, err
		}
		if len(labels) != m.Count {
			return nil, fmt.Errorf("packed: %s: found %d labels for %d images, expected one per image", part,
				len(labels), m.Count)
		}
		for i, label := range labels {
			highest = max(highest, int(label))
			d.Samples = append(d.Samples,
				datasets.Sample{Path: m.Path(i), Label: int(label), True: datasets.Unlabelled, Split: m.Folder})
		}
	}
	for c := range highest + 1 {
		d.Classes = append(d.Classes, strconv.Itoa(c))
	}
	return d, nil
}

// readIdx reads an idx file with the given number of dimensions, optionally compressed with gzip:
//
//	0 0 8 (unsigned bytes) dimensions, each size in 4 bytes with the highest first, the elements row by row
//
// Memory grows with the content of the file, not with the stated sizes.
// Source: LeCun, Cortes and Burges, "The MNIST database of handwritten digits", "the IDX file format".
func readIdx(fsys fs.FS, part, what string, dimensions int) (sizes []int, data []byte, err error) {
	name := findIdx(fsys, part, what, dimensions)
	if name == "" {
		return nil, nil, fmt.Errorf("packed: found no %s-%s-idx%d-ubyte.gz: %w", part, what, dimensions, fs.ErrNotExist)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("packed: %w", err)
	}
	defer f.Close()
	if sizes, data, err = decodeIdx(f, dimensions); err != nil {
		return nil, nil, fmt.Errorf("packed: %s: %w", name, err)
	}
	return sizes, data, nil
}

func decodeIdx(r io.Reader, dimensions int) (sizes []int, data []byte, err error) {
	in := io.Reader(bufio.NewReader(r))
	if magic, _ := in.(*bufio.Reader).Peek(2); string(magic) == "\x1f\x8b" {
		if in, err = gzip.NewReader(in); err != nil {
			return nil, nil, err
		}
	}
	head := make([]byte, 4+4*dimensions)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, nil, err
	}
	if [4]byte(head) != [4]byte{0, 0, 8, byte(dimensions)} {
		return nil, nil, fmt.Errorf("starts with %x, expected an idx file of unsigned bytes with %d dimensions",
			head[:4], dimensions)
	}
	total := uint64(1)
	for i := range dimensions {
		size := binary.BigEndian.Uint32(head[4+4*i:])
		if total *= uint64(size); total == 0 || total > 1<<31 {
			return nil, nil, fmt.Errorf("size %d is %d: expected sizes ≥ 1, product at most %d", i+1, size, 1<<31)
		}
		sizes = append(sizes, int(size))
	}
	data, err = io.ReadAll(io.LimitReader(in, int64(total)+1))
	if err == nil && uint64(len(data)) != total {
		err = errors.New("is truncated, or longer than its stated sizes")
	}
	return sizes, data, err
}
