package features

import (
	"context"
	"errors"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/internal/regular"
)

// Source is a set of labelled vectors that is read a few rows at a time, from a [Set] in memory or from a store on
// disk.
type Source interface {
	Len() int
	Dim() int
	// Part returns n vectors, starting at row from, for reading only. It uses scratch if the vectors are not in memory.
	Part(ctx context.Context, scratch *[]float32, from, n int) (blas32.General, error)
	// Bare returns the labels and IDs without the vectors.
	Bare() Set
}

// Part returns a view of n rows, starting at row from.
func (s Set) Part(_ context.Context, _ *[]float32, from, n int) (blas32.General, error) {
	return Part(s.X, from, n), nil
}

// Some copies the listed rows into a new set, in this order.
func (s Set) Some(_ context.Context, rows []int) (Set, error) { return s.Rows(rows), nil }

// Bare returns the labels and IDs without the vectors.
func (s Set) Bare() Set { return Set{Labels: s.Labels, IDs: s.IDs} }

// Stored is a set whose vectors stay in a store until they are read.
type Stored struct {
	Labels, IDs []int // as in a [Set]

	store *Store
	rows  []int // rows of the store
}

// NewStored returns the set of the listed rows of a store.
func NewStored(s *Store, rows, labels, ids []int) (Stored, error) {
	_, err := s.resolveRows(rows)
	return Stored{Labels: labels, IDs: ids, store: s, rows: rows}, err
}

// Len returns the number of vectors.
func (s Stored) Len() int { return len(s.rows) }

// Dim returns the dimension of the vectors.
func (s Stored) Dim() int { return s.store.Dim }

// Bare returns the labels and IDs without the vectors.
func (s Stored) Bare() Set { return Set{Labels: s.Labels, IDs: s.IDs} }

// Part reads n vectors, starting at row from.
func (s Stored) Part(ctx context.Context, scratch *[]float32, from, n int) (blas32.General, error) {
	x := Resize(blas32.General{Data: *scratch}, n, s.Dim())
	*scratch = x.Data
	return x, s.store.readStoreRows(ctx, x, s.rows[from:from+n])
}

// Read reads all vectors.
func (s Stored) Read(ctx context.Context) (Set, error) {
	set := s.Bare()
	var err error
	set.X, err = s.Part(ctx, new([]float32), 0, s.Len())
	return set, err
}

// Some reads the listed rows in this order.
func (s Stored) Some(ctx context.Context, rows []int) (Set, error) { return s.Rows(rows).Read(ctx) }

// View returns the set with vectors for reading only, valid until free is called. If the store has the rows
// contiguously as float32, they are mapped; otherwise they are read as in [Spill].
func (s Stored) View(ctx context.Context) (set Set, free func() error, err error) {
	set = s.Bare()
	file, free := s.mapped()
	if free != nil {
		if err = s.store.compareMapped(ctx, file, s.rows[0], s.Len()); err != nil {
			return set, nil, errors.Join(err, free())
		}
		d := s.Dim()
		set.X = blas32.General{Rows: s.Len(), Cols: d, Stride: d,
			Data: file[s.store.offset/4:][s.rows[0]*d:][:s.Len()*d]}
	} else {
		set.X, free, err = Spill(s.Len(), s.Dim(), func(from int, x blas32.General) error {
			return s.store.readStoreRows(ctx, x, s.rows[from:from+x.Rows])
		})
	}
	return set, free, err
}

// mapped maps the store's file; free is nil if the vectors cannot be used in mapped form.
func (s Stored) mapped() (file []float32, free func() error) {
	if s.store.Views() > 1 || s.store.Key.Element() != Float32 || s.store.offset%4 != 0 || s.Len() == 0 {
		return nil, nil
	}
	for i, row := range s.rows {
		if row != s.rows[0]+i {
			return nil, nil
		}
	}
	f, err := regular.Open(filepath.Join(s.store.Dir, VectorsFile))
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	return MapFloats(f, s.store.offset+4*int64(s.store.Rows)*int64(s.Dim()))
}

// Rows returns the set of the listed rows in this order.
func (s Stored) Rows(rows []int) Stored {
	return Stored{
		Labels: pickEntries(s.Labels, rows),
		IDs:    pickEntries(s.IDs, rows),
		store:  s.store,
		rows:   pickEntries(s.rows, rows),
	}
}

// Labelled returns the set without its unlabelled rows.
func (s Stored) Labelled() Stored {
	rows := labelledIndices(s.Labels)
	if len(rows) == s.Len() {
		return s
	}
	return s.Rows(rows)
}
