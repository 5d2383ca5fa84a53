package matfile

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// readCharArray reads the characters of a char array.
func (p *parser) readCharArray(a *Array, in []byte) error {
	e, _, err := p.splitElement(in)
	if err == nil {
		err = p.holdBytes(12 * len(e.data)) // 4 bytes per character, twice, and the text
	}
	if err != nil {
		return err
	}
	units, err := p.readCodeUnits(e)
	if err != nil {
		return err
	}
	rows := a.Dims[0]
	if n := a.Len(); len(units) != n && (rows != 1 || e.kind != miUTF8) {
		return fmt.Errorf("found %d characters, expected %d", len(units), n)
	}
	if len(units) == 0 {
		return nil // rows of no characters, perhaps very many
	}
	var b strings.Builder
	for r := range rows {
		if r > 0 {
			b.WriteByte('\n')
		}
		line := make([]rune, 0, len(units)/rows)
		for i := r; i < len(units); i += rows {
			line = append(line, units[i])
		}
		if e.kind == miUint16 || e.kind == miUTF16 {
			pairs := make([]uint16, len(line))
			for i, c := range line {
				pairs[i] = uint16(c)
			}
			line = utf16.Decode(pairs)
		}
		b.WriteString(string(line))
	}
	a.Text = b.String()
	return nil
}

// readCodeUnits returns the characters of an element; if they have 16 bits, surrogate pairs are split.
func (p *parser) readCodeUnits(e element) ([]rune, error) {
	w := 1
	switch e.kind {
	case miUTF8:
		if !utf8.Valid(e.data) {
			return nil, fmt.Errorf("characters are not UTF-8")
		}
		return []rune(string(e.data)), nil
	case miInt8, miUint8:
	case miUint16, miUTF16:
		w = 2
	case miUTF32, miUint32:
		w = 4
	default:
		return nil, fmt.Errorf("found an element of type %d, expected characters", e.kind)
	}
	if len(e.data)%w != 0 {
		return nil, fmt.Errorf("found %d bytes, expected characters of %d", len(e.data), w)
	}
	list := make([]rune, len(e.data)/w)
	for i := range list {
		switch w {
		case 1:
			list[i] = rune(e.data[i])
		case 2:
			list[i] = rune(p.order.Uint16(e.data[2*i:]))
		default:
			list[i] = rune(p.order.Uint32(e.data[4*i:]))
		}
	}
	return list, nil
}
