package features

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// SourceError is the error for a store to be joined whose vectors have changed since they were written.
type SourceError struct {
	Dir string
	Err error
}

func (e *SourceError) Error() string { return fmt.Sprintf("%s: %v", e.Dir, e.Err) }

func (e *SourceError) Unwrap() error { return e.Err }

// Join combines stores of consecutive images, in this order, into a store in dir, as [Create] does. It releases the
// paths of the stores. Joining stores of whole batches gives, byte for byte, the store of a single run on the same
// device. A changed vector is reported as a *[SourceError].
func Join(ctx context.Context, stores []*Store, dir string, overwrite bool,
	progress func(done, total int)) (*Store, error) {
	if len(stores) == 0 {
		return nil, fmt.Errorf("features: join: found no store, expected at least one")
	}
	for _, s := range stores[1:] {
		if why := describeStoreDiff(stores[0], s); why != "" {
			return nil, fmt.Errorf("features: join: %s and %s cannot be joined: %s", stores[0].Dir, s.Dir, why)
		}
	}
	plan := newJoinedPlan(stores)
	w, err := Create(dir, plan, overwrite)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	first := 0 // row of the store's first image in the joined store
	for _, s := range stores {
		err := w.appendStore(ctx, s, first)
		if _, damaged := errors.AsType[*DamageError](err); damaged {
			err = &SourceError{s.Dir, err}
		}
		if err != nil {
			return nil, err
		}
		if first += s.Rows; progress != nil {
			progress(first, len(plan.Paths))
		}
	}
	return w.Finish(ctx)
}

// appendStore appends the missing rows of a store; first is the row of its first image in the joined store.
func (w *Writer) appendStore(ctx context.Context, s *Store, first int) error {
	record, all := s.Views()*s.Dim, AllRows(s.Rows)
	for from := max(w.rows-first, 0); from < s.Rows; from = w.rows - first {
		n := min(s.Batch, s.Rows-from)
		x := NewMatrix(n, record)
		if err := s.readRowValues(ctx, x.Data, all[from:from+n], 0, record); err != nil {
			return err
		}
		var bad []Bad
		for _, b := range s.Bad {
			if b.Row >= from && b.Row < from+n {
				b.Row += first
				bad = append(bad, b)
			}
		}
		if err := w.appendBatch(x, bad); err != nil {
			return err
		}
	}
	return nil
}

// describeStoreDiff describes how two stores differ apart from their images, or returns "".
func describeStoreDiff(a, b *Store) string {
	key := b.Key
	key.Images = a.Key.Images
	if why := a.Key.Differs(key); why != "" {
		return why
	}
	if a.Batch != b.Batch || a.Dim != b.Dim {
		return fmt.Sprintf("batches of %d with %d values per row, batches of %d with %d", a.Batch, a.Dim, b.Batch,
			b.Dim)
	}
	return ""
}

// newJoinedPlan returns the plan of the joined store, which lists all devices and versions of the stores.
func newJoinedPlan(stores []*Store) Plan {
	info, total := stores[0].Info, 0
	for _, s := range stores {
		total += s.Rows
	}
	plan := Plan{Key: info.Key, Dim: info.Dim, Batch: info.Batch, ModelFile: info.ModelFile,
		Paths: make([]string, 0, total)}
	var devices, versions []string
	for _, s := range stores { // names dominate the memory of large lists, so keep them once
		plan.Paths = append(plan.Paths, s.Paths...)
		s.Paths, s.rows = nil, nil
		devices, versions = append(devices, s.Device), append(versions, s.Winnow)
	}
	plan.Device, plan.Winnow = eachOnce(devices), eachOnce(versions)
	return plan
}

// eachOnce joins the distinct texts in sorted order.
func eachOnce(texts []string) string {
	slices.Sort(texts)
	return strings.Join(slices.Compact(texts), ", ")
}
