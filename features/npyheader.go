package features

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"winnow/internal/regular"
)

// npyMagic starts every file of numpy's npy format (numpy.lib.format, versions 1.0 to 3.0).
const npyMagic = "\x93NUMPY"

// maxNPYHeader limits the length of the header's text, which usually has about 100 bytes.
const maxNPYHeader = 1 << 16

// npyHeader is the content of the header of an npy file.
type npyHeader struct {
	descr string // numpy's name of the element type, such as "<f4"
	shape []int  // C order
	size  int64  // length of the header, and offset of the data, in bytes
}

// countElements returns the product of the shape, or an error if it does not fit an int.
func (h npyHeader) countElements() (int, error) {
	n := 1
	for _, d := range h.shape {
		if d != 0 && n > math.MaxInt/d {
			return 0, fmt.Errorf("shape %v has more elements than can be counted", h.shape)
		}
		n *= d
	}
	return n, nil
}

// elementSize is the size of an element in bytes, by numpy's name of the type.
var elementSize = map[string]int{"<f4": 4, "<f8": 8, "<f2": 2, "<i8": 8}

// encodeNPYHeader returns the header of an array in C order. Like numpy, it pads the header with spaces so that the
// data start at a multiple of 64 bytes; rows of mapped files are then aligned.
func encodeNPYHeader(descr string, shape ...int) []byte {
	dims := make([]string, len(shape))
	for i, d := range shape {
		dims[i] = strconv.Itoa(d)
	}
	tuple := strings.Join(dims, ", ")
	if len(shape) == 1 {
		tuple += ","
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple)
	const fixed = len(npyMagic) + 4 // magic, version, length
	total := (fixed + len(text) + 1 + 63) / 64 * 64
	out := make([]byte, 0, total)
	out = append(out, npyMagic...)
	out = append(out, 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(total-fixed))
	out = append(out, text...)
	for len(out) < total-1 {
		out = append(out, ' ')
	}
	return append(out, '\n')
}

// readNPYHeader reads and validates the header at the start of r.
func readNPYHeader(r io.Reader) (npyHeader, error) {
	var h npyHeader
	var start [8]byte
	if n, err := io.ReadFull(r, start[:]); err != nil {
		return h, fmt.Errorf("found %d bytes, expected an npy header", n)
	}
	if string(start[:6]) != npyMagic {
		head := make([]byte, 64)
		n, _ := io.ReadFull(r, head)
		if err := regular.Pointer(append(start[:], head[:n]...)); err != nil {
			return h, err
		}
		return h, fmt.Errorf("starts with %q, expected %q: this is not an npy file", start[:6], npyMagic)
	}
	var length int64
	switch major, minor := start[6], start[7]; {
	case minor == 0 && major == 1:
		var b [2]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return h, fmt.Errorf("header is cut short")
		}
		length, h.size = int64(binary.LittleEndian.Uint16(b[:])), 10
	case minor == 0 && (major == 2 || major == 3):
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return h, fmt.Errorf("header is cut short")
		}
		length, h.size = int64(binary.LittleEndian.Uint32(b[:])), 12
	default:
		return h, fmt.Errorf("npy version %d.%d, expected 1.0, 2.0 or 3.0", major, minor)
	}
	if length > maxNPYHeader {
		return h, fmt.Errorf("header of %d bytes, expected at most %d", length, maxNPYHeader)
	}
	text := make([]byte, length)
	if n, err := io.ReadFull(r, text); err != nil {
		return h, fmt.Errorf("header is cut short: %d of %d bytes", n, length)
	}
	h.size += length
	return h, h.parseNpyHeader(string(text))
}

var npyDescr = regexp.MustCompile(`^\{(?:\s*(?:'descr':\s*'([^'\\]*)'|'fortran_order':\s*(True|False)|` +
	`'shape':\s*\(([0-9, L]*)\))\s*,?)*\s*\}\s*$`)

// parseNpyHeader reads the header's dictionary.
func (h *npyHeader) parseNpyHeader(text string) error {
	m := npyDescr.FindStringSubmatch(strings.ReplaceAll(text, `"`, "'"))
	if m == nil || m[1] == "" || m[2] == "" || strings.Count(text, ":") != 3 {
		return fmt.Errorf("header %.80q: expected descr, fortran_order and shape", text)
	}
	if m[2] == "True" {
		return fmt.Errorf("found an array in Fortran order, expected C order: convert it with numpy.ascontiguousarray")
	}
	h.descr, h.shape = m[1], []int{}
	for dim := range strings.SplitSeq(m[3], ",") {
		dim = strings.TrimSuffix(strings.TrimSpace(dim), "L") // numpy on Python 2 wrote long integers with an L
		if dim == "" {
			continue
		}
		n, err := strconv.Atoi(dim)
		if err != nil || len(h.shape) == 32 {
			return fmt.Errorf("header %.80q: invalid shape", text)
		}
		h.shape = append(h.shape, n)
	}
	return nil
}
