package glyphs

import (
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
)

// Every image is a grey PNG whose zlib stream is one uncompressed block. The bytes thus do not depend on a compressor,
// and the size is known before drawing; 1.1 kB need no compression.
const (
	rawBytes  = Size * (Size + 1)            // a filter byte before each row
	zlibBytes = 2 + 5 + rawBytes + 4         // header, block header, Adler-32
	pngBytes  = 8 + 25 + 12 + zlibBytes + 12 // signature, IHDR, IDAT, IEND
)

// encodePNG encodes Size×Size grey bytes.
func encodePNG(pixels []byte) []byte {
	out := make([]byte, 0, pngBytes)
	out = append(out, "\x89PNG\r\n\x1a\n"...)

	header := binary.BigEndian.AppendUint32(nil, Size)
	header = binary.BigEndian.AppendUint32(header, Size)
	header = append(header, 8, 0, 0, 0, 0) // bits, grey, deflate, adaptive filters, not interlaced
	out = appendChunk(out, "IHDR", header)

	data := make([]byte, 0, zlibBytes)
	data = append(data, 0x78, 0x01, 0x01) // zlib, no dictionary; final stored block
	data = binary.LittleEndian.AppendUint16(data, rawBytes)
	data = binary.LittleEndian.AppendUint16(data, 0xffff^uint16(rawBytes))
	start := len(data)
	for y := range Size {
		data = append(data, 0) // filter: none
		data = append(data, pixels[y*Size:(y+1)*Size]...)
	}
	data = binary.BigEndian.AppendUint32(data, adler32.Checksum(data[start:]))
	out = appendChunk(out, "IDAT", data)
	return appendChunk(out, "IEND", nil)
}

func appendChunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	start := len(out)
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
}
