package features

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"winnow/internal/regular"
)

// npyMagic starts every file of numpy's npy format (numpy.lib.format, versions 1.0 to 3.0).
const npyMagic = "\x93NUMPY"

// maxNPYHeader limits the length of the header's text; real ones have about a hundred bytes.
const maxNPYHeader = 1 << 16

// npyHeader is the content of the header of an npy file.
type npyHeader struct {
	descr string // numpy's name of the element type, as "<f4"
	shape []int  // C order
	size  int64  // bytes of the header, where the data start
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

// elementSize is the number of bytes of one element, by numpy's name of the type.
var elementSize = map[string]int{"<f4": 4, "<f8": 8, "<f2": 2, "<i8": 8}

// encodeNPYHeader returns the header of a C-order array, padded with spaces so that the data start at a
// multiple of 64 bytes, as numpy does (mapped files then have aligned rows).
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
		return h, fmt.Errorf("found %d bytes, expected a npy header", n)
	}
	if string(start[:6]) != npyMagic {
		head := make([]byte, 64)
		n, _ := io.ReadFull(r, head)
		if err := regular.Pointer(append(start[:], head[:n]...)); err != nil {
			return h, err
		}
		return h, fmt.Errorf("begins with %q, expected %q: not a npy file", start[:6], npyMagic)
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

// parseNpyHeader reads the header's dictionary, a small subset of Python's literal syntax.
func (h *npyHeader) parseNpyHeader(text string) error {
	s := literal{rest: strings.TrimRight(text, " \n")}
	seen := map[string]bool{}
	if !s.takeWord("{") {
		return fmt.Errorf("header %.40q is not a dictionary", text)
	}
	for !s.takeWord("}") {
		key, ok := s.readQuoted()
		if !ok || !s.takeWord(":") || seen[key] {
			return fmt.Errorf("header %.80q cannot be read near %.20q", text, s.rest)
		}
		seen[key] = true
		switch key {
		case "descr":
			h.descr, ok = s.readQuoted()
		case "fortran_order":
			if s.takeWord("True") {
				return fmt.Errorf("array in Fortran order, expected C order (numpy.ascontiguousarray makes it)")
			}
			ok = s.takeWord("False")
		case "shape":
			h.shape, ok = s.readTuple()
		default:
			return fmt.Errorf("header has an unknown key %q", key)
		}
		if !ok {
			return fmt.Errorf("header: %s cannot be read near %.20q", key, s.rest)
		}
		s.takeWord(",")
	}
	if s.skipBlanks(); s.rest != "" || len(seen) != 3 {
		return fmt.Errorf("header %.80q: expected descr, fortran_order and shape", text)
	}
	return nil
}

// literal scans Python literals.
type literal struct{ rest string }

func (s *literal) skipBlanks() { s.rest = strings.TrimLeft(s.rest, " ") }

// takeWord skips blanks and then the word, if it comes next.
func (s *literal) takeWord(word string) bool {
	s.skipBlanks()
	rest, ok := strings.CutPrefix(s.rest, word)
	s.rest = rest
	return ok
}

// readQuoted reads a string in single or double quotes, without escapes.
func (s *literal) readQuoted() (string, bool) {
	s.skipBlanks()
	if s.rest == "" || s.rest[0] != '\'' && s.rest[0] != '"' {
		return "", false
	}
	text, rest, ok := strings.Cut(s.rest[1:], s.rest[:1])
	if !ok || strings.Contains(text, `\`) {
		return "", false
	}
	s.rest = rest
	return text, true
}

// readTuple reads (), (3,) or (3, 4).
func (s *literal) readTuple() ([]int, bool) {
	if !s.takeWord("(") {
		return nil, false
	}
	dims := []int{}
	for !s.takeWord(")") {
		s.skipBlanks()
		end := 0
		for end < len(s.rest) && s.rest[end] >= '0' && s.rest[end] <= '9' {
			end++
		}
		d, err := strconv.Atoi(s.rest[:end])
		if err != nil || len(dims) == 32 {
			return nil, false
		}
		s.rest = strings.TrimPrefix(s.rest[end:], "L") // numpy on Python 2 wrote long integers like this
		dims = append(dims, d)
		if !s.takeWord(",") {
			return dims, s.takeWord(")")
		}
	}
	return dims, true
}
