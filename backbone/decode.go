package backbone

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"slices"
	"strings"

	"golang.org/x/image/bmp"

	"winnow/datasets"
	"winnow/internal/regular"
)

// DefaultMaxPixels is the default limit on the number of pixels of an image. PIL uses the same limit.
const DefaultMaxPixels = 178_956_970

// defaultMaxBytes limits the memory for decoding an image: six bytes for each of [DefaultMaxPixels]. A higher pixel
// limit raises it in proportion.
const defaultMaxBytes = 1 << 30

// DecodeOptions are the settings of Decode. The zero value is the default.
type DecodeOptions struct {
	MaxPixels int  // largest width × height of the file's image; 0: DefaultMaxPixels
	EXIF      bool // rotate the image by its EXIF orientation

	// Enough returns the smallest size that suffices for an image of w×h pixels. A JPEG may then be decoded at reduced
	// size, but never smaller. nil: every image is decoded at full size. Enough is called with the size before the
	// EXIF rotation, so it must be symmetric in width and height.
	Enough func(w, h int) (leastW, leastH int)
}

// format is one kind of image file, recognised by its first bytes, never by its name. Decoders are called directly,
// because decoders registered with package image may accept truncated files.
type format struct {
	name   string
	is     func(head []byte) bool
	survey func(data []byte) (survey, error)
	decode func(data []byte, by int) (image.Image, error) // reduces the image by this factor if the decoder can
}

// survey is the information about an image from its file's header, read before memory is allocated. bytes returns the
// peak memory of decoding the image reduced by a factor: first for the usual decoder, second for the decoder that is
// tried if the first one fails.
type survey struct {
	w, h  int
	bytes func(by int) (first, second int64, err error)
}

func listFormats() [5]format {
	prefix := func(magic ...string) func([]byte) bool {
		return func(head []byte) bool {
			return slices.ContainsFunc(magic, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
		}
	}
	isWebP := func(head []byte) bool {
		return len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP"
	}
	return [5]format{
		{"jpeg", prefix("\xff\xd8\xff"), surveyJPEG, decodeJPEG},
		{"png", prefix("\x89PNG\r\n\x1a\n"), surveyPNG, decodeWhole(decodeStream(png.Decode))},
		{"gif", prefix("GIF87a", "GIF89a"), surveyGIF, decodeWhole(firstFrame)},
		{"bmp", prefix("BM"), surveyBMP, decodeWhole(decodeStream(bmp.Decode))},
		{"webp", isWebP, surveyWebP, decodeWhole(decodeWebP)},
	}
}

// decodeWhole adapts a decoder that cannot reduce images.
func decodeWhole(decode func([]byte) (image.Image, error)) func([]byte, int) (image.Image, error) {
	return func(data []byte, _ int) (image.Image, error) { return decode(data) }
}

func decodeStream(decode func(io.Reader) (image.Image, error)) func([]byte) (image.Image, error) {
	return func(data []byte) (image.Image, error) { return decode(bytes.NewReader(data)) }
}

// Decode reads a JPEG, PNG, GIF (first frame), BMP or WebP (first frame) file. It checks the number of pixels and the
// memory for decoding from the header, before it allocates anything. A truncated file is an error, and so is a panic
// in a decoder. The error does not name the path.
func Decode(data []byte, o DecodeOptions) (image.Image, error) {
	p, err := o.planDecoding(data)
	if err != nil {
		return nil, err
	}
	return p.decodePlanned(data)
}

// decoding is a plan to decode one file.
type decoding struct {
	format format
	w, h   int
	by     int   // factor by which the decoder reduces the image
	turn   int   // EXIF orientation; 1: upright
	bytes  int64 // memory for decoding
	second int64 // memory of the second decoder, used if the first one fails
}

// planDecoding reads a file's headers, and returns an error for an image that is too large.
func (o DecodeOptions) planDecoding(data []byte) (decoding, error) {
	for _, f := range listFormats() {
		if f.is(data) {
			return o.planAs(f, data)
		}
	}
	if len(data) == 0 {
		return decoding{}, errors.New("the file is empty")
	}
	if err := regular.Pointer(data); err != nil {
		return decoding{}, fmt.Errorf("not an image: %w", err)
	}
	if name := otherFormat(data); name != "" {
		return decoding{}, fmt.Errorf("a %s image cannot be read: save it as PNG or JPEG", name)
	}
	return decoding{}, fmt.Errorf("not an image: starts with %.16q, expected JPEG, PNG, GIF, BMP or WebP", data)
}

// otherFormat names the format of an image that winnow cannot decode, by its first bytes, or returns "".
func otherFormat(data []byte) string {
	for _, f := range []struct {
		name  string
		at    int
		magic []string
	}{
		{"TIFF", 0, []string{"II*\x00", "MM\x00*", "II+\x00", "MM\x00+"}},
		{"HEIC", 4, []string{"ftyphei", "ftyphev", "ftypmif1", "ftypmsf1"}},
		{"AVIF", 4, []string{"ftypavi"}},
		{"JPEG XL", 0, []string{"\xff\x0a", "\x00\x00\x00\x0cJXL "}},
		{"JPEG 2000", 0, []string{"\x00\x00\x00\x0cjP  ", "\xff\x4f\xff\x51"}},
	} {
		for _, magic := range f.magic {
			if len(data) > f.at && bytes.HasPrefix(data[f.at:], []byte(magic)) {
				return f.name
			}
		}
	}
	return ""
}

func (o DecodeOptions) planAs(f format, data []byte) (p decoding, err error) {
	defer catchPanic(f.name+": the decoder", &err)
	p = decoding{format: f, by: 1, turn: 1}
	s, err := f.survey(data)
	if err != nil {
		return p, decodeError(f.name, err)
	}
	p.w, p.h = s.w, s.h
	limit := o.MaxPixels
	if limit <= 0 {
		limit = DefaultMaxPixels
	}
	if p.w < 1 || p.h < 1 {
		return p, fmt.Errorf("%s: %d×%d pixels, expected at least 1×1", f.name, p.w, p.h)
	}
	if p.w > limit/p.h {
		return p, fmt.Errorf("%s: %d×%d pixels, expected at most %d", f.name, p.w, p.h, limit)
	}
	p.by = o.findReduction(p.w, p.h)
	if p.bytes, p.second, err = s.bytes(p.by); err != nil {
		return p, decodeError(f.name, err)
	}
	if most := max(defaultMaxBytes, 6*int64(limit)); p.bytes > most {
		return p, fmt.Errorf("%s: %d×%d pixels take %d bytes to decode, expected at most %d",
			f.name, p.w, p.h, p.bytes, most)
	}
	if o.EXIF {
		p.turn = datasets.Orientation(f.name, data)
	}
	return p, nil
}

// decodePlanned decodes the file for which p was made.
func (p decoding) decodePlanned(data []byte) (img image.Image, err error) {
	defer catchPanic(p.format.name+": the decoder", &err)
	if img, err = p.format.decode(data, p.by); err != nil {
		return nil, decodeError(p.format.name, err)
	}
	if p.turn > 1 {
		return orientPicture(img, p.turn), nil
	}
	return img, nil
}

// peakBytes returns the most memory that decoding and rotating may take.
func (p decoding) peakBytes() int64 {
	n := p.bytes
	if p.turn > 1 { // a copy in colour, and the rotated copy
		n += 2 * 4 * int64(p.w/p.by+1) * int64(p.h/p.by+1)
	}
	return max(n, p.second)
}

// decodeError names the decoder and the reason for its error. Terse texts of decoders are replaced by clearer ones.
func decodeError(name string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the file is cut short", name)
	}
	text := err.Error()
	if strings.Contains(text, "short Huffman data") || strings.Contains(text, "missing 0xff00 sequence") {
		return fmt.Errorf("%s: the image data ends early", name)
	}
	if len(text) > len(name) && text[:len(name)+1] == name+":" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
