package pictures

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"winnow/backbone"
)

// File is an image file as it lies there.
type File struct {
	Type string // of the media: image/jpeg, …
	Size int64
	io.Reader
	io.Closer
}

// Open opens an image file as it is. What begins as no image that winnow reads is [*Unreadable], whatever its name.
func (p *Pictures) Open(path string) (*File, error) {
	info, err := fs.Stat(p.fsys, path)
	if err == nil {
		err = isFile(info)
	}
	if err != nil {
		return nil, &Unreadable{err}
	}
	f, err := p.fsys.Open(path)
	if err != nil {
		return nil, &Unreadable{err}
	}
	file, err := asImage(f)
	if err != nil {
		return nil, &Unreadable{errors.Join(err, f.Close())}
	}
	return file, nil
}

// isFile refuses what is no file before it is opened: to open a named pipe is to wait for whoever writes into it.
func isFile(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("is no file, expected an image")
	}
	return nil
}

func asImage(f fs.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := isFile(info); err != nil {
		return nil, err
	}
	in := bufio.NewReader(f)
	head, err := in.Peek(16)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	kind := backbone.FileType(head)
	if kind == "" {
		return nil, fmt.Errorf("not an image: starts with %.16q", head)
	}
	return &File{Type: kind, Size: info.Size(), Reader: in, Closer: f}, nil
}
