package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/hint"
)

// fakeFinder finds the images that follow the query in the manifest.
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

// seer is a fakeFinder that also implements Vectors.
type seer struct{ *fakeFinder }

func (seer) Rows(paths []string) (x blas32.General, absent int, err error) {
	x = features.NewMatrix(len(paths), 8)
	for n, path := range paths {
		var class, i int
		if _, err := fmt.Sscanf(path, "images/%d/Photo %d.png", &class, &i); err != nil {
			return x, 0, err
		}
		row := features.Row(x, n)
		row[i%4]++
		row[5] = float32(i%7) / 10
		row[6] = float32(i%11) / 10
	}
	return x, 0, nil
}
