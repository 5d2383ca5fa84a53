package features

import (
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"
)

// sumBlock is the size of a block in bytes. The last block of a file may be shorter.
const sumBlock = 1 << 14

// sumWidth is the size of a stored checksum in bytes.
const sumWidth = 8

// blockSums holds the checksums of a file's blocks and records which are verified. It is safe for concurrent use.
type blockSums struct {
	sums []uint64
	seen []atomic.Uint32 // one bit per block
	size int64           // size of the file
}

// countBlocks returns the number of blocks of a file of this size.
func countBlocks(size int64) int { return int((size + sumBlock - 1) / sumBlock) }

// newBlockSums returns the checksums of a file of this size, one per block.
func newBlockSums(sums []uint64, size int64) *blockSums {
	return &blockSums{sums: sums, seen: make([]atomic.Uint32, (len(sums)+31)/32), size: size}
}

// decodeBlockSums decodes checksums stored on disk: [sumWidth] bytes each, little-endian.
func decodeBlockSums(data []byte) []uint64 {
	sums := make([]uint64, len(data)/sumWidth)
	for i := range sums {
		sums[i] = binary.LittleEndian.Uint64(data[sumWidth*i:])
	}
	return sums
}

// writeSumsOf writes the checksums of all blocks of a file.
func writeSumsOf(w io.Writer, file io.Reader) error {
	block := make([]byte, sumBlock)
	for {
		n, err := io.ReadFull(file, block)
		if n > 0 {
			if err := binary.Write(w, binary.LittleEndian, xxh3.Hash(block[:n])); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// hasCompared reports whether all blocks in a byte range were verified.
func (s *blockSums) hasCompared(from, to int64) bool {
	for k := from / sumBlock; k*sumBlock < to; k++ {
		if s.seen[k/32].Load()&(1<<(k%32)) == 0 {
			return false
		}
	}
	return true
}

// widenToBlocks extends a byte range to whole blocks.
func (s *blockSums) widenToBlocks(from, to int64) (int64, int64) {
	return from / sumBlock * sumBlock, min((to+sumBlock-1)/sumBlock*sumBlock, s.size)
}

// compareAll verifies whole blocks, starting at byte from, using all cores if there are many blocks. If a block
// differs, it returns the block's range of bytes, last included.
func (s *blockSums) compareAll(data []byte, from int64) (first, last int64, ok bool) {
	const most = 16 * sumBlock // bytes verified by one core at a time
	if len(data) <= most {
		return s.compareBlocks(data, from)
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	var lock sync.Mutex
	ok = true
	for len(data) > 0 {
		part, at := data[:min(most, len(data))], from
		group.Go(func() error {
			if a, b, same := s.compareBlocks(part, at); !same {
				lock.Lock()
				defer lock.Unlock()
				if ok || a < first {
					first, last, ok = a, b, false
				}
			}
			return nil
		})
		data, from = data[len(part):], from+int64(len(part))
	}
	_ = group.Wait() // the parts return no errors
	return first, last, ok
}

func (s *blockSums) compareBlocks(data []byte, from int64) (first, last int64, ok bool) {
	for k := from / sumBlock; len(data) > 0; k++ {
		block := data[:min(sumBlock, len(data))]
		if s.seen[k/32].Load()&(1<<(k%32)) == 0 {
			if xxh3.Hash(block) != s.sums[k] {
				return k * sumBlock, min((k+1)*sumBlock, s.size) - 1, false
			}
			s.seen[k/32].Or(1 << (k % 32))
		}
		data = data[len(block):]
	}
	return 0, 0, true
}
