package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"winnow/internal/hint"
)

// fakeFinder finds the images that stand behind the one asked for in the manifest.
type fakeFinder struct{ noUploads bool }

func (f *fakeFinder) Uploads() error {
	if f.noUploads {
		return hint.With(errors.New("the network has moved"), "name it")
	}
	return nil
}

func (f *fakeFinder) Similar(_ context.Context, paths []string, n int) ([]Found, error) {
	if slices.Contains(paths, pathOf(3)) {
		return nil, ErrNoVector
	}
	list := []Found{{"elsewhere.png", 1}}
	for i := 0; len(list) <= n; i++ {
		if slices.Contains(paths, pathOf(i)) {
			continue
		}
		list = append(list, Found{pathOf(i), 1 - float64(i)/100})
	}
	return list, nil
}

func (f *fakeFinder) Search(_ context.Context, file []byte, n int) ([]Found, error) {
	if !bytes.HasPrefix(file, []byte("\x89PNG")) {
		return nil, fmt.Errorf("%w: it is text", ErrNotImage)
	}
	return f.Similar(context.Background(), nil, n)
}
