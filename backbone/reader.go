package backbone

import (
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/regular"
)

// maxFile is the largest size of an image file in bytes. A larger file is not an image, whatever its name.
const maxFile = 1 << 30

// probed is how many images at the start of the list are tried before the whole list is refused as unreadable.
const probed = 64

// reader turns image files into a network's input. It reuses its memory for all files.
type reader struct {
	fsys    fs.FS
	views   []View
	viewers []*Viewer // one for each view
	options DecodeOptions
	data    []byte

	looks bool // whether to measure each image that is read
	look  looker
	last  Look // measurements of the last image
}

// newViewers returns a viewer for each view; views with the same recipe share a viewer.
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

// readImageViews reads one image and fills dst with its views. The error does not name the path.
func (r *reader) readImageViews(dst [][]float32, path string) error {
	r.last = Look{}
	return r.usePicture(path, func(img image.Image) error {
		if r.looks {
			r.last = r.look.measureLook(img)
		}
		for i, v := range r.viewers {
			if err := v.Into(dst[i], img, r.views[i].newViewRand(path)); err != nil {
				return err
			}
		}
		return nil
	})
}

// usePicture decodes an image, or the crop of an image, and passes it to use, within the memory budgets. Every
// failure, even a panic, is an error of this image. The error does not name the path.
func (r *reader) usePicture(path string, use func(image.Image) error) (err error) {
	defer catchPanic("reading the image", &err)
	return r.planFile(path, func(p decoding, crop datasets.Crop, isCrop bool) error {
		peak := p.peakBytes()
		if isCrop {
			peak += cropBytes * int64(min(crop.W, max(p.w, p.h))) * int64(min(crop.H, max(p.w, p.h)))
		}
		defer pictureBudget.holdBudgetBytes(peak)()
		img, err := p.decodePlanned(r.data)
		if err != nil {
			return err
		}
		if isCrop {
			if img, err = cropPicture(img, crop); err != nil {
				return err
			}
		}
		return use(img)
	})
}

// planFile reads an image's file into r.data, plans its decoding and calls use with the plan.
func (r *reader) planFile(path string, use func(p decoding, crop datasets.Crop, isCrop bool) error) error {
	file, crop, isCrop := datasets.CutCrop(path)
	options := r.options
	if isCrop { // a crop's coordinates refer to the whole image at full size after EXIF rotation
		options.EXIF, options.Enough = true, nil
	}
	f, info, err := regular.From(r.fsys, file)
	if err != nil {
		return withoutPath(err)
	}
	defer f.Close()
	if info.Size() > maxFile {
		return fmt.Errorf("file of %d bytes, expected at most %d", info.Size(), maxFile)
	}
	defer fileBudget.holdBudgetBytes(info.Size())()
	if err := r.loadFile(f, int(info.Size())); err != nil {
		return withoutPath(err)
	}
	defer func() { r.data = reuseBuffer(r.data) }()
	p, err := options.planDecoding(r.data)
	if err != nil {
		return err
	}
	return use(p, crop, isCrop)
}

// loadFile reads a file into r.data. If the file does not start like an image, only its first bytes are read.
func (r *reader) loadFile(f io.Reader, size int) error {
	var head [48]byte // long enough to recognise a Git LFS pointer
	n, err := io.ReadFull(f, head[:min(size, len(head))])
	if FileType(head[:n]) == "" {
		size = n
	}
	r.data = features.Grow(r.data, size)
	copy(r.data, head[:n])
	if err == nil {
		var more int
		more, err = io.ReadFull(f, r.data[n:])
		n += more
	}
	r.data = r.data[:n]
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil // the file has shrunk, or its size was unknown: let the decoder check the data
	}
	return err
}

func withoutPath(err error) error {
	if inPath, ok := errors.AsType[*fs.PathError](err); ok {
		return inPath.Err
	}
	return err
}

// catchPanic turns a panic into an error. It must be deferred.
func catchPanic(doing string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s panicked: %v", doing, p)
	}
}

// NoneReadable is the error for an image list if none of its first images can be read.
type NoneReadable struct {
	Tried  int
	Path   string // the first image
	Reason error  // what is wrong with it
}

func (e *NoneReadable) Error() string {
	return fmt.Sprintf("backbone: none of the first %d images can be read; %s: %v", e.Tried, e.Path, e.Reason)
}

// Advice returns what the user can do about the error.
func (e *NoneReadable) Advice() string {
	if errors.Is(e.Reason, fs.ErrNotExist) {
		return ""
	}
	return "open " + e.Path + " in an image viewer: if it is damaged, copy it again; otherwise save it as JPEG or PNG"
}

// probeImages reads images from the start of the list until one can be read, and returns its index and pixels. If none
// of the first images can be read, the folder is probably wrong, and the extraction must not start.
func (r *reader) probeImages(paths []string) (at int, pixels [][]float32, err error) {
	if len(paths) == 0 {
		return 0, nil, errors.New("backbone: extract: the image list is empty")
	}
	dst := make([][]float32, len(r.viewers))
	for i, v := range r.viewers {
		dst[i] = make([]float32, v.q.p.Size())
	}
	none := &NoneReadable{Tried: min(len(paths), probed), Path: paths[0]}
	for i, path := range paths[:none.Tried] {
		err := r.readImageViews(dst, path)
		if err == nil {
			return i, dst, nil
		}
		if gone, ok := errors.AsType[*regular.Outage](err); ok {
			return 0, nil, fmt.Errorf("backbone: %w", gone)
		}
		if i == 0 {
			none.Reason = err
		}
	}
	return 0, nil, none
}
