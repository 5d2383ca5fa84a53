package jfif

import (
	"encoding/binary"
	"slices"
)

// natural maps the index of a coefficient in the file to its index in the block, row by row (figure A.6). Damaged data
// can exceed the block by up to 15 indices, and the end of a block adds 128; these indices map to [outside].
var natural = func() (t [256]byte) {
	copy(t[:], []byte{
		0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
		12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
		35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
		58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
	})
	for k := 64; k < len(t); k++ {
		t[k] = outside
	}
	return t
}()

// outside is an index of a buffer after its block; writes there are ignored.
const outside = 64

// buffer is a block followed by padding, so that every byte is a valid index.
type buffer [256]int16

// pass describes what one scan adds: coefficients from … last, shifted left by low bits; if refine is set, one more
// bit of each (G.1.1.1).
type pass struct {
	from, last int
	refine     bool
	low        int
}

// readScan reads a scan's header (B.2.3) and its data.
func (d *decoder) readScan(s []byte) bool {
	n := int(s[0])
	if d.comps == nil || n < 1 || n > len(d.comps) || len(s) != 4+2*n {
		return false
	}
	p := passOf(s)
	if d.progressive {
		if p.last > 63 || p.from > p.last || p.low > 13 || p.from == 0 && p.last != 0 || p.from > 0 && n > 1 ||
			p.refine && int(s[3+2*n]>>4) != p.low+1 {
			return false
		}
	} else if p != (pass{last: 63}) {
		return false
	}
	var list []*component
	for i := range n {
		at := slices.IndexFunc(d.comps, func(c component) bool { return c.id == s[1+2*i] })
		if at < 0 || slices.Contains(list, &d.comps[at]) || s[2+2*i]>>4 > 3 || s[2+2*i]&15 > 3 {
			return false
		}
		c := &d.comps[at]
		c.dcTable, c.acTable = &d.huffmans[0][s[2+2*i]>>4], &d.huffmans[1][s[2+2*i]&15]
		if d.progressive && !c.refinement.takeScanBits(p) {
			return false
		}
		if p.from == 0 && !p.refine && !c.dcTable.known || p.last > 0 && !c.acTable.known ||
			!d.progressive && (c.scanned || !d.quantKnown[c.quant]) || d.progressive && p.from > 0 && !c.scanned {
			return false
		}
		list = append(list, c)
	}
	for _, c := range list {
		c.scanned = true
	}
	return d.readUnits(list, p)
}

// readUnits reads the data of a scan unit by unit. A unit is one block of a single plane, or the blocks of all planes
// that cover the same pixels (A.2).
func (d *decoder) readUnits(list []*component, p pass) bool {
	across, down := list[0].wide, list[0].high
	if len(list) > 1 {
		across, down = divideUp(d.w, 8*d.hmax), divideUp(d.h, 8*d.vmax)
	}
	d.resetRestarted(list)
	left, next := d.restart, byte(0)
	var block buffer
	for y := range down {
		for x := range across {
			if d.restart > 0 && left == 0 {
				if !d.byteEnd() || d.data[d.pos] != 0xff || d.data[d.pos+1] != rst0+next {
					return false
				}
				d.pos += 2
				d.resetRestarted(list)
				left, next = d.restart, (next+1)%8
			}
			left--
			if len(list) == 1 {
				if !d.readBlock(list[0], x, y, p, &block) {
					return false
				}
				continue
			}
			for _, c := range list {
				for i := range int(c.h) * int(c.v) {
					if !d.readBlock(c, x*int(c.h)+i%int(c.h), y*int(c.v)+i/int(c.h), p, &block) {
						return false
					}
				}
			}
		}
		if d.countUnread() < 0 {
			return false
		}
	}
	return d.blocksToSkip == 0 && d.byteEnd()
}

// resetRestarted resets the decoder's state after a restart marker.
func (d *decoder) resetRestarted(list []*component) {
	d.blocksToSkip = 0
	for _, c := range list {
		c.dc = 0
	}
}

// readBlock reads the data of one block in a scan.
func (d *decoder) readBlock(c *component, x, y int, p pass, buffer *buffer) bool {
	if !d.progressive {
		b := (*[64]int16)(buffer[:64])
		*b = [64]int16{}
		if !d.readSequential(c, buffer) {
			return false
		}
		d.placeBlock(c, x, y, b)
		return true
	}
	b := &c.coefs[y*c.stride+x]
	switch {
	case p.from == 0 && p.refine:
		d.refillBits(d.data)
		b[0] |= int16(d.takeBits(1) << p.low)
	case p.from == 0:
		d.refillBits(d.data)
		c.dc += d.readSigned(int(d.decodeSymbol(c.dcTable)))
		b[0] = int16(c.dc << p.low)
	case p.refine:
		return d.readRefinement(c, b, p)
	default:
		return d.readFirstBits(c, b, p)
	}
	return true
}

// readSequential reads a whole block (F.2.2) into b, which must be zero. The reservoir is kept in local variables and
// refilled once for three coefficients of at most lookBits each, because decoding spends most of its time here.
func (d *decoder) readSequential(c *component, b *buffer) bool {
	if d.count < 32 {
		d.refillBits(d.data)
	}
	if e := c.dcTable.short[d.bits>>(64-lookBits)]; e != 0 {
		d.dropBits(uint(e & 255))
		c.dc += int32(e) >> 16
	} else {
		c.dc += d.readSigned(int(d.decodeSymbol(c.dcTable)))
	}
	b[0] = int16(c.dc)
	t := c.acTable
	bits, count, k := d.bits, d.count, uint(1)
	var e uint32
	for k < 64 {
		if d.at+8 > d.end {
			d.slideWindow(d.data)
		}
		bits |= binary.BigEndian.Uint64(d.window[d.at:]) >> (count & 63)
		d.at += int(63-count) >> 3
		count |= 56
		if e = t.short[bits>>(64-lookBits)]; e == 0 {
			goto long
		}
		bits <<= e & 63
		count -= uint(e & 255)
		k += uint(e >> 8 & 255)
		b[natural[k&255]] = int16(e >> 16)
		if k++; k >= 64 {
			break
		}
		if e = t.short[bits>>(64-lookBits)]; e == 0 {
			goto long
		}
		bits <<= e & 63
		count -= uint(e & 255)
		k += uint(e >> 8 & 255)
		b[natural[k&255]] = int16(e >> 16)
		if k++; k >= 64 {
			break
		}
		if e = t.short[bits>>(64-lookBits)]; e == 0 {
			goto long
		}
		bits <<= e & 63
		count -= uint(e & 255)
		k += uint(e >> 8 & 255)
		b[natural[k&255]] = int16(e >> 16)
		k++
		continue
	long:
		d.bits, d.count = bits, count
		if v := uint(d.decodeSymbol(t)); v&15 == 0 && v != 0xf0 {
			k += blockEnd
		} else {
			k += v >> 4
			b[natural[k&255]] = int16(d.readSigned(int(v & 15)))
			k++
		}
		bits, count = d.bits, d.count
	}
	d.bits, d.count = bits, count
	return k == 64 || k >= blockEnd
}

// readFirstBits reads the high bits of some coefficients of a block (G.1.2.2).
func (d *decoder) readFirstBits(c *component, b *[64]int16, p pass) bool {
	if d.blocksToSkip > 0 {
		d.blocksToSkip--
		return true
	}
	for k := p.from; k <= p.last; k++ {
		d.refillBits(d.data)
		v := int(d.decodeSymbol(c.acTable))
		run, size := v>>4, v&15
		if size == 0 {
			if run < 15 {
				d.blocksToSkip = 1<<run - 1 + int(d.takeBits(run))
				break
			}
			k += 15
			continue
		}
		k += run
		if k > p.last {
			return false
		}
		b[natural[k]] = int16(d.readSigned(size) << p.low)
	}
	return true
}

// readRefinement reads one more bit of each non-zero coefficient, and the coefficients that become non-zero (G.1.2.3).
func (d *decoder) readRefinement(c *component, b *[64]int16, p pass) bool {
	bit := int16(1) << p.low
	k := p.from
	for d.blocksToSkip == 0 && k <= p.last {
		d.refillBits(d.data)
		v := int(d.decodeSymbol(c.acTable))
		run, size := v>>4, v&15
		fresh := int16(0)
		switch {
		case size > 1:
			return false
		case size == 1:
			if fresh = bit; d.takeBits(1) == 0 {
				fresh = -bit
			}
		case run < 15:
			d.blocksToSkip = 1<<run + int(d.takeBits(run))
			continue
		}
		if k = d.readCorrections(b, k, p.last, run, bit); fresh != 0 {
			if k > p.last {
				return false
			}
			b[natural[k]] = fresh
		}
		k++
	}
	if d.blocksToSkip > 0 {
		d.readCorrections(b, k, p.last, 64, bit)
		d.blocksToSkip--
	}
	return true
}

// readCorrections reads one correction bit for each non-zero coefficient from index k on. It skips as many zero
// coefficients as zeros gives, and stops at the next.
func (d *decoder) readCorrections(b *[64]int16, k, last, zeros int, bit int16) int {
	for ; k <= last; k++ {
		at := &b[natural[k]]
		if *at == 0 {
			if zeros == 0 {
				break
			}
			zeros--
			continue
		}
		if d.count < 1 {
			d.refillBits(d.data)
		}
		if d.takeBits(1) == 0 || *at&bit != 0 {
			continue
		}
		if *at > 0 {
			*at += bit
		} else {
			*at -= bit
		}
	}
	return k
}
