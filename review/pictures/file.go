package pictures

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"winnow/backbone"
)

// File is an open image file.
type File struct {
	Type string // of the media: image/jpeg, …
	Size int64
	io.Reader
	io.Closer
}

// Open opens an image file. A file that does not begin like an image that winnow reads is [*Unreadable], whatever its name.
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

// isFile refuses anything but regular files before they are opened: opening a named pipe waits for its writer.
func isFile(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("not a file, expected an image")
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
