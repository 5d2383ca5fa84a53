package backbone

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

// DefaultMaxPixels is the largest picture decoded unless the caller says otherwise: PIL's limit.
const DefaultMaxPixels = 178_956_970

// DecodeOptions bound and turn what Decode returns. The zero value is the default.
type DecodeOptions struct {
	MaxPixels int  // largest width × height of the file's picture; 0: DefaultMaxPixels
	EXIF      bool // turn the picture as its EXIF orientation says

	// Enough reports how large a picture of w×h pixels must be at least; photographs may then come out reduced, never
	// smaller than that. nil: every picture is whole. It does not know of turning and treats both sides alike.
	Enough func(w, h int) (leastW, leastH int)
}

// format is one kind of image file, known by its first bytes and never by its name. Decoders are called
// directly: the global registry of package image may hold decoders that accept half a file.
type format struct {
	name   string
	is     func(head []byte) bool
	config func(io.Reader) (image.Config, error)
	decode func(data []byte, by int) (image.Image, error) // reduced by so much if that is a help, whole otherwise
}

func formats() [5]format {
	prefix := func(magic ...string) func([]byte) bool {
		return func(head []byte) bool {
			return slices.ContainsFunc(magic, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
		}
	}
	isWebP := func(head []byte) bool {
		return len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP"
	}
	return [5]format{
		{"jpeg", prefix("\xff\xd8\xff"), jpeg.DecodeConfig, decodeJPEG},
		{"png", prefix("\x89PNG\r\n\x1a\n"), png.DecodeConfig, whole(stream(png.Decode))},
		{"gif", prefix("GIF87a", "GIF89a"), gif.DecodeConfig, whole(firstFrame)},
		{"bmp", prefix("BM"), bmp.DecodeConfig, whole(stream(bmp.Decode))},
		{"webp", isWebP, webp.DecodeConfig, whole(decodeWebP)},
	}
}

// whole returns a decoder that cannot reduce.
func whole(decode func([]byte) (image.Image, error)) func([]byte, int) (image.Image, error) {
	return func(data []byte, _ int) (image.Image, error) { return decode(data) }
}

func stream(decode func(io.Reader) (image.Image, error)) func([]byte) (image.Image, error) {
	return func(data []byte) (image.Image, error) { return decode(bytes.NewReader(data)) }
}

// Decode reads a JPEG, PNG, GIF (first frame), BMP or WebP file. The number of pixels is bounded from the
// header before anything is allocated, a file that ends early is an error, and so is a panic in a decoder.
// The error says what is wrong with the picture and leaves its path to the caller.
func Decode(data []byte, o DecodeOptions) (img image.Image, err error) {
	for _, f := range formats() {
		if f.is(data) {
			return decodeAs(f, data, o)
		}
	}
	if len(data) == 0 {
		return nil, errors.New("the file is empty")
	}
	return nil, fmt.Errorf("not an image: starts with %.16q, expected JPEG, PNG, GIF, BMP or WebP", data)
}

func decodeAs(f format, data []byte, o DecodeOptions) (img image.Image, err error) {
	defer func() {
		if r := recover(); r != nil {
			img, err = nil, fmt.Errorf("%s: the decoder panicked: %v", f.name, r)
		}
	}()
	config, err := f.config(bytes.NewReader(data))
	if err != nil {
		return nil, decodeError(f.name, err)
	}
	limit := o.MaxPixels
	if limit <= 0 {
		limit = DefaultMaxPixels
	}
	if config.Width < 1 || config.Height < 1 {
		return nil, fmt.Errorf("%s: %d×%d pixels", f.name, config.Width, config.Height)
	}
	if config.Width > limit/config.Height {
		return nil, fmt.Errorf("%s: %d×%d pixels, expected at most %d", f.name, config.Width, config.Height, limit)
	}
	by := o.reduction(config.Width, config.Height)
	if img, err = f.decode(data, by); err != nil {
		return nil, decodeError(f.name, err)
	}
	if o.EXIF {
		if turn := orientation(f.name, data); turn > 1 {
			return orient(img, turn), nil
		}
	}
	return asReduced(img, config.Width, config.Height, by), nil
}

// decodeError names which decoder stopped and why, in words where its own are short.
func decodeError(name string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the file is cut short", name)
	}
	if text := err.Error(); strings.Contains(text, "short Huffman data") || strings.Contains(text, "missing 0xff00 sequence") {
		return fmt.Errorf("%s: the picture's data end early", name)
	}
	if text := err.Error(); len(text) > len(name) && text[:len(name)+1] == name+":" {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}
