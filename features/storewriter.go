package features

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/internal/atomicfile"
	"winnow/internal/lock"
	"winnow/internal/regular"
	"winnow/internal/seal"
)

// ErrComplete is returned by Create if a finished store with the same key exists.
var ErrComplete = errors.New("features: the store is complete")

// Plan describes the content of a store and how its rows are computed.
type Plan struct {
	Key    Key      // Images is set by Create
	Paths  []string // the image of each row
	Dim    int
	Batch  int    // rows per batch; another number changes the last bits of the features
	Device string // where the rows are computed; another device changes the last bits as well
	Winnow string // version of the program

	ModelFile string // path of the model, for users and winnow export; not part of the key
}

// countRowValues returns the number of values in a row, which has all views of an image.
func (p Plan) countRowValues() int { return p.Key.countViews() * p.Dim }

// Writer creates a store. If it is stopped by Close or by the end of the process, Create with the same plan continues
// after the last batch that is safely on disk.
type Writer struct {
	dir    string
	plan   Plan
	part   *os.File
	lock   io.Closer
	rows   int       // rows appended
	synced int       // rows safely on disk
	at     time.Time // time of the last Flush
	bad    []Bad
	offset int64 // offset of the first value
}

// A killed process loses at most syncRows rows or the work of syncTime, plus one batch.
const (
	syncRows = 256
	syncTime = 5 * time.Second
)

// syncDir makes removals and renames in a folder durable, in order. Tests replace it.
var syncDir = atomicfile.SyncDir

// Create starts a store in dir, or continues an unfinished one with the same plan. If a finished store with the same
// key exists, it returns ErrComplete. For a finished or unfinished store with another key, it returns a *[KeyError],
// and for an unreadable store a *[DamageError]; the stores stay unchanged. With overwrite, it replaces any store except
// an unfinished one with the same plan, which it continues. Old files stay intact until Finish replaces them.
func Create(dir string, plan Plan, overwrite bool) (_ *Writer, err error) {
	if err := checkPaths(plan.Paths); err != nil {
		return nil, err
	}
	if plan.Dim < 1 || plan.Batch < 1 {
		return nil, fmt.Errorf("features: %s: %d values per row in batches of %d, expected at least 1", dir,
			plan.Dim, plan.Batch)
	}
	if plan.Key.DType == Float32 {
		plan.Key.DType = ""
	}
	if err := plan.Key.checkKey(); err != nil {
		return nil, fmt.Errorf("features: %s: %w", dir, err)
	}
	plan.Key.Images = HashPaths(plan.Paths)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	w := &Writer{dir: dir, plan: plan}
	if w.lock, err = lock.Folder(dir); err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	defer func() {
		if err != nil {
			w.Close()
		}
	}()
	if !overwrite {
		if err := w.checkFinished(); err != nil {
			return nil, err
		}
	}
	return w, w.beginPart(overwrite)
}

// checkFinished returns an error if the folder contains a finished store.
func (w *Writer) checkFinished() error {
	if old, err := Standing(context.Background(), w.dir, w.plan.Key); old == nil {
		return err
	}
	if p, err := readProgress(w.writerPath(progressFile)); err == nil && p.Rows == p.Total && w.diffPlan(p) == "" {
		os.Remove(w.writerPath(progressFile)) // left by an interrupted Finish
	}
	return ErrComplete
}

func (w *Writer) writerPath(name string) string { return filepath.Join(w.dir, name) }

// Rows returns the number of rows written, which is also the index of the next image.
func (w *Writer) Rows() int { return w.rows }

// Bad lists the unreadable images so far.
func (w *Writer) Bad() []Bad { return w.bad }

// Append adds the rows of one batch and lists its unreadable images, whose rows are zeros. A row has all views of an
// image side by side. Every batch except the last has Plan.Batch rows.
func (w *Writer) Append(x blas32.General, bad []Bad) error {
	err := w.appendBatch(x, bad)
	if err == nil && (w.rows-w.synced >= syncRows || time.Since(w.at) >= syncTime) {
		return w.Flush()
	}
	return err
}

// appendBatch is [Writer.Append] without flushing.
func (w *Writer) appendBatch(x blas32.General, bad []Bad) error {
	left := len(w.plan.Paths) - w.rows
	if x.Cols != w.plan.countRowValues() || x.Rows != min(w.plan.Batch, left) || w.part == nil {
		return fmt.Errorf("features: %s: batch of %d×%d at row %d, expected %d×%d", w.dir, x.Rows, x.Cols, w.rows,
			min(w.plan.Batch, left), w.plan.countRowValues())
	}
	if w.plan.Key.DType == Float16 {
		if err := w.fitsHalf(x); err != nil {
			return err
		}
	}
	if err := writeRows(w.part, w.plan.Key.numpyDescr(), x); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	w.rows += x.Rows
	w.bad = append(w.bad, bad...)
	return nil
}

// fitsHalf returns an error for vectors that float16 cannot represent: with a value above the largest float16, or with
// all values rounded to 0.
func (w *Writer) fitsHalf(x blas32.General) error {
	for i := range x.Rows {
		row := Row(x, i)
		for from := 0; from < len(row); from += w.plan.Dim {
			var before, after bool
			for _, v := range row[from : from+w.plan.Dim] {
				h := toHalf(v)
				if h&0x7c00 == 0x7c00 {
					return fmt.Errorf("features: %s: found the value %v, expected at most %d, the largest of %s",
						w.plan.Paths[w.rows+i], v, maxHalf, Float16)
				}
				before, after = before || v != 0, after || h&0x7fff != 0
			}
			if before && !after {
				return fmt.Errorf("features: %s: all values are below 3e-08, which %s rounds to 0",
					w.plan.Paths[w.rows+i], Float16)
			}
		}
	}
	return nil
}

// Flush writes the rows so far to disk and then records their number.
func (w *Writer) Flush() error {
	if w.part == nil {
		return nil
	}
	if err := w.part.Sync(); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	data, err := seal.Marshal(progress{Version: w.plan.Key.storeVersion(), Key: w.plan.Key, Rows: w.rows,
		Total: len(w.plan.Paths),
		Dim:   w.plan.Dim, Batch: w.plan.Batch, Device: w.plan.Device, Bad: w.bad})
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	if err := atomicfile.WriteBytes(w.writerPath(progressFile), data); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	w.synced, w.at = w.rows, time.Now()
	return nil
}

// Finish turns a part with all its rows into the store, replacing an older store, and opens it. If Finish is
// interrupted, either the older store or a part that Create can continue is left.
func (w *Writer) Finish(ctx context.Context) (*Store, error) {
	if w.rows != len(w.plan.Paths) {
		return nil, fmt.Errorf("features: %s: %d of %d rows", w.dir, w.rows, len(w.plan.Paths))
	}
	if err := w.replaceMatrix(); err != nil {
		return nil, err
	}
	sum, err := hashFile(ctx, w.writerPath(VectorsFile))
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	info := Info{Version: w.plan.Key.storeVersion(), Key: w.plan.Key, Rows: w.rows, Dim: w.plan.Dim,
		Batch:  w.plan.Batch,
		Device: w.plan.Device, Winnow: w.plan.Winnow, ModelFile: w.plan.ModelFile, Bad: w.bad, Sum: sum}
	if info.Bad == nil {
		info.Bad = []Bad{}
	}
	if err := writeInfo(ctx, w.dir, info, w.plan.Paths); err != nil {
		return nil, err
	}
	if err := os.Remove(w.writerPath(progressFile)); err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	return Open(w.dir)
}

// writeInfo writes the checksums of a store's vectors, the image paths of its rows, and finally store.json, which marks
// the store as complete.
func writeInfo(ctx context.Context, dir string, info Info, paths []string) error {
	data, err := seal.Marshal(info)
	if err == nil {
		var f *os.File
		if f, err = regular.Open(filepath.Join(dir, VectorsFile)); err == nil {
			err = errors.Join(writeBlockSums(ctx, dir, f), f.Close())
		}
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(dir, pathsFile), func(w io.Writer) error {
			b := bufio.NewWriterSize(w, 1<<16)
			return cmp.Or(writePaths(b, paths), b.Flush())
		})
	}
	if err == nil {
		err = atomicfile.WriteBytes(filepath.Join(dir, storeFile), data)
	}
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	return nil
}

// replaceMatrix renames the part to features.npy. It first removes the old store.json, which must never describe other
// vectors.
func (w *Writer) replaceMatrix() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if err := removeInfo(w.dir); err != nil {
		return err
	}
	if w.part != nil {
		if err := w.part.Close(); err != nil {
			return fmt.Errorf("features: %w", err)
		}
		w.part = nil
		if err := os.Rename(w.writerPath(partFile), w.writerPath(VectorsFile)); err != nil {
			return fmt.Errorf("features: %w", err)
		}
	}
	f, err := regular.Open(w.writerPath(VectorsFile))
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	defer f.Close()
	if _, err := checkMatrixFile(f, w.plan.Key, w.rows, w.plan.Dim); err != nil {
		return fmt.Errorf("features: %s: %w", w.writerPath(VectorsFile), err)
	}
	return nil
}

// removeInfo removes store.json durably before any other change, because a file system may reorder later operations.
func removeInfo(dir string) error {
	err := os.Remove(filepath.Join(dir, storeFile))
	if err == nil {
		err = syncDir(dir)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.Remove(filepath.Join(dir, sumsFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	return nil
}

// Discard removes an unfinished store that is useless, so that the next call does not resume it.
func (w *Writer) Discard() error {
	err := w.Close()
	for _, name := range []string{progressFile, partFile} {
		if e := os.Remove(w.writerPath(name)); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// Close releases the folder. Rows appended since the last Flush are lost; after Finish, no row is lost.
func (w *Writer) Close() error {
	var err error
	if w.part != nil {
		err = w.part.Close()
		w.part = nil
	}
	if w.lock != nil {
		err = errors.Join(err, w.lock.Close())
		w.lock = nil
	}
	return err
}
