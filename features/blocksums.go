package features

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"

	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
)

// sumsFile holds a checksum for each block of features.npy. A changed bit is thus found when its vector is read,
// without reading other blocks.
const sumsFile = "features.sums"

const sumsMagic = "winnow xxh3 16384\n"

// readBlockSums reads the checksums of features.npy; size is the size of features.npy.
func (s *Store) readBlockSums(size int64) error {
	name := filepath.Join(s.Dir, sumsFile)
	data, err := s.readFile(sumsFile)
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	data, ok := bytes.CutPrefix(data, []byte(sumsMagic))
	if n := countBlocks(size); !ok || len(data) != sumWidth*n {
		return fmt.Errorf("features: %s: found %d bytes of sums, expected %d for %d blocks", name, len(data),
			sumWidth*n, n)
	}
	s.sums = newBlockSums(decodeBlockSums(data), size)
	return nil
}

// writeBlockSums writes the checksums of features.npy.
func writeBlockSums(ctx context.Context, dir string, vectors io.Reader) error {
	return atomicfile.Write(filepath.Join(dir, sumsFile), func(w io.Writer) error {
		out := bufio.NewWriter(w)
		_, _ = out.WriteString(sumsMagic) // Flush returns the errors
		return cmp.Or(writeSumsOf(out, interrupt.NewReader(ctx, vectors)), out.Flush())
	})
}

// compareStoreSums verifies whole blocks of features.npy, starting at byte from.
func (s *Store) compareStoreSums(data []byte, from int64) error {
	if first, last, ok := s.sums.compareAll(data, from); !ok {
		return &DamageError{fmt.Errorf("features: %s: bytes %d to %d do not fit %s: one of the two files has changed "+
			"since it was written: restore both, or repeat the extraction, which determines which",
			filepath.Join(s.Dir, VectorsFile), first, last, sumsFile)}
	}
	return nil
}

// readAt returns n bytes of features.npy, using the memory of scratch. It verifies their blocks on first use.
func (s *Store) readAt(f io.ReaderAt, at int64, n int, scratch *[]byte) ([]byte, error) {
	from, to := at, at+int64(n)
	compared := s.sums.hasCompared(from, to)
	if !compared {
		from, to = s.sums.widenToBlocks(from, to)
	}
	if int64(cap(*scratch)) < to-from {
		*scratch = make([]byte, to-from)
	}
	b := (*scratch)[:to-from]
	if got, err := f.ReadAt(b, from); got < len(b) {
		return nil, err
	}
	if !compared {
		if err := s.compareStoreSums(b, from); err != nil {
			return nil, err
		}
	}
	return b[at-from:][:n], nil
}

// compareMapped verifies the blocks of mapped rows of the store.
func (s *Store) compareMapped(ctx context.Context, file []float32, first, rows int) error {
	at, to := s.sums.widenToBlocks(s.offset+4*int64(first)*int64(s.Dim), s.offset+4*int64(first+rows)*int64(s.Dim))
	for data := FloatBytes(file); at < to; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(to-at, 1<<10*sumBlock)
		if err := s.compareStoreSums(data[at:at+n], at); err != nil {
			return err
		}
		at += n
	}
	return nil
}
