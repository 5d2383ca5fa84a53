package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/embedding"
	"winnow/extraction"
	"winnow/review"
	"winnow/search"
)

// reviewFinder finds images alike for the page. One goroutine at a time asks it.
type reviewFinder struct {
	in  *search.Gallery
	by  *embedding.Embedder // of images that are sent; nil: none can be
	net *embedding.Network  // loaded when the first one is sent
	c   *cli.Context
}

// openReviewFinder looks in a feature store or an index. Where who made it is not found again, images that are sent cannot
// be searched for: that is told.
func openReviewFinder(c *cli.Context) (*reviewFinder, error) {
	in, err := search.OpenGallery(c.String("features"))
	if err != nil {
		return nil, err
	}
	f := &reviewFinder{in: in, c: c}
	if f.by, err = embedding.OpenMaker(in, embedding.Options{Model: c.String("model")}, noter(c)); err != nil {
		if c.IsSet("model") {
			return nil, errors.Join(err, f.Close())
		}
		note(c, "images that are sent to the page cannot be searched for: %v", err)
		f.by = nil
	}
	return f, nil
}

// Close lets everything go. A nil finder has nothing.
func (f *reviewFinder) Close() error {
	if f == nil {
		return nil
	}
	if f.net == nil {
		return f.in.Close()
	}
	return errors.Join(f.in.Close(), f.net.Close())
}

// Uploads implements review.Finder.
func (f *reviewFinder) Uploads() bool { return f.by != nil }

// Similar implements review.Finder.
func (f *reviewFinder) Similar(ctx context.Context, path string, n int) ([]review.Found, error) {
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
func (f *reviewFinder) Search(ctx context.Context, file []byte, n int) ([]review.Found, error) {
	if f.net == nil {
		net, err := f.by.Load(extraction.Host{Runtime: program(f.c).OpenRuntime}, 0, true)
		if err != nil {
			return nil, err
		}
		if net.Dim() != f.in.Width() {
			return nil, errors.Join(fmt.Errorf("review: %s embeds into %d values, expected %d", f.by.Source, net.Dim(), f.in.Width()), net.Close())
		}
		f.net = net
	}
	const name = "image"
	list, bad, err := f.net.Queries(ctx, sentFile{file}, []string{name}, embedding.Options{Batch: 1, Workers: 1})
	var none *backbone.NoneReadable
	if errors.As(err, &none) {
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

func (f *reviewFinder) nearest(ctx context.Context, q search.Query, n int) ([]review.Found, error) {
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

// sentFile is one file in memory as a tree of files, whatever name is asked for.
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
