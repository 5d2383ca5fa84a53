package backbone

import (
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"

	"winnow/features"
)

// maxFile bounds an image file: what is larger is something else with the wrong name.
const maxFile = 1 << 30

// probed is how many images may be unreadable at the beginning before the whole list is doubted.
const probed = 64

// reader turns image files into what the network sees; it keeps its memory from file to file.
type reader struct {
	fsys    fs.FS
	views   []View
	viewers []*Viewer // of each view
	options DecodeOptions
	data    []byte
}

// newViewers makes a viewer for each view; those that draw by the same recipe share one.
func newViewers(p Preprocessing, views []View) ([]*Viewer, error) {
	list := make([]*Viewer, len(views))
	known := map[Augmentation]*Viewer{}
	for i, v := range views {
		if known[v.Augmentation] == nil {
			viewer, err := NewViewer(p, v.Augmentation)
			if err != nil {
				return nil, err
			}
			known[v.Augmentation] = viewer
		}
		list[i] = known[v.Augmentation]
	}
	return list, nil
}

// read fills dst with the views of one image. Whatever goes wrong, a panic included, is an error of this image; the text
// leaves the path to the caller.
func (r *reader) read(dst [][]float32, path string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading the picture panicked: %v", p)
		}
	}()
	img, err := r.decode(path)
	if err != nil {
		return err
	}
	for i, v := range r.viewers {
		if err := v.Into(dst[i], img, r.views[i].draw(path)); err != nil {
			return err
		}
	}
	return nil
}

// decode reads one picture; errors leave the path to the caller.
func (r *reader) decode(path string) (image.Image, error) {
	if err := r.load(path); err != nil {
		var inPath *fs.PathError
		if errors.As(err, &inPath) {
			err = inPath.Err
		}
		return nil, err
	}
	return Decode(r.data, r.options)
}

// load reads a file into r.data.
func (r *reader) load(path string) error {
	f, err := r.fsys.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	if stat.IsDir() {
		return errors.New("is a folder, expected an image file")
	}
	if stat.Size() > maxFile {
		return fmt.Errorf("file of %d bytes, expected at most %d", stat.Size(), maxFile)
	}
	r.data = features.Grow(r.data, int(stat.Size()))
	n, err := io.ReadFull(f, r.data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it has shrunk since, or says no size: the decoder judges what there is
	}
	r.data = r.data[:n]
	return err
}

// NoneReadable is an image list of which not even one of the first images can be read.
type NoneReadable struct {
	Tried  int
	Path   string // the first
	Reason error  // and what is wrong with it
}

func (e *NoneReadable) Error() string {
	return fmt.Sprintf("backbone: none of the first %d images can be read; %s: %v", e.Tried, e.Path, e.Reason)
}

// probe reads images from the beginning until one can be read: where none of the first can, the folder is
// the wrong one and nothing should be begun.
func (r *reader) probe(paths []string) error {
	if len(paths) == 0 {
		return errors.New("backbone: extract: the image list is empty")
	}
	dst := make([][]float32, len(r.viewers))
	for i, v := range r.viewers {
		dst[i] = make([]float32, v.q.p.Size())
	}
	none := &NoneReadable{Tried: min(len(paths), probed), Path: paths[0]}
	for i, path := range paths[:none.Tried] {
		err := r.read(dst, path)
		if err == nil {
			return nil
		}
		if i == 0 {
			none.Reason = err
		}
	}
	return none
}
