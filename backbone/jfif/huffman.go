package jfif

import (
	"bytes"
	"encoding/binary"
)

// lookBits is how many bits one table lookup decodes. Codes in photographs are seldom longer, even together with the
// bits of the coefficient that follows.
const lookBits = 10

// blockEnd marks, in the table short, the code after which the block has no more coefficients.
const blockEnd = 0x80

// huffman is a Huffman table (C.2).
type huffman struct {
	known   bool
	look    [1 << lookBits]uint16 // length<<8 | value of the code that starts with these bits; 0: a longer code
	short   [1 << lookBits]uint32 // coefficient<<16 | zeros before it<<8 | length; 0: longer than lookBits
	beyond  [18]int32             // for codes of n bits: the first longer code, aligned to 16 bits
	offset  [17]int32             // from a code of n bits to the index of its value
	values  []byte
	maximum byte // the largest value
}

// huffmanTables reads a segment that defines Huffman tables (B.2.4.2).
func (d *decoder) huffmanTables(s []byte) bool {
	for len(s) > 0 {
		if len(s) < 17 || s[0]>>4 > 1 || s[0]&15 > 3 {
			return false
		}
		n := 0
		for _, v := range s[1:17] {
			n += int(v)
		}
		if n == 0 || n > 256 || len(s) < 17+n {
			return false
		}
		t := &d.huffmans[s[0]>>4][s[0]&15]
		if !t.buildHuffman(s[1:17], s[17:17+n]) {
			return false
		}
		if s[0]>>4 == 0 && t.maximum > 11 { // a difference of 8-bit samples has at most 11 bits
			return false
		}
		s = s[17+n:]
	}
	return true
}

// buildHuffman builds the table from the number of codes of each length and their values in order.
func (t *huffman) buildHuffman(counts, values []byte) bool {
	*t = huffman{known: true, values: values}
	for _, v := range values {
		t.maximum = max(t.maximum, v)
	}
	code, at := int32(0), int32(0)
	for n := 1; n <= 16; n++ {
		t.offset[n] = at - code
		for range counts[n-1] {
			if code >= 1<<n {
				return false
			}
			if n <= lookBits {
				first := code << (lookBits - n)
				for i := range int32(1) << (lookBits - n) {
					t.look[first+i] = uint16(n)<<8 | uint16(values[at])
				}
			}
			code++
			at++
		}
		t.beyond[n] = code << (16 - n)
		code <<= 1
	}
	t.beyond[17] = 1 << 30
	t.fillShortcuts()
	return true
}

// fillShortcuts fills the table short of coefficients that one lookup decodes together with their codes. The code for
// sixteen zeros becomes a coefficient 0 after fifteen zeros. Tables for DC differences ignore blockEnd.
func (t *huffman) fillShortcuts() {
	for i, e := range t.look {
		n, run, size := int(e>>8), uint32(e>>4&15), int(e&15)
		if n == 0 || n+size > lookBits {
			continue
		}
		v := int32(i>>(lookBits-n-size)) & (1<<size - 1)
		switch {
		case size > 0 && v < 1<<(size-1):
			v += -1<<size + 1
		case size == 0 && run < 15:
			run = blockEnd
		}
		t.short[i] = uint32(v)<<16 | run<<8 | uint32(n+size)
	}
}

// reservoir holds coded data that has been read ahead. The upper count bits of bits are unread; the lower bits are 0
// or a copy of the next bits in the window.
type reservoir struct {
	bits    uint64
	count   uint
	window  [4096 + 8]byte // coded data without the zero bytes that follow ff bytes; window[at:end] is unread
	at, end int
	pos     int // position in the file after the window
	padded  int // zero bits appended after the end of the coded data
}

// refillBits makes sure that at least 56 bits are in bits.
func (r *reservoir) refillBits(data []byte) {
	if r.at+8 > r.end {
		r.slideWindow(data)
	}
	r.bits |= binary.BigEndian.Uint64(r.window[r.at:]) >> (r.count & 63)
	r.at += int(63-r.count) >> 3
	r.count |= 56
}

// slideWindow moves the unread bytes to the window's start and fills the rest. After the end of the coded data it
// appends zeros and counts them.
func (r *reservoir) slideWindow(data []byte) {
	r.end = copy(r.window[:], r.window[r.at:r.end])
	r.at = 0
	for r.end < len(r.window) {
		n := copy(r.window[r.end:], data[r.pos:])
		if i := bytes.IndexByte(r.window[r.end:r.end+n], 0xff); i >= 0 {
			n = i
		}
		r.end += n
		r.pos += n
		switch {
		case r.end == len(r.window):
		case r.pos+1 < len(data) && data[r.pos+1] == 0: // an ff byte in the data is followed by a zero
			r.window[r.end] = 0xff
			r.end++
			r.pos += 2
		default: // a marker, or the file's end
			if r.end < 8 {
				clear(r.window[r.end:8])
				r.padded += 8 * (8 - r.end)
				r.end = 8
			}
			return
		}
	}
}

// decodeSymbol decodes one value. At least 16 bits must be in bits.
func (r *reservoir) decodeSymbol(t *huffman) byte {
	if e := t.look[r.bits>>(64-lookBits)]; e != 0 {
		r.dropBits(uint(e >> 8))
		return byte(e)
	}
	code := int32(r.bits >> 48)
	n := lookBits + 1
	for code >= t.beyond[n] {
		n++
	}
	r.dropBits(uint(n)) // n = 17 is an invalid code: indexing offset panics, and decodeScaled turns that into an error
	return t.values[t.offset[n]+code>>(16-n)]
}

// dropBits skips n bits.
func (r *reservoir) dropBits(n uint) {
	r.bits <<= n & 63
	r.count -= n
}

// takeBits reads n bits as an unsigned number.
func (r *reservoir) takeBits(n int) int32 {
	v := int32(r.bits >> 1 >> (63 - uint(n)&63))
	r.dropBits(uint(n))
	return v
}

// readSigned reads a signed number of n bits (F.2.2.1, figure F.12).
func (r *reservoir) readSigned(n int) int32 {
	v := r.takeBits(n)
	if n > 0 && v < 1<<(n-1) {
		v += -1<<n + 1
	}
	return v
}

// countUnread returns how many bits of the coded data are unread. A negative result means that more bits were decoded
// than the data contains.
func (r *reservoir) countUnread() int { return int(r.count) + 8*(r.end-r.at) - r.padded }

// byteEnd drops the bits before the next marker. It returns false if at least one whole byte of data would be dropped.
func (r *reservoir) byteEnd() bool {
	left := r.countUnread()
	r.bits, r.count, r.at, r.end, r.padded = 0, 0, 0, 0, 0
	return left >= 0 && left < 8
}
