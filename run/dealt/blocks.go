package dealt

import (
	"context"

	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/train"
)

// Source holds vectors of which some can be copied into a set: a [features.Set] or a store.
type Source interface {
	features.Source
	Some(ctx context.Context, rows []int) (features.Set, error)
}

// Blocks reads the vectors of a source in blocks, at unit length.
type Blocks struct {
	Source  Source
	Classes int
	Bad     func(row int) error // returns the error for a row whose vector is not finite
}

// Len returns the number of rows.
func (b *Blocks) Len() int { return b.Source.Len() }

// Bare returns the labels.
func (b *Blocks) Bare() features.Set { return b.Source.Bare() }

// Each passes all rows, block by block, at unit length; IDs are the rows. do keeps no block.
func (b *Blocks) Each(ctx context.Context, do func(features.Set) error) error {
	return b.visitBlocks(ctx, 0, b.Len(), do)
}

// Some returns rows at unit length; IDs are the rows.
func (b *Blocks) Some(ctx context.Context, rows []int) (features.Set, error) {
	set, err := b.Source.Some(ctx, rows)
	if err != nil {
		return set, err
	}
	set.IDs = rows
	for i, row := range rows {
		if err := b.scaleToUnit(set.Row(i), set.Row(i), row); err != nil {
			return set, err
		}
	}
	return set, nil
}

const (
	mostOfBlock  = 1 << 10
	leastOfBlock = 16
	entries      = 1 << 24 // similarities of a block with all classes, at most
)

// countBlockRows returns the number of rows of a block: few in small sets, so that many machines can share them.
func (b *Blocks) countBlockRows() int {
	return max(leastOfBlock, min(mostOfBlock, b.Len()>>10, entries/max(b.Classes, 1)))
}

// visitBlocks passes the rows from first, where a block begins, to before end, block by block. IDs are the
// rows; do keeps no block.
func (b *Blocks) visitBlocks(ctx context.Context, first, end int, do func(features.Set) error) error {
	var scratch []float32
	var set features.Set
	labels := b.Source.Bare().Labels
	for ; first < end; first += b.countBlockRows() {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(b.countBlockRows(), end-first)
		x, err := b.Source.Part(ctx, &scratch, first, n)
		if err != nil {
			return err
		}
		set = features.Set{X: features.Resize(set.X, n, x.Cols), Labels: labels[first:][:n], IDs: make([]int, n)}
		for i := range set.IDs {
			set.IDs[i] = first + i
			if err := b.scaleToUnit(set.Row(i), features.Row(x, i), first+i); err != nil {
				return err
			}
		}
		if err := do(set); err != nil {
			return err
		}
	}
	return nil
}

// scaleToUnit scales the vector of a row to unit length.
func (b *Blocks) scaleToUnit(to, from []float32, row int) error {
	if norm := features.UnitRow(to, from); norm-norm != 0 {
		return b.Bad(row)
	}
	return nil
}

// addUpRows adds up all rows.
func (b *Blocks) addUpRows(ctx context.Context, progress func(done int)) (*leaveout.Sums, error) {
	s := leaveout.NewSums(b.Source.Dim(), b.Classes)
	return s, b.visitBlocks(ctx, 0, b.Len(), func(set features.Set) error {
		progress(set.IDs[len(set.IDs)-1] + 1)
		return s.Add(set.X, set.Labels)
	})
}

// LeastOfClass is the smallest number of rows of a class in a sample, unless the class has fewer.
const LeastOfClass = 10

// sampleRows draws about n of the labelled rows: each class gets its share, at least [LeastOfClass]. IDs are the rows,
// rising.
func (b *Blocks) sampleRows(ctx context.Context, n int, seed uint64) (features.Set, error) {
	return b.Some(ctx, Draw(b.Source.Bare().Labels, b.Classes, n, seed))
}

// Draw returns the rows of a sample, rising: the same for the same labels and seed.
func Draw(labels []int, classes, n int, seed uint64) (rows []int) {
	left, all := make([]int, classes), 0 // rows of each class that are still to come
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
