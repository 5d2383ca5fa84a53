package jfif

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Header is the information about an image from the markers of its file.
type Header struct {
	Samples     int64 // in all planes, including the samples that complete the last units
	Progressive bool
	Usual       bool // Decode can decode this kind of image, unless it is damaged
}

// maxScans is the largest number of scans accepted in a progressive image. Encoders usually write 10, at most 30.
const maxScans = 100

// errCut is the error for a file that is too short for its image.
var errCut = errors.New("jpeg: the file is cut short")

// Inspect reads the markers of a file and decodes no image data. It rejects a progressive image whose scans visit the
// blocks more often than the precision of coefficients allows: otherwise a few bytes per scan could cost seconds of
// work. Inspect skips the same segments as the standard library, so the library finds no other scans. Other damage is
// reported by the decoders.
func Inspect(data []byte) (Header, error) {
	in := inspection{size: len(data)}
	for at := 2; ; {
		marker, next := nextMarker(data, at)
		if marker == 0 || marker == eoi || next+2 > len(data) {
			return in.header, nil
		}
		n := int(binary.BigEndian.Uint16(data[next:]))
		if n < 2 || next+n > len(data) {
			return in.header, nil
		}
		if err := in.inspectSegment(marker, data[next+2:next+n]); err != nil || in.done {
			return in.header, err
		}
		at = next + n
	}
}

// nextMarker finds the next eoi or marker with a segment. It returns the marker and the index after it; marker 0 means
// that none is left.
func nextMarker(data []byte, at int) (marker byte, end int) {
	for at < len(data) {
		i := bytes.IndexByte(data[at:], 0xff)
		if i < 0 {
			break
		}
		for at += i; at < len(data) && data[at] == 0xff; at++ {
		}
		if at < len(data) && data[at] != 0 && data[at]&^7 != rst0 {
			return data[at], at + 1
		}
	}
	return 0, at
}

// inspection is the state of Inspect.
type inspection struct {
	header     Header
	size       int
	otherInk   bool   // the colours are not YCbCr
	ids        []byte // identifiers of the components; nil: no frame yet
	scans      int
	refinement []refinement // progress of each component
	done       bool
}

func (in *inspection) inspectSegment(marker byte, s []byte) error {
	switch {
	case marker == app14 && len(s) >= 12 && string(s[:5]) == "Adobe" && s[11] != 1:
		in.otherInk, in.header.Usual = true, false
	case marker == sof0 || marker == sof1 || marker == sof2:
		return in.inspectFrame(s, marker == sof2)
	case marker == sos && in.ids != nil:
		return in.inspectScan(s)
	}
	return nil
}

// inspectFrame counts the samples of a frame and determines whether Decode can decode it.
func (in *inspection) inspectFrame(s []byte, progressive bool) error {
	if in.ids != nil || len(s) < 6 || s[5] > 4 || len(s) != 6+3*int(s[5]) {
		in.done = true
		return nil
	}
	h, w := int(binary.BigEndian.Uint16(s[1:])), int(binary.BigEndian.Uint16(s[3:]))
	hmax, vmax := 1, 1
	for c := s[6:]; len(c) > 0; c = c[3:] {
		if c[1]>>4 > 4 || c[1]&15 > 4 {
			in.done = true
			return nil
		}
		hmax, vmax = max(hmax, int(c[1]>>4)), max(vmax, int(c[1]&15))
	}
	units := int64(divideUp(w, 8*hmax)) * int64(divideUp(h, 8*vmax))
	if units > 8*int64(in.size) { // each unit takes at least one bit
		return errCut
	}
	for c := s[6:]; len(c) > 0; c = c[3:] {
		blocks := int64(c[1]>>4) * int64(c[1]&15)
		if len(s) == 9 {
			blocks = int64(hmax * vmax)
		}
		in.header.Samples += 64 * units * blocks
		in.ids = append(in.ids, c[0])
	}
	in.header.Usual = !in.otherInk && isUsualFrame(s, in.ids)
	in.header.Progressive, in.done = progressive, !progressive
	in.refinement = make([]refinement, len(in.ids))
	return nil
}

// isUsualFrame reports whether decoder.readFrame accepts a frame.
func isUsualFrame(s, ids []byte) bool {
	switch {
	case s[0] != 8:
		return false
	case len(ids) == 1:
		return true
	case len(ids) != 3 || s[10] != 0x11 || s[13] != 0x11 || string(ids) == "RGB":
		return false
	}
	return bytes.IndexByte([]byte{0x11, 0x21, 0x22, 0x12, 0x41}, s[7]) >= 0
}

// inspectScan counts a scan and notes which bits of which coefficients it contains.
func (in *inspection) inspectScan(s []byte) error {
	if in.scans++; in.scans > maxScans {
		return fmt.Errorf("jpeg: more than %d scans", maxScans)
	}
	if len(s) < 4 || len(s) != 4+2*int(s[0]) {
		in.done = true
		return nil
	}
	p := passOf(s)
	for i := range int(s[0]) {
		at := bytes.IndexByte(in.ids, s[1+2*i])
		if at < 0 {
			in.done = true
			return nil
		}
		if !in.refinement[at].takeScanBits(p) {
			return fmt.Errorf("jpeg: scan %d contains bits of coefficients twice or out of order", in.scans)
		}
	}
	return nil
}

// passOf parses the end of a scan's header.
func passOf(s []byte) pass {
	s = s[len(s)-3:]
	return pass{int(s[0]), int(s[1]), s[2]>>4 > 0, int(s[2] & 15)}
}

// refinement holds for each coefficient 1 plus the number of low bits that are still missing; 0: all are missing.
type refinement [64]uint8

// takeScanBits reports whether a scan brings the next bits: first the high bits, then one bit at a time. So each
// coefficient is visited at most 14 times.
func (r *refinement) takeScanBits(p pass) bool {
	if p.last > 63 || p.low > 13 {
		return false
	}
	for k := p.from; k <= p.last; k++ {
		if p.refine && int(r[k]) != p.low+2 || !p.refine && r[k] != 0 {
			return false
		}
		r[k] = uint8(p.low) + 1
	}
	return true
}
