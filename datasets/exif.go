package datasets

import (
	"bytes"
	"encoding/binary"

	"github.com/bep/imagemeta"
)

// Orientation returns the EXIF orientation 1 … 8 of a file in a format of package image, or 1 (upright) if there is
// none or it cannot be read: a broken EXIF block does not make a picture unreadable. Orientations 5 to 8 exchange
// rows and columns.
func Orientation(format string, data []byte) int {
	kinds := map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG, "webp": imagemeta.TIFF}
	kind, ok := kinds[format]
	if !ok {
		return 1
	}
	if format == "webp" { // an EXIF block is a small TIFF; the library does not find it after a chunk of odd length
		if data = findWebPChunk(data, "EXIF"); data == nil {
			return 1
		}
	}
	found := 1
	_, err := imagemeta.Decode(imagemeta.Options{
		R:           bytes.NewReader(data),
		ImageFormat: kind,
		Sources:     imagemeta.EXIF,
		ShouldHandleTag: func(tag imagemeta.TagInfo) bool {
			return tag.Tag == "Orientation" && tag.Namespace == "IFD0"
		},
		HandleTag: func(tag imagemeta.TagInfo) error {
			if v, ok := tag.Value.(uint16); ok && v >= 1 && v <= 8 {
				found = int(v)
			}
			return imagemeta.ErrStopWalking
		},
	})
	if err != nil {
		return 1
	}
	return found
}

// findWebPChunk returns the content of the first chunk of a kind, or nil. Chunks of odd length are padded to even.
func findWebPChunk(data []byte, kind string) []byte {
	const header = 12 // RIFF, size, WEBP
	for rest := data[min(len(data), header):]; len(rest) >= 8; {
		size := int64(binary.LittleEndian.Uint32(rest[4:8]))
		if size > int64(len(rest)-8) {
			return nil
		}
		if string(rest[:4]) == kind {
			return bytes.TrimPrefix(rest[8:8+size], []byte("Exif\x00\x00"))
		}
		rest = rest[min(int64(len(rest)), 8+size+size&1):]
	}
	return nil
}
