package backbone

import (
	"bytes"
	"encoding/binary"
	"image"

	"github.com/bep/imagemeta"
	"github.com/disintegration/imaging"
)

// orientation returns the EXIF orientation 1 … 8 of the file, or 1 (upright) if there is none or it cannot be
// read: a broken EXIF block does not make a picture unreadable.
func orientation(format string, data []byte) int {
	kinds := map[string]imagemeta.ImageFormat{"jpeg": imagemeta.JPEG, "png": imagemeta.PNG, "webp": imagemeta.TIFF}
	kind, ok := kinds[format]
	if !ok {
		return 1
	}
	if format == "webp" { // an EXIF block is a small TIFF; the library does not find it after a chunk of odd length
		if data = webpChunk(data, "EXIF"); data == nil {
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

// webpChunk returns the content of the first chunk of a kind, or nil. Chunks of odd length are padded to even.
func webpChunk(data []byte, kind string) []byte {
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

// orient turns a picture upright. Orientations 5 to 8 exchange rows and columns.
func orient(img image.Image, orientation int) image.Image {
	if orientation < 2 || orientation > 8 {
		return img
	}
	turn := map[int]func(image.Image) *image.NRGBA{
		2: imaging.FlipH,
		3: imaging.Rotate180,
		4: imaging.FlipV,
		5: imaging.Transpose,
		6: imaging.Rotate270, // counter-clockwise: the camera was turned to the left
		7: imaging.Transverse,
		8: imaging.Rotate90,
	}
	return turn[orientation](coloursOf(img))
}

// coloursOf returns a picture in the colours that the network would see, so that turning does not change them.
// It is whole in memory because imaging reads it from several goroutines.
func coloursOf(img image.Image) *image.NRGBA {
	s := sourceOf(img)
	w, h := s.size()
	return coloursIn(s, image.Rect(0, 0, w, h))
}

// coloursIn returns a part of a picture in the colours that the network would see.
func coloursIn(s source, part image.Rectangle) *image.NRGBA {
	w, h := part.Dx(), part.Dy()
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	line := make([]byte, 3*w)
	for y := range h {
		s.row(line, part.Min.Y+y, part.Min.X, part.Max.X)
		row := out.Pix[y*out.Stride:][:4*w]
		for x := range w {
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = line[3*x], line[3*x+1], line[3*x+2], 255
		}
	}
	return out
}
