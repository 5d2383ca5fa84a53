package published

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/regular"
)

const npyMagic = "\x93NUMPY"

// npyObjects is numpy's name for elements that are pickled Python objects.
const npyObjects = "|O"

// npyHeader parses the header: numpy writes its dictionary's keys in this order.
var npyHeader = regexp.MustCompile(`^\{'descr': '([^']*)', 'fortran_order': (?:True|False), 'shape': \(([0-9, ` +
	`]*)\), \} *\n?$`)

// npyParts splits an npy file (numpy.lib.format 1.0 to 3.0) into element type, shape and elements.
func npyParts(data []byte) (kind, shape string, body []byte, err error) {
	if err := regular.Pointer(data); err != nil {
		return "", "", nil, err
	}
	if len(data) < 12 || string(data[:6]) != npyMagic {
		return "", "", nil, errors.New("is not an npy file, or is cut short")
	}
	length, body := int(binary.LittleEndian.Uint16(data[8:])), data[10:]
	if data[6] > 1 {
		length, body = int(binary.LittleEndian.Uint32(data[8:])), data[12:]
	}
	if length > len(body) {
		return "", "", nil, errors.New("is cut short")
	}
	m := npyHeader.FindStringSubmatch(string(body[:length]))
	if m == nil {
		return "", "", nil, fmt.Errorf("header is %.120q, expected numpy's dictionary of descr, fortran_order and "+
			"shape", body[:length])
	}
	return m[1], m[2], body[length:], nil
}

// readNPYLabels reads a one-dimensional array of integers.
func readNPYLabels(data []byte) ([]int, error) {
	kind, shape, body, err := npyParts(data)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(shape, ","))
	if err != nil {
		return nil, fmt.Errorf("array of the shape (%s), expected one dimension", shape)
	}
	return decodeInts(kind, body, n)
}

// decodeInts reads n integers of a type by numpy's name for it, such as "<i8" or "|u1".
func decodeInts(kind string, data []byte, n int) ([]int, error) {
	if len(kind) != 3 || kind[0] == '>' || kind[1] != 'i' && kind[1] != 'u' {
		return nil, fmt.Errorf("elements are %q, expected integers with the lowest byte first", kind)
	}
	size := int(kind[2] - '0')
	if size != 1 && size != 2 && size != 4 && size != 8 {
		return nil, fmt.Errorf("elements are %q, expected integers of 1, 2, 4 or 8 bytes", kind)
	}
	if n > len(data)/size || len(data) != n*size {
		return nil, fmt.Errorf("found %d bytes of elements, expected %d of %d bytes", len(data), n, size)
	}
	labels := make([]int, n)
	for i := range labels {
		v := lowFirst(data[i*size:(i+1)*size], kind[1] == 'i')
		if kind[1] == 'u' && v > math.MaxInt64 {
			return nil, fmt.Errorf("element %d is %d, which is not a label", i, v)
		}
		labels[i] = int(int64(v))
	}
	return labels, nil
}

// lowFirst returns the little-endian number in up to 8 bytes.
func lowFirst(b []byte, signed bool) (v uint64) {
	for _, x := range slices.Backward(b) {
		v = v<<8 | uint64(x)
	}
	if signed {
		shift := 64 - 8*len(b)
		v = uint64(int64(v<<shift) >> shift)
	}
	return v
}
