package jfif

import "encoding/binary"

// lookBits are decoded by one look into a table; codes of photographs are seldom longer.
const lookBits = 9

// huffman is a table of codes (C.2).
type huffman struct {
	known   bool
	look    [1 << lookBits]uint16 // length<<8 | value of the code that begins with these bits; 0: it is longer
	short   [1 << lookBits]uint32 // coefficient<<16 | zeros before it<<8 | length, where code and coefficient fit; 0: they do not
	beyond  [18]int32             // for codes of n bits: the first code that is longer, aligned to 16 bits
	offset  [17]int32             // of a code of n bits to its value's place
	values  []byte
	maximum byte // of the values
}

// huffmanTables reads some (B.2.4.2).
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
		if !t.build(s[1:17], s[17:17+n]) {
			return false
		}
		if s[0]>>4 == 0 && t.maximum > 11 { // a difference of 8-bit samples has no more bits
			return false
		}
		s = s[17+n:]
	}
	return true
}

// build makes the table of the number of codes of each length and their values in order.
func (t *huffman) build(counts, values []byte) bool {
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
	t.shorten()
	return true
}

// shorten fills the table of coefficients that are known together with their codes by one look.
func (t *huffman) shorten() {
	for i, e := range t.look {
		n, run, size := int(e>>8), uint32(e>>4&15), int(e&15)
		if size == 0 || n+size > lookBits {
			continue
		}
		v := int32(i>>(lookBits-n-size)) & (1<<size - 1)
		if v < 1<<(size-1) {
			v += -1<<size + 1
		}
		t.short[i] = uint32(v)<<16 | run<<8 | uint32(n+size)
	}
}

// fill makes at least 32 bits ready. After the end of the coded data come zeros, which are counted.
func (d *decoder) fill() {
	for d.count <= 32 {
		if d.pos+4 <= len(d.data) {
			v := binary.BigEndian.Uint32(d.data[d.pos:])
			if inverse := ^v; (inverse-0x01010101)&^inverse&0x80808080 == 0 { // no byte is ff
				d.bits = d.bits<<32 | uint64(v)
				d.count += 32
				d.pos += 4
				continue
			}
		}
		var b byte
		switch {
		case d.pos+1 >= len(d.data):
			d.padded += 8
		case d.data[d.pos] != 0xff:
			b = d.data[d.pos]
			d.pos++
		case d.data[d.pos+1] == 0: // an ff of the data has a zero after it
			b = 0xff
			d.pos += 2
		default: // a marker
			d.padded += 8
		}
		d.bits = d.bits<<8 | uint64(b)
		d.count += 8
	}
}

// value decodes one; at least 16 bits must be ready.
func (d *decoder) value(t *huffman) byte {
	if e := t.look[d.bits>>(d.count-lookBits)&(1<<lookBits-1)]; e != 0 {
		d.count -= int(e >> 8)
		return byte(e)
	}
	code := int32(d.bits >> (d.count - 16) & 0xffff)
	n := lookBits + 1
	for code >= t.beyond[n] {
		n++
	}
	d.count -= n // 17 bits, of no code: the offset's index panics, which Decode turns into an error
	return t.values[t.offset[n]+code>>(16-n)]
}

// take reads bits that are ready.
func (d *decoder) take(n int) int32 {
	d.count -= n
	return int32(d.bits >> d.count & (1<<n - 1))
}

// number reads one of n bits (F.2.2.1, figure F.12).
func (d *decoder) number(n int) int32 {
	v := d.take(n)
	if n > 0 && v < 1<<(n-1) {
		v += -1<<n + 1
	}
	return v
}

// overrun reports that more was decoded than was there.
func (d *decoder) overrun() bool { return d.padded > d.count }

// byteEnd drops the bits up to the next marker; false where whole bytes of data would be dropped.
func (d *decoder) byteEnd() bool {
	left := d.count - d.padded
	d.bits, d.count, d.padded = 0, 0, 0
	return left >= 0 && left < 8
}
