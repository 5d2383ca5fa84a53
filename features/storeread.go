package features

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/internal/regular"
)

// readBlock is the largest number of bytes read at a time, always whole vectors. It is small enough to be verified and
// decoded in a core's cache, and large compared with the blocks at its ends, which are read twice.
const readBlock = 1 << 18

// Views returns the number of vectors per image. The first vector is the centre view.
func (s *Store) Views() int { return s.Key.countViews() }

// Averaged returns the same store, except that Read returns the mean of an image's views instead of the first view. The
// mean of the stored vectors is computed in float64 and rounded once, before any head is applied.
func (s *Store) Averaged() *Store {
	mean := *s
	mean.mean = s.Views() > 1
	return &mean
}

// Read loads the vectors of the rows in order: the first views or, for an Averaged store, the means. nil means all
// rows.
func (s *Store) Read(ctx context.Context, rows []int) (blas32.General, error) {
	rows, err := s.resolveRows(rows)
	if err != nil {
		return blas32.General{}, err
	}
	x := NewMatrix(len(rows), s.Dim)
	return x, s.readStoreRows(ctx, x, rows)
}

// readStoreRows is [Store.Read] into x, for valid rows.
func (s *Store) readStoreRows(ctx context.Context, x blas32.General, rows []int) error {
	if s.mean {
		return s.readMean(ctx, x, rows)
	}
	return s.readRowValues(ctx, x.Data, rows, 0, s.Dim)
}

// ReadViews loads all views of the rows, view by view: the first views of all rows, then the second views of all rows,
// and so on. nil means all rows.
func (s *Store) ReadViews(ctx context.Context, rows []int) (blas32.General, error) {
	rows, err := s.resolveRows(rows)
	if err != nil {
		return blas32.General{}, err
	}
	x := NewMatrix(s.Views()*len(rows), s.Dim)
	size := len(rows) * s.Dim
	for v := range s.Views() {
		if err := s.readRowValues(ctx, x.Data[v*size:(v+1)*size], rows, v*s.Dim, s.Dim); err != nil {
			return x, err
		}
	}
	return x, nil
}

// readMean loads the means of the rows' views, a few rows at a time.
func (s *Store) readMean(ctx context.Context, x blas32.General, rows []int) error {
	record := s.Views() * s.Dim
	some := make([]float32, max(readBlock/record, 1)*record)
	for at := 0; at < len(rows); {
		n := min(len(some)/record, len(rows)-at)
		if err := s.readRowValues(ctx, some[:n*record], rows[at:at+n], 0, record); err != nil {
			return err
		}
		for i := range n {
			averageViews(Row(x, at+i), some[i*record:(i+1)*record])
		}
		at += n
	}
	return nil
}

// averageViews sets dst to the mean of the vectors stored consecutively in all.
func averageViews(dst, all []float32) {
	n := float64(len(all) / len(dst))
	for j := range dst {
		var sum float64
		for k := j; k < len(all); k += len(dst) {
			sum += float64(all[k])
		}
		dst[j] = float32(sum / n)
	}
}

// resolveRows validates a list of rows; nil becomes the list of all rows.
func (s *Store) resolveRows(rows []int) ([]int, error) {
	if rows == nil {
		rows = AllRows(s.Rows)
	}
	for i, r := range rows {
		if r < 0 || r >= s.Rows {
			return nil, fmt.Errorf("features: %s: found row %d at position %d, expected 0 to %d", s.Dir, r, i, s.Rows-1)
		}
	}
	return rows, nil
}

// readRowValues reads count values of each row, starting at value from, and stores them consecutively. If these are
// whole rows, adjacent rows are read together.
func (s *Store) readRowValues(ctx context.Context, dst []float32, rows []int, from, count int) error {
	f, err := regular.Open(filepath.Join(s.Dir, VectorsFile))
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	defer f.Close()
	view, descr := Array{Floats: dst}, s.Key.numpyDescr()
	width := elementSize[descr]
	record := s.Views() * s.Dim
	most := max(readBlock/(width*count), 1) // rows read together
	var scratch []byte
	for at := 0; at < len(rows); {
		if err := ctx.Err(); err != nil {
			return err
		}
		run := 1
		for count == record && at+run < len(rows) && rows[at+run] == rows[at]+run && run < most {
			run++
		}
		place := s.offset + (int64(rows[at])*int64(record)+int64(from))*int64(width)
		b, err := s.readAt(f, place, run*width*count, &scratch)
		if err != nil {
			if _, damaged := errors.AsType[*DamageError](err); damaged {
				return err // the error names the file and the bytes
			}
			return fmt.Errorf("features: %s: row %d: %w", f.Name(), rows[at], err)
		}
		view.decodeElements(at*count, descr, b)
		at += run
	}
	return nil
}
