package pictures

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/internal/regular"
)

// File is an open image file.
type File struct {
	Type string // media type: image/jpeg, …
	Size int64
	io.Reader
	io.Closer
}

// Open opens an image file. A file that does not begin like a supported image is [*Unreadable], regardless of
// its name. A crop is opened as a PNG file of its own.
func (p *Pictures) Open(path string) (*File, error) {
	if _, _, cropped := datasets.CutCrop(path); cropped {
		return p.openCrop(path)
	}
	f, info, err := regular.From(p.fsys, path)
	if err != nil {
		return nil, asUnreadable(err)
	}
	file, err := asImage(f, info.Size())
	if err != nil {
		return nil, asUnreadable(errors.Join(err, f.Close()))
	}
	return file, nil
}

func (p *Pictures) openCrop(path string) (*File, error) {
	var b bytes.Buffer
	err := backbone.ReadImage(p.fsys, path, backbone.DecodeOptions{}, func(img image.Image) error {
		return png.Encode(&b, img)
	})
	if err != nil {
		return nil, asUnreadable(err)
	}
	return &File{Type: "image/png", Size: int64(b.Len()), Reader: &b, Closer: io.NopCloser(nil)}, nil
}

func asImage(f fs.File, size int64) (*File, error) {
	in := bufio.NewReader(f)
	head, err := in.Peek(16)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	kind := backbone.FileType(head)
	if kind == "" {
		return nil, fmt.Errorf("not an image: starts with %.16q", head)
	}
	return &File{Type: kind, Size: size, Reader: in, Closer: f}, nil
}
