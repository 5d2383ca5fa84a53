package features

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/internal/atomicfile"
	"winnow/internal/interrupt"
)

// sumsFile holds a CRC-32C for each block of features.npy, so that a changed bit is found wherever vectors are read,
// without reading the others. Stores of older programs have none; their vectors are not checked while reading.
const sumsFile = "features.crc"

const sumsMagic = "winnow crc32c 16384\n"

// sumBlock is the size of the blocks in bytes.
const sumBlock = 1 << 14

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockSums are the sums of a store's blocks, and which of them have been compared.
type blockSums struct {
	sums []uint32
	seen []atomic.Uint32 // a bit a block
	size int64           // of features.npy
}

// readBlockSums returns the sums of a store, or nil if it has none.
func (s *Store) readBlockSums(size int64) error {
	data, err := s.readFile(sumsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	n := (size + sumBlock - 1) / sumBlock
	data, ok := bytes.CutPrefix(data, []byte(sumsMagic))
	if !ok || int64(len(data)) != 4*n {
		return fmt.Errorf("features: %s: found %d bytes of sums, expected those of %d blocks: remove it to read the "+
			"store "+
			"without them", filepath.Join(s.Dir, sumsFile), len(data), n)
	}
	b := &blockSums{sums: make([]uint32, n), seen: make([]atomic.Uint32, (n+31)/32), size: size}
	for i := range b.sums {
		b.sums[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	s.sums = b
	return nil
}

// writeBlockSums writes the sums of features.npy.
func writeBlockSums(ctx context.Context, dir string, vectors io.Reader) error {
	return atomicfile.Write(filepath.Join(dir, sumsFile), func(w io.Writer) error {
		out := bufio.NewWriter(w)
		_, _ = out.WriteString(sumsMagic) // Flush returns the errors
		block, in := make([]byte, sumBlock), interrupt.NewReader(ctx, vectors)
		for {
			n, err := io.ReadFull(in, block)
			if n > 0 {
				_ = binary.Write(out, binary.LittleEndian, crc32.Checksum(block[:n], castagnoli))
			}
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return out.Flush()
			}
			if err != nil {
				return err
			}
		}
	})
}

// compared reports whether all blocks of a range of bytes have been compared.
func (b *blockSums) compared(from, to int64) bool {
	for k := from / sumBlock; k*sumBlock < to; k++ {
		if b.seen[k/32].Load()&(1<<(k%32)) == 0 {
			return false
		}
	}
	return true
}

// compare compares whole blocks, which begin at byte from, with their sums. It returns the first one that differs.
func (b *blockSums) compare(data []byte, from int64) (bad int64, ok bool) {
	for k := from / sumBlock; len(data) > 0; k++ {
		block := data[:min(sumBlock, len(data))]
		if b.seen[k/32].Load()&(1<<(k%32)) == 0 {
			if crc32.Checksum(block, castagnoli) != b.sums[k] {
				return k, false
			}
			b.seen[k/32].Or(1 << (k % 32))
		}
		data = data[len(block):]
	}
	return 0, true
}

// around widens a range of bytes to whole blocks.
func (b *blockSums) around(from, to int64) (int64, int64) {
	return from / sumBlock * sumBlock, min((to+sumBlock-1)/sumBlock*sumBlock, b.size)
}

// changed is the error for a block that is not what was written.
func (s *Store) changed(block int64) error {
	return fmt.Errorf("features: %s: bytes %d to %d have changed since they were written: make the features again "+
		"(winnow "+
		"extract --overwrite)", filepath.Join(s.Dir, VectorsFile), block*sumBlock, min((block+1)*sumBlock,
		s.sums.size)-1)
}

// readAt reads a range of features.npy into b, and compares its blocks unless that was done.
func (s *Store) readAt(f io.ReaderAt, b []byte, at int64, scratch *[]byte) error {
	to := at + int64(len(b))
	if s.sums == nil || s.sums.compared(at, to) {
		_, err := f.ReadAt(b, at)
		return err
	}
	from, end := s.sums.around(at, to)
	if int64(cap(*scratch)) < end-from {
		*scratch = make([]byte, end-from)
	}
	whole := (*scratch)[:end-from]
	if n, err := f.ReadAt(whole, from); n < len(whole) {
		return err
	}
	if bad, ok := s.sums.compare(whole, from); !ok {
		return s.changed(bad)
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
	if s.sums.compared(at, to) {
		return nil
	}
	f, err := s.file(VectorsFile)
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	defer f.Close()
	from, end := s.sums.around(at, to)
	in := io.NewSectionReader(f.(io.ReaderAt), from, end-from) // a file of this machine: it is mapped
	part := make([]byte, 64*sumBlock)
	for from < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(in, part[:min(int64(len(part)), end-from)])
		if err != nil {
			return fmt.Errorf("features: %s: %w", filepath.Join(s.Dir, VectorsFile), err)
		}
		if bad, ok := s.sums.compare(part[:n], from); !ok {
			return s.changed(bad)
		}
		from += int64(n)
	}
	return nil
}
