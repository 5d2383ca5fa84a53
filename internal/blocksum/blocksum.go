// Package blocksum finds changed bits in a large file while it is read: it holds a CRC-32C for each block and
// compares a block when it is first read. It imports no other package of winnow.
package blocksum

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync/atomic"
)

// Size is the size of a block in bytes. The last block of a file may be shorter.
const Size = 1 << 14

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Update continues a sum with more bytes; it begins with 0.
func Update(sum uint32, data []byte) uint32 { return crc32.Update(sum, castagnoli, data) }

// Sums are the sums of a file's blocks, and which of them have been compared. It is safe for concurrent use.
type Sums struct {
	sums []uint32
	seen []atomic.Uint32 // a bit a block
	size int64           // of the file
}

// Blocks returns the number of blocks of a file of this size.
func Blocks(size int64) int { return int((size + Size - 1) / Size) }

// New returns the sums of a file of this size. There must be one a block.
func New(sums []uint32, size int64) *Sums {
	return &Sums{sums: sums, seen: make([]atomic.Uint32, (len(sums)+31)/32), size: size}
}

// Decode returns sums as they are on disk: 4 bytes each, little-endian.
func Decode(data []byte) []uint32 {
	sums := make([]uint32, len(data)/4)
	for i := range sums {
		sums[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return sums
}

// Write writes the sums of all blocks of a file.
func Write(w io.Writer, file io.Reader) error {
	block := make([]byte, Size)
	for {
		n, err := io.ReadFull(file, block)
		if n > 0 {
			if err := binary.Write(w, binary.LittleEndian, Update(0, block[:n])); err != nil {
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

// Compared reports whether all blocks of a range of bytes have been compared.
func (s *Sums) Compared(from, to int64) bool {
	for k := from / Size; k*Size < to; k++ {
		if s.seen[k/32].Load()&(1<<(k%32)) == 0 {
			return false
		}
	}
	return true
}

// Trust marks all blocks as compared, after another sum has covered them.
func (s *Sums) Trust() {
	for i := range s.seen {
		s.seen[i].Store(^uint32(0))
	}
}

// Around widens a range of bytes to whole blocks.
func (s *Sums) Around(from, to int64) (int64, int64) {
	return from / Size * Size, min((to+Size-1)/Size*Size, s.size)
}

// Compare compares whole blocks, which begin at byte from, with their sums. If one differs it returns the range of
// its bytes, the last included.
func (s *Sums) Compare(data []byte, from int64) (first, last int64, ok bool) {
	for k := from / Size; len(data) > 0; k++ {
		block := data[:min(Size, len(data))]
		if s.seen[k/32].Load()&(1<<(k%32)) == 0 {
			if Update(0, block) != s.sums[k] {
				return k * Size, min((k+1)*Size, s.size) - 1, false
			}
			s.seen[k/32].Or(1 << (k % 32))
		}
		data = data[len(block):]
	}
	return 0, 0, true
}
