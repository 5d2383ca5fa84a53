package review

import (
	"bytes"
	"context"
	"fmt"
)

// fakeFinder finds the images that stand behind the one asked for in the manifest.
type fakeFinder struct{ noUploads bool }

func (f *fakeFinder) Uploads() bool { return !f.noUploads }

func (f *fakeFinder) Similar(_ context.Context, path string, n int) ([]Found, error) {
	if path == pathOf(3) {
		return nil, ErrNoVector
	}
	list := []Found{{"elsewhere.png", 1}}
	for i := range n {
		list = append(list, Found{pathOf(i), 1 - float64(i)/100})
	}
	return list, nil
}

func (f *fakeFinder) Search(_ context.Context, file []byte, n int) ([]Found, error) {
	if !bytes.HasPrefix(file, []byte("\x89PNG")) {
		return nil, fmt.Errorf("%w: it is text", ErrNotImage)
	}
	return f.Similar(context.Background(), "", n)
}
