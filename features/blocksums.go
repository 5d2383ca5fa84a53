package features

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/internal/atomicfile"
	"winnow/internal/blocksum"
	"winnow/internal/interrupt"
)

// sumsFile holds a CRC-32C for each block of features.npy, so that a changed bit is found wherever vectors are read,
// without reading the others. Stores of older programs have none; their vectors are not checked while reading.
const sumsFile = "features.crc"

const sumsMagic = "winnow crc32c 16384\n"

// readBlockSums returns the sums of a store, or nil if it has none.
func (s *Store) readBlockSums(size int64) error {
	data, err := s.readFile(sumsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	data, ok := bytes.CutPrefix(data, []byte(sumsMagic))
	if n := blocksum.Blocks(size); !ok || len(data) != 4*n {
		return fmt.Errorf("features: %s: found %d bytes of sums, expected those of %d blocks: remove it to read the "+
			"store without them", filepath.Join(s.Dir, sumsFile), len(data), n)
	}
	s.sums = blocksum.New(blocksum.Decode(data), size)
	return nil
}

// writeBlockSums writes the sums of features.npy.
func writeBlockSums(ctx context.Context, dir string, vectors io.Reader) error {
	return atomicfile.Write(filepath.Join(dir, sumsFile), func(w io.Writer) error {
		out := bufio.NewWriter(w)
		_, _ = out.WriteString(sumsMagic) // Flush returns the errors
		return cmp.Or(blocksum.Write(out, interrupt.NewReader(ctx, vectors)), out.Flush())
	})
}

// compare compares whole blocks of features.npy, which begin at byte from, with their sums.
func (s *Store) compare(data []byte, from int64) error {
	if first, last, ok := s.sums.Compare(data, from); !ok {
		return fmt.Errorf("features: %s: bytes %d to %d have changed since they were written: make the features "+
			"again (winnow extract --overwrite)", filepath.Join(s.Dir, VectorsFile), first, last)
	}
	return nil
}

// readAt reads a range of features.npy into b, and compares its blocks unless that was done.
func (s *Store) readAt(f io.ReaderAt, b []byte, at int64, scratch *[]byte) error {
	to := at + int64(len(b))
	if s.sums == nil || s.sums.Compared(at, to) {
		_, err := f.ReadAt(b, at)
		return err
	}
	from, end := s.sums.Around(at, to)
	if int64(cap(*scratch)) < end-from {
		*scratch = make([]byte, end-from)
	}
	whole := (*scratch)[:end-from]
	if n, err := f.ReadAt(whole, from); n < len(whole) {
		return err
	}
	if err := s.compare(whole, from); err != nil {
		return err
	}
	copy(b, whole[at-from:])
	return nil
}

// compareMapped compares the blocks of mapped rows, the first of which is row first of the store. Blocks that reach
// beyond the rows are read from the file.
func (s *Store) compareMapped(ctx context.Context, x blas32.General, first int) error {
	if s.sums == nil {
		return nil
	}
	at := s.offset + 4*int64(first)*int64(s.Dim)
	to := at + 4*int64(len(x.Data))
	if s.sums.Compared(at, to) {
		return nil
	}
	f, err := s.file(VectorsFile)
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	defer f.Close()
	from, end := s.sums.Around(at, to)
	in := io.NewSectionReader(f.(io.ReaderAt), from, end-from) // a file of this machine: it is mapped
	part := make([]byte, 64*blocksum.Size)
	for from < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(in, part[:min(int64(len(part)), end-from)])
		if err != nil {
			return fmt.Errorf("features: %s: %w", filepath.Join(s.Dir, VectorsFile), err)
		}
		if err := s.compare(part[:n], from); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}
