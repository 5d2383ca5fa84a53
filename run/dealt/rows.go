// Package dealt deals the stored features of a manifest's images among machines, for jobs that need to know all of them before
// they can say something of one: in a first pass every machine sums up its rows, a join fits to the sums of all and to a
// sample what a [Job] judges by, and in a second pass every machine judges its rows. One machine does the same in one go.
//
// Rows are looked at in blocks whose borders depend on the whole alone, so that a row is computed among the same others wherever it is.
// The package knows no judge, and imports datasets, features, filters/leaveout, internal/hint, internal/lookup, parts, run/folder and train.
package dealt

import (
	"context"
	"fmt"

	"winnow/datasets"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/folder"
	"winnow/train"
)

// Rows are the readable training images of a manifest, in its order, with their stored features.
type Rows struct {
	Manifest *datasets.Dataset
	Store    *features.Store
	Labels   []int // classes of the manifest, or [features.Unlabelled]
	IDs      []int // positions in the manifest
	LeftOut  []lookup.LeftOut

	stored features.Stored
}

// Open finds the training images of d in a store, of which it looks at a view. It does not read the features.
func Open(d *datasets.Dataset, dir, view string, note func(format string, args ...any)) (*Rows, error) {
	store, err := features.Open(dir)
	if err != nil {
		return nil, hint.With(err, "make the features first: winnow extract")
	}
	if store, err = folder.LookAt(store, view, note); err != nil {
		return nil, err
	}
	r := &Rows{Manifest: d, Store: store}
	if r.stored, r.LeftOut, err = lookup.Stored(d, store, datasets.Train); err != nil {
		return nil, err
	}
	r.Labels, r.IDs = r.stored.Labels, r.stored.IDs
	for i, y := range r.Labels {
		if y == datasets.Unlabelled {
			r.Labels[i] = features.Unlabelled
		}
	}
	return r, nil
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.IDs) }

const (
	mostOfBlock  = 1 << 10
	leastOfBlock = 16
	entries      = 1 << 24 // similarities of a block with all classes, at most
)

// block returns the number of rows of a block: small ones of small sets, so that many machines have some.
func (r *Rows) block() int {
	return max(leastOfBlock, min(mostOfBlock, r.Len()>>10, entries/max(len(r.Manifest.Classes), 1)))
}

// each calls do with the rows from first to before end, block by block, features of unit length, IDs counting rows. do keeps nothing.
func (r *Rows) each(ctx context.Context, first, end int, do func(features.Set) error) error {
	var scratch []float32
	for ; first < end; first += r.block() {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(r.block(), end-first)
		x, err := r.stored.Part(ctx, &scratch, first, n)
		if err != nil {
			return err
		}
		set := features.Set{X: x, Labels: r.Labels[first:][:n], IDs: make([]int, n)}
		for i := range set.IDs {
			set.IDs[i] = first + i
		}
		if err := r.unit(set); err != nil {
			return err
		}
		if err := do(set); err != nil {
			return err
		}
	}
	return nil
}

// unit scales rows to unit length.
func (r *Rows) unit(set features.Set) error {
	for i, row := range set.IDs {
		if norm := features.UnitRow(set.Row(i), set.Row(i)); norm-norm != 0 {
			return hint.With(fmt.Errorf("features %s: those of %s are not finite numbers", r.Store.Dir, r.Manifest.Samples[r.IDs[row]].Path), "extract them again: winnow extract --overwrite")
		}
	}
	return nil
}

// Sums sums up the rows from first to before end.
func (r *Rows) Sums(ctx context.Context, first, end int, progress func(done int)) (*leaveout.Sums, error) {
	s := leaveout.NewSums(r.Store.Dim, len(r.Manifest.Classes))
	return s, r.each(ctx, first, end, func(set features.Set) error {
		progress(set.IDs[len(set.IDs)-1] + 1 - first)
		return s.Add(set.X, set.Labels)
	})
}

// LeastOfClass is how many rows of each class a sample holds at least, or all that the class has.
const LeastOfClass = 10

// Sample draws about so many of the labelled rows, of each class its share, but no fewer than LeastOfClass.
func (r *Rows) Sample(ctx context.Context, n int, seed uint64) (features.Set, error) {
	rows := Draw(r.Labels, len(r.Manifest.Classes), n, seed)
	set, err := r.stored.Rows(rows).Read(ctx)
	if err != nil {
		return set, err
	}
	set.IDs = rows
	return set, r.unit(set)
}

// Draw returns the rows of a sample, rising: the same for the same labels and seed.
func Draw(labels []int, classes, n int, seed uint64) (rows []int) {
	left, all := make([]int, classes), 0 // of each class, still to be looked at
	for _, y := range labels {
		if y >= 0 {
			left[y]++
			all++
		}
	}
	wanted := make([]int, classes)
	for k, m := range left {
		wanted[k] = min(m, max(LeastOfClass, int(int64(n)*int64(m)/int64(max(all, 1)))))
	}
	rng := train.Rand(seed, "fit sample", 0)
	for i, y := range labels {
		if y < 0 {
			continue
		}
		if rng.IntN(left[y]) < wanted[y] {
			rows = append(rows, i)
			wanted[y]--
		}
		left[y]--
	}
	return rows
}
