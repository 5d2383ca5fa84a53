package search

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/regular"
)

// NoDirection explains why an image can neither be found nor used as a query.
const NoDirection = "its vector is all zeros, so it has no nearest images"

// Gallery is a searchable set of named vectors: an index or a feature store.
type Gallery struct {
	Vectors
	Paths []string        // the image of each row
	Index *Index          // nil if the gallery is a store
	Store *features.Store // nil if the gallery is an index

	bad map[int]string // reason why a row of the store has no vector
}

// OpenGallery opens the folder of an index or a feature store.
func OpenGallery(dir string) (*Gallery, error) {
	if !Here(dir) {
		store, err := features.Open(dir)
		if err != nil {
			return nil, hint.With(err, "give a folder written by winnow index or winnow extract")
		}
		return StoreGallery(store, Stored{store}), nil
	}
	ix, err := Open(dir)
	if err != nil {
		return nil, err
	}
	if ix.Rows == 0 {
		return nil, hint.With(fmt.Errorf("search: %s: the index contains no images", dir),
			"add some: winnow index IMAGES --out %s --add", dir)
	}
	return &Gallery{Vectors: ix, Paths: ix.Paths, Index: ix}, nil
}

// StoreGallery returns a gallery whose vectors v were computed from the rows of a store.
func StoreGallery(store *features.Store, v Vectors) *Gallery {
	return &Gallery{Vectors: v, Paths: store.Paths, Store: store, bad: store.BadRows()}
}

// Close closes the index, if there is one.
func (g *Gallery) Close() error {
	if g.Index == nil {
		return nil
	}
	return g.Index.Close()
}

// Lookup returns the row of an image. Unreadable images have no row.
func (g *Gallery) Lookup(path string) (row int, ok bool) {
	if g.Index != nil {
		return g.Index.lookUpRow(path)
	}
	rows, _ := g.Store.Lookup([]string{path})
	_, bad := g.bad[rows[0]]
	return rows[0], rows[0] >= 0 && !bad
}

// Vector returns a copy of a row, or nil if the row is all zeros.
func (g *Gallery) Vector(row int) ([]float32, error) {
	x, absent, err := g.Block(row, 1)
	if err != nil || absent != nil && absent[0] {
		return nil, err
	}
	return slices.Clone(features.Row(x, 0)), nil
}

// Query is a unit vector whose nearest vectors are searched.
type Query struct {
	Name   string
	Vector []float32
	Row    int // the query's own row in the gallery, which is left out of the hits; -1 if there is none
}

// NewQuery normalises a vector in place. The second result is false for a vector of zeros.
func NewQuery(name string, vector []float32) (Query, bool) {
	return Query{Name: name, Vector: vector, Row: -1}, UnitRows(oneRow(vector)) == nil
}

// Queries reads queries in the order of args: paths in the gallery, .npy files of vectors, and images. Consecutive
// images are passed to embed together. The second result lists the images that could not be read.
func (g *Gallery) Queries(args []string, embed func(images []string) ([]Query, []features.Bad, error)) (list []Query,
	left []features.Bad, err error) {
	for i := 0; i < len(args); {
		var images []string
		var q Query
		known := false
		for ; i < len(args) && !known && !isNPY(args[i]); i++ {
			if q, known, err = g.ownQuery(args[i]); err != nil {
				return nil, nil, err
			} else if !known {
				images = append(images, args[i])
			}
		}
		if len(images) > 0 {
			more, bad, err := embed(images)
			if err != nil {
				return nil, nil, err
			}
			list, left = append(list, more...), append(left, bad...)
		}
		switch {
		case known:
			list = append(list, q)
		case i < len(args):
			more, err := readQueries(args[i], g.Width())
			if err != nil {
				return nil, nil, err
			}
			list = append(list, more...)
			i++
		}
	}
	return list, left, nil
}

// Nearest finds the k vectors most similar to each query, like [Nearest].
func (g *Gallery) Nearest(ctx context.Context, queries []Query, k int) ([][]Hit, error) {
	x, own := features.NewMatrix(len(queries), g.Width()), make([]int, len(queries))
	for i, q := range queries {
		copy(features.Row(x, i), q.Vector)
		own[i] = q.Row
	}
	return Nearest(ctx, g, features.Set{X: x}, k, own)
}

// ownQuery returns an image of the gallery as a query.
func (g *Gallery) ownQuery(path string) (q Query, here bool, err error) {
	row, here := g.Lookup(path)
	if !here {
		return q, false, nil
	}
	vector, err := g.Vector(row)
	if err == nil && vector == nil {
		err = fmt.Errorf("search: %s: %s", path, NoDirection)
	}
	return Query{Name: path, Vector: vector, Row: row}, true, err
}

func isNPY(name string) bool { return strings.EqualFold(filepath.Ext(name), ".npy") }

// readQueries reads a .npy file: one vector, or one vector per row.
func readQueries(file string, dim int) ([]Query, error) {
	f, err := regular.Open(file)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	a, err := features.ReadNPY(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("search: %s: %w", file, err)
	}
	if len(a.Shape) == 1 {
		a.Shape = []int{1, a.Shape[0]}
	}
	x, err := a.Matrix()
	if err != nil {
		return nil, fmt.Errorf("search: %s: %w", file, err)
	}
	if x.Cols != dim {
		return nil, fmt.Errorf("search: %s: vectors of %d values, expected %d", file, x.Cols, dim)
	}
	for i, v := range x.Data {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("search: %s: row %d: value %d is %v, expected a finite number", file, i/x.Cols,
				i%x.Cols, v)
		}
	}
	list := make([]Query, x.Rows)
	for i := range list {
		var ok bool
		if list[i], ok = NewQuery(fmt.Sprintf("%s[%d]", file, i), features.Row(x, i)); !ok {
			return nil, fmt.Errorf("search: %s: row %d is all zeros, so it has no nearest images", file, i)
		}
	}
	return list, nil
}

// Rows returns a copy of the vectors of images, in the order of paths. absent is the number of images without a vector;
// their rows are zeros.
func (g *Gallery) Rows(paths []string) (x blas32.General, absent int, err error) {
	x = features.NewMatrix(len(paths), g.Width())
	for i, path := range paths {
		var v []float32
		if row, ok := g.Lookup(path); ok {
			if v, err = g.Vector(row); err != nil {
				return x, absent, err
			}
		}
		if v == nil {
			absent++
		}
		copy(features.Row(x, i), v)
	}
	return x, absent, nil
}
