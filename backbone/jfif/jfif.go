// Package jfif decodes JPEG photographs to the very samples that libjpeg's default decoder gives: luma and chroma agree
// to the bit, because the inverse cosine transform is its integer one (see idct). The standard library's transform
// rounds otherwise: a thirtieth of a grey value on average, three at most, which is enough to turn a network's vector
// by a cosine of 0.9999.
//
// It takes what photographs are: baseline, extended and progressive Huffman coding, 8 bits, grey or YCbCr with chroma at full,
// half or quarter resolution, whole or reduced by 2, 4 or 8 ([DecodeScaled]). Anything else, and anything damaged, is an
// error; the caller then asks another decoder, which also says what is wrong. Chroma is left at its own resolution. The
// package imports nothing of ours.
//
// Source: ITU-T recommendation T.81 (1992); the tables and figures named in the code are its.
package jfif

import (
	"encoding/binary"
	"errors"
	"image"
)

// ErrNotTaken is a picture that this package does not decode, damaged or not.
var ErrNotTaken = errors.New("jfif: not a whole photograph of the usual kind")

// component is one of the planes: luma or chroma.
type component struct {
	id, h, v, quant byte
	side            int // samples across and down that a block is decoded to: 8, or less in a reduced picture
	wide, high      int // blocks that the picture needs
	stride, rows    int // blocks with those that complete its last units
	plane           []byte
	coefs           [][64]int16 // of all blocks, natural order; progressive pictures only
	dc              int32       // the last block's, to which the next is a difference
	dcTable         *huffman
	acTable         *huffman
	scanned         bool
	refinement      refinement
}

// decoder is the state of one picture.
type decoder struct {
	data []byte
	reservoir

	w, h         int
	side         int // samples across a block of luma; 8: the whole picture
	progressive  bool
	hmax, vmax   int
	comps        []component
	quant        [4][64]int32 // natural order
	quantKnown   [4]bool
	huffmans     [2][4]huffman // DC, AC
	restart      int           // units between restart markers, 0: none
	notYCbCr     bool
	blocksToSkip int // of a progressive scan: they hold nothing more (EOBRUN)
}

// Markers (table B.1).
const (
	sof0, sof1, sof2 = 0xc0, 0xc1, 0xc2
	dht, soi, eoi    = 0xc4, 0xd8, 0xd9
	sos, dqt, dri    = 0xda, 0xdb, 0xdd
	rst0             = 0xd0
	app14            = 0xee
)

// Decode decodes a whole file to an [image.YCbCr] or an [image.Gray], whose planes may be larger than the picture.
func Decode(data []byte) (image.Image, error) { return decode(data, 8) }

// decode makes side×side samples of each block of luma.
func decode(data []byte, side int) (img image.Image, err error) {
	defer func() {
		if recover() != nil { // an index that damaged data leads out of its table
			img, err = nil, ErrNotTaken
		}
	}()
	d := &decoder{data: data, side: side}
	if len(data) < 4 || data[0] != 0xff || data[1] != soi {
		return nil, ErrNotTaken
	}
	d.pos = 2
	for {
		marker, segment, ok := d.next()
		if !ok {
			return nil, ErrNotTaken
		}
		if marker == eoi {
			return d.picture()
		}
		if !d.segment(marker, segment) {
			return nil, ErrNotTaken
		}
	}
}

// next finds the next marker and its segment (B.1.1.4).
func (d *decoder) next() (marker byte, segment []byte, ok bool) {
	if d.pos+2 > len(d.data) || d.data[d.pos] != 0xff {
		return 0, nil, false
	}
	for d.data[d.pos] == 0xff { // fill bytes may come before a marker
		d.pos++
	}
	marker = d.data[d.pos]
	d.pos++
	if marker == eoi {
		return marker, nil, true
	}
	n := int(binary.BigEndian.Uint16(d.data[d.pos:]))
	segment = d.data[d.pos+2 : d.pos+n]
	d.pos += n
	return marker, segment, true
}

// segment takes one in.
func (d *decoder) segment(marker byte, s []byte) bool {
	switch {
	case marker == sof0 || marker == sof1 || marker == sof2:
		return d.frame(s, marker == sof2)
	case marker == dht:
		return d.huffmanTables(s)
	case marker == dqt:
		return d.quantTables(s)
	case marker == dri:
		d.restart = int(binary.BigEndian.Uint16(s))
	case marker == sos:
		return d.scan(s)
	case marker == app14 && len(s) >= 12 && string(s[:5]) == "Adobe":
		d.notYCbCr = s[11] != 1
	case marker >= 0xe0 && marker <= 0xef, marker == 0xfe: // application's data, comments
	default:
		return false
	}
	return true
}

// quantTables reads what coefficients are multiplied by (B.2.4.1).
func (d *decoder) quantTables(s []byte) bool {
	for len(s) > 0 {
		at, size := s[0]&15, 1+int(s[0]>>4)
		if at > 3 || size > 2 || len(s) < 1+64*size {
			return false
		}
		for k := range 64 {
			v := int32(s[1+k*size])
			if size == 2 {
				v = v<<8 | int32(s[2+k*size])
			}
			d.quant[at][natural[k]] = v
		}
		d.quantKnown[at] = true
		s = s[1+64*size:]
	}
	return true
}

// frame reads the sizes of the picture and its planes (B.2.2).
func (d *decoder) frame(s []byte, progressive bool) bool {
	n := int(s[5])
	if d.comps != nil || s[0] != 8 || (n != 1 && n != 3) || len(s) != 6+3*n {
		return false
	}
	d.progressive = progressive
	d.h, d.w = int(binary.BigEndian.Uint16(s[1:])), int(binary.BigEndian.Uint16(s[3:]))
	if d.w == 0 || d.h == 0 || over(d.w, 8)*over(d.h, 8) > 8*len(d.data) { // each block takes a bit at least
		return false
	}
	d.comps = make([]component, n)
	for i := range d.comps {
		c := &d.comps[i]
		c.id, c.h, c.v, c.quant = s[6+3*i], s[7+3*i]>>4, s[7+3*i]&15, s[8+3*i]
		if n == 1 {
			c.h, c.v = 1, 1 // a picture of one plane has its blocks in rows, whatever it says
		}
		if i > 0 && (c.h != 1 || c.v != 1) || c.quant > 3 {
			return false
		}
	}
	if _, ok := d.ratio(); !ok {
		return false
	}
	d.hmax, d.vmax = int(d.comps[0].h), int(d.comps[0].v)
	if n == 3 && d.comps[0].id == 'R' && d.comps[1].id == 'G' && d.comps[2].id == 'B' {
		d.notYCbCr = true
	}
	d.allocate()
	return true
}

// allocate makes the planes, as large as their last units need.
func (d *decoder) allocate() {
	across, down := over(d.w, 8*d.hmax), over(d.h, 8*d.vmax)
	for i := range d.comps {
		c := &d.comps[i]
		c.wide, c.high = over(over(d.w*int(c.h), d.hmax), 8), over(over(d.h*int(c.v), d.vmax), 8)
		c.stride, c.rows = across*int(c.h), down*int(c.v)
		c.side = d.sideOf(c)
		c.plane = make([]byte, c.side*c.side*c.stride*c.rows)
		if d.progressive {
			c.coefs = make([][64]int16, c.stride*c.rows)
		}
	}
}

// over returns a/b rounded up.
func over(a, b int) int { return (a + b - 1) / b }

// ratio returns the resolution of the chroma in the file, as package image names it.
func (d *decoder) ratio() (image.YCbCrSubsampleRatio, bool) {
	switch [2]byte{d.comps[0].h, d.comps[0].v} {
	case [2]byte{1, 1}:
		return image.YCbCrSubsampleRatio444, true
	case [2]byte{2, 1}:
		return image.YCbCrSubsampleRatio422, true
	case [2]byte{2, 2}:
		return image.YCbCrSubsampleRatio420, true
	case [2]byte{1, 2}:
		return image.YCbCrSubsampleRatio440, true
	case [2]byte{4, 1}:
		return image.YCbCrSubsampleRatio411, true
	}
	return 0, false
}

// picture returns what has been decoded, once all planes have.
func (d *decoder) picture() (image.Image, error) {
	for i := range d.comps {
		if !d.comps[i].scanned || !d.quantKnown[d.comps[i].quant] {
			return nil, ErrNotTaken
		}
	}
	if d.progressive {
		d.transformAll()
	}
	bounds := image.Rect(0, 0, over(d.w*d.side, 8), over(d.h*d.side, 8))
	switch {
	case len(d.comps) == 1:
		c := &d.comps[0]
		return &image.Gray{Pix: c.plane, Stride: c.side * c.stride, Rect: bounds}, nil
	case len(d.comps) != 3 || d.notYCbCr:
		return nil, ErrNotTaken
	}
	y, cb, cr := &d.comps[0], &d.comps[1], &d.comps[2]
	ratio, _ := d.ratio()
	if cb.side > y.side {
		ratio = image.YCbCrSubsampleRatio444
	}
	picture := &image.YCbCr{Y: y.plane, Cb: cb.plane, Cr: cr.plane, YStride: y.side * y.stride, CStride: cb.side * cb.stride,
		SubsampleRatio: ratio, Rect: bounds}
	if d.side == 1 {
		d.repeatChroma(picture)
	}
	return picture, nil
}

// transformAll makes samples of the coefficients of a progressive picture.
func (d *decoder) transformAll() {
	for i := range d.comps {
		c := &d.comps[i]
		for y := range c.high {
			for x := range c.wide {
				d.transform(c, x, y, &c.coefs[y*c.stride+x])
			}
		}
	}
}
