// Package packed reads datasets that store images as bare pixels in one array, such as MNIST and CIFAR. It presents
// them as a tree of image files, train/00017.bmp and test/00042.bmp, numbered in the order of the dataset's files.
// Opening a file generates it as an uncompressed 24-bit BMP, which is lossless and very fast to encode and decode.
package packed

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// Images is a folder of images with the same size.
type Images struct {
	Folder   string
	Width    int
	Height   int
	Channels int // 1: grey; 3: red, green and blue
	Count    int
	// Pixels returns image i as Channels planes of Height rows of Width bytes. It must be safe for concurrent use.
	Pixels func(i int) []byte
}

const extension = ".bmp"

// Path returns the path of image i.
func (m Images) Path(i int) string { return fmt.Sprintf("%s/%05d%s", m.Folder, i, extension) }

// numberInPath returns the image number for the last element of a path; it is the inverse of Path.
func (m Images) numberInPath(base string) (int, bool) {
	digits, ok := strings.CutSuffix(base, extension)
	i, err := strconv.Atoi(digits)
	if !ok || err != nil || i < 0 || i >= m.Count {
		return 0, false
	}
	return i, fmt.Sprintf("%05d", i) == digits
}

// header is the total length of a BMP file's two headers.
const header = 14 + 40

// computeStride returns the length of a BMP row in bytes, a multiple of 4.
func (m Images) computeStride() int { return (3*m.Width + 3) &^ 3 }

func (m Images) fileSize() int { return header + m.computeStride()*m.Height }

// encodeBMP returns an image as a BMP file: rows from bottom to top, bytes in the order blue, green, red.
func (m Images) encodeBMP(i int) []byte {
	out := make([]byte, m.fileSize())
	le := binary.LittleEndian
	copy(out, "BM")
	le.PutUint32(out[2:], uint32(len(out)))
	le.PutUint32(out[10:], header)
	le.PutUint32(out[14:], 40)
	le.PutUint32(out[18:], uint32(m.Width))
	le.PutUint32(out[22:], uint32(m.Height))
	le.PutUint16(out[26:], 1)  // planes
	le.PutUint16(out[28:], 24) // bits per pixel
	le.PutUint32(out[34:], uint32(m.computeStride()*m.Height))
	pixels, plane := m.Pixels(i), m.Width*m.Height
	r, g, b := pixels[:plane], pixels[:plane], pixels[:plane]
	if m.Channels == 3 {
		g, b = pixels[plane:2*plane], pixels[2*plane:3*plane]
	}
	for y := range m.Height {
		row := out[header+(m.Height-1-y)*m.computeStride():]
		at := y * m.Width
		for x := range m.Width {
			row[3*x], row[3*x+1], row[3*x+2] = b[at+x], g[at+x], r[at+x]
		}
	}
	return out
}

// Open serves the images of a folder with MNIST's or CIFAR's files. It returns nil for other folders.
func Open(fsys fs.FS) (fs.FS, error) {
	var folders []Images
	var err error
	switch {
	case isMNISTHere(fsys):
		folders, err = openMNIST(fsys)
	case cifar10.isHere(fsys):
		_, folders, err = cifar10.readSplits(fsys)
	case cifar100.isHere(fsys):
		_, folders, err = cifar100.readSplits(fsys)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return FS(folders...), nil
}

// FS serves the given folders of images. The folders cannot be listed.
func FS(folders ...Images) fs.FS { return tree(folders) }

type tree []Images

// Open generates the file of an image.
func (t tree) Open(name string) (fs.File, error) {
	info, m, err := t.findImage("open", name)
	if err != nil {
		return nil, err
	}
	return &file{bytes.NewReader(m.encodeBMP(info.number)), info}, nil
}

// Stat implements fs.StatFS.
func (t tree) Stat(name string) (fs.FileInfo, error) {
	info, _, err := t.findImage("stat", name)
	return info, err
}

func (t tree) findImage(op, name string) (info imageInfo, m Images, err error) {
	folder, base, _ := strings.Cut(name, "/")
	for _, m := range t {
		if i, ok := m.numberInPath(base); ok && m.Folder == folder {
			return imageInfo{base, i, int64(m.fileSize())}, m, nil
		}
	}
	return info, m, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// file is an open image.
type file struct {
	*bytes.Reader
	info imageInfo
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *file) Close() error               { return nil }

// imageInfo describes an image as a file.
type imageInfo struct {
	name   string
	number int
	size   int64
}

func (i imageInfo) Name() string       { return i.name }
func (i imageInfo) Size() int64        { return i.size }
func (i imageInfo) Mode() fs.FileMode  { return 0o444 }
func (i imageInfo) ModTime() time.Time { return time.Time{} }
func (i imageInfo) IsDir() bool        { return false }
func (i imageInfo) Sys() any           { return nil }
