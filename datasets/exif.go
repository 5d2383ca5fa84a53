package datasets

import (
	"bytes"
	"encoding/binary"

	"github.com/bep/imagemeta"
)

// Orientation returns the EXIF orientation (1 to 8) of an image file; format is the name used by package image. It
// returns 1 (upright) if the orientation is missing or unreadable: a broken EXIF block does not make an image
// unreadable. Orientations 5 to 8 exchange rows and columns.
func Orientation(format string, data []byte) int {
	kinds := map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG, "webp": imagemeta.TIFF}
	kind, ok := kinds[format]
	if !ok {
		return 1
	}
	if format == "webp" { // the EXIF block is a TIFF; the library misses it after a chunk of odd length
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

// findWebPChunk returns the content of the first chunk of a kind, or nil. Chunks are padded to an even length.
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
