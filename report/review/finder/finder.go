// Package finder finds images similar to another one, for the review page. It searches the vectors of a feature
// store, an index, or a run. An image that is not in the store is embedded by the model that made the vectors,
// if that is found.
package finder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/report/review"
	"winnow/run/embedding"
	"winnow/search"
)

// Finder implements [review.Finder].
type Finder struct {
	in   *search.Gallery
	by   *embedding.Embedder // embeds uploaded images; nil: none can be searched for
	net  *embedding.Network  // loaded for the first upload
	host embedding.Host
}

// Open searches a feature store or an index. Uploaded images are embedded by model, a run folder or an ONNX
// file; "" is the model that made the vectors. If that is not found, the host receives a note, and uploaded
// images cannot be searched for.
func Open(dir, model string, host embedding.Host) (*Finder, error) {
	host = host.Complete()
	in, err := search.OpenGallery(dir)
	if err != nil {
		return nil, err
	}
	f := &Finder{in: in, host: host}
	if f.by, err = embedding.OpenMaker(in, embedding.Options{Model: model}, host.Note); err != nil {
		if model != "" {
			return nil, errors.Join(err, f.Close())
		}
		f.noUploads(err)
	}
	return f, nil
}

// noUploads notes that uploaded images cannot be searched for.
func (f *Finder) noUploads(why error) {
	f.host.Note("uploaded images cannot be searched for: %v", why)
	f.by = nil
}

// Close closes what the finder opened.
func (f *Finder) Close() error {
	if f.net == nil {
		return f.in.Close()
	}
	return errors.Join(f.in.Close(), f.net.Close())
}

// Uploads implements review.Finder.
func (f *Finder) Uploads() bool { return f.by != nil }

// Rows implements review.Vectors.
func (f *Finder) Rows(paths []string) (x blas32.General, absent int, err error) {
	return f.in.Rows(paths)
}

// Similar implements review.Finder.
func (f *Finder) Similar(ctx context.Context, path string, n int) ([]review.Found, error) {
	row, ok := f.in.Lookup(path)
	if !ok {
		return nil, fmt.Errorf("%w: %s", review.ErrNoVector, path)
	}
	vector, err := f.in.Vector(row)
	if err != nil {
		return nil, err
	}
	if vector == nil {
		return nil, fmt.Errorf("%w that is not all zeros: %s", review.ErrNoVector, path)
	}
	return f.nearest(ctx, search.Query{Vector: vector, Row: row}, n)
}

// Search implements review.Finder.
func (f *Finder) Search(ctx context.Context, file []byte, n int) ([]review.Found, error) {
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
		return nil, fmt.Errorf("%w: %w", review.ErrNotImage, none.Reason)
	}
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: %s", review.ErrNotImage, bad[0].Reason)
	}
	return f.nearest(ctx, list[0], n)
}

func (f *Finder) nearest(ctx context.Context, q search.Query, n int) ([]review.Found, error) {
	lists, err := f.in.Nearest(ctx, []search.Query{q}, n)
	if err != nil {
		return nil, err
	}
	found := make([]review.Found, len(lists[0]))
	for i, hit := range lists[0] {
		found[i] = review.Found{Path: f.in.Paths[hit.Row], Similarity: hit.Similarity}
	}
	return found, nil
}

// sentFile is a file system with one file in memory, which has every name.
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
