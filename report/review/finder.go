package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/run/embedding"
	"winnow/search"
)

// vectorFinder implements [Finder] and [Vectors]. It searches the vectors of a feature store or an index. Uploaded
// images are embedded with the model that made the vectors, if winnow finds the model.
type vectorFinder struct {
	in   *search.Gallery
	by   *embedding.Embedder // embeds uploaded images
	lack error               // why by could not be opened; nil: by is open
	net  *embedding.Network  // loaded for the first upload
	host embedding.Host
}

// openFinder returns a finder for a feature store or an index. model, a run folder or an ONNX file, embeds uploaded
// images; "" means the model that made the vectors. If that model is not found, only uploads do not work.
func openFinder(dir, model string, host embedding.Host) (*vectorFinder, error) {
	host = host.Complete()
	in, err := search.OpenGallery(dir)
	if err != nil {
		return nil, err
	}
	f := &vectorFinder{in: in, host: host}
	f.by, f.lack = embedding.OpenMaker(in, embedding.Options{Model: model}, host.Note)
	if f.lack != nil && model != "" {
		return nil, errors.Join(f.lack, f.Close())
	}
	return f, nil
}

// Close closes the gallery and the network, if loaded.
func (f *vectorFinder) Close() error {
	if f.net == nil {
		return f.in.Close()
	}
	return errors.Join(f.in.Close(), f.net.Close())
}

// Uploads implements Finder.
func (f *vectorFinder) Uploads() error { return f.lack }

// Rows implements [Vectors].
func (f *vectorFinder) Rows(paths []string) (x blas32.General, absent int, err error) {
	return f.in.Rows(paths)
}

// Similar implements Finder.
func (f *vectorFinder) Similar(ctx context.Context, paths []string, n int) ([]Found, error) {
	if len(paths) == 1 {
		row, ok := f.in.Lookup(paths[0])
		if !ok {
			return nil, fmt.Errorf("%w: %s", ErrNoVector, paths[0])
		}
		vector, err := f.in.Vector(row)
		if err != nil {
			return nil, err
		}
		if vector == nil {
			return nil, fmt.Errorf("%w, only zeros: %s", ErrNoVector, paths[0])
		}
		return f.findNearest(ctx, search.Query{Vector: vector, Row: row}, n)
	}
	q, err := f.newMeanQuery(paths)
	if err != nil {
		return nil, err
	}
	found, err := f.findNearest(ctx, q, n+len(paths))
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, path := range paths {
		own[path] = true
	}
	found = slices.DeleteFunc(found, func(hit Found) bool { return own[hit.Path] })
	return found[:min(n, len(found))], nil
}

// newMeanQuery returns the mean of the images' unit vectors as a query. It ignores images without a vector.
func (f *vectorFinder) newMeanQuery(paths []string) (q search.Query, err error) {
	x, absent, err := f.in.Rows(paths)
	switch {
	case err != nil:
		return q, err
	case absent == len(paths):
		return q, fmt.Errorf("%w or of the other %d", ErrNoVector, len(paths)-1)
	}
	search.UnitRows(x)
	mean := make([]float32, x.Cols)
	for j := range mean {
		sum := 0.0
		for i := range x.Rows {
			sum += float64(x.Data[i*x.Stride+j])
		}
		mean[j] = float32(sum / float64(len(paths)-absent))
	}
	q, ok := search.NewQuery("centre", mean)
	if !ok {
		return q, fmt.Errorf("review: the vectors of the %d images cancel out: select fewer, more similar images",
			len(paths))
	}
	return q, nil
}

// Search implements Finder.
func (f *vectorFinder) Search(ctx context.Context, file []byte, n int) ([]Found, error) {
	if f.net == nil {
		net, err := f.by.Load(f.host, 0, true)
		if err != nil {
			return nil, err
		}
		if net.Dim() != f.in.Width() {
			err := fmt.Errorf("review: %s embeds into %d values, expected %d", f.by.Source, net.Dim(), f.in.Width())
			return nil, errors.Join(err, net.Close())
		}
		f.net = net
	}
	const name = "image"
	list, bad, err := f.net.Queries(ctx, sentFile{file}, []string{name}, embedding.Options{Batch: 1, Workers: 1})
	if none, ok := errors.AsType[*backbone.NoneReadable](err); ok {
		return nil, fmt.Errorf("%w: %w", ErrNotImage, none.Reason)
	}
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotImage, bad[0].Reason)
	}
	return f.findNearest(ctx, list[0], n)
}

func (f *vectorFinder) findNearest(ctx context.Context, q search.Query, n int) ([]Found, error) {
	lists, err := f.in.Nearest(ctx, []search.Query{q}, n)
	if err != nil {
		return nil, err
	}
	found := make([]Found, len(lists[0]))
	for i, hit := range lists[0] {
		found[i] = Found{Path: f.in.Paths[hit.Row], Similarity: hit.Similarity}
	}
	return found, nil
}

// sentFile is a file system in memory that returns the same file for every name.
type sentFile struct{ data []byte }

// Open implements fs.FS.
func (s sentFile) Open(name string) (fs.File, error) {
	return &openSent{Reader: bytes.NewReader(s.data), size: int64(len(s.data)), name: name}, nil
}

type openSent struct {
	*bytes.Reader
	size int64
	name string
}

func (o *openSent) Stat() (fs.FileInfo, error) { return o, nil }
func (o *openSent) Close() error               { return nil }
func (o *openSent) Name() string               { return o.name }
func (o *openSent) Size() int64                { return o.size }
func (o *openSent) Mode() fs.FileMode          { return 0o400 }
func (o *openSent) ModTime() time.Time         { return time.Time{} }
func (o *openSent) IsDir() bool                { return false }
func (o *openSent) Sys() any                   { return nil }
