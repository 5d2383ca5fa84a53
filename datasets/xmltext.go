package datasets

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// xmlReader reads XML and knows where each token is.
type xmlReader struct {
	tape *tape
	in   *xml.Decoder
	from int64    // where the last token begins
	lead int64    // where the white space before it begins
	path []string // names of the elements around it, and its own
}

func newXML(in *tape) *xmlReader {
	x := &xmlReader{tape: in, in: xml.NewDecoder(in)}
	x.in.CharsetReader = func(name string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("found the encoding %q, expected UTF-8", name)
	}
	return x
}

// next returns the next token, nil at the end of the file.
func (x *xmlReader) next() (xml.Token, error) {
	if n := len(x.path); n > 0 && x.path[n-1] == "" {
		x.path = x.path[:n-2] // the element that ended
	}
	for space := false; ; {
		at := x.in.InputOffset()
		t, err := x.in.Token()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if x.from = at; !space {
			x.lead = at
		}
		switch t := t.(type) {
		case xml.StartElement:
			x.path = append(x.path, t.Name.Local)
		case xml.EndElement:
			x.path = append(x.path, "") // goes with the next token
		case xml.CharData:
			if len(bytes.TrimSpace(t)) == 0 {
				space = true
				continue
			}
		default:
			continue
		}
		return t, nil
	}
}

// within reports whether the last token is in, or begins or ends, an element with this path from the root.
func (x *xmlReader) within(path ...string) bool {
	p := x.path
	if n := len(p); n > 0 && p[n-1] == "" {
		p = p[:n-1]
	}
	if len(p) != len(path) {
		return false
	}
	for i := range p {
		if p[i] != path[i] {
			return false
		}
	}
	return true
}

// attributes returns those of a start element.
func attributes(e xml.StartElement) map[string]string {
	list := make(map[string]string, len(e.Attr))
	for _, a := range e.Attr {
		list[a.Name.Local] = a.Value
	}
	return list
}

// attribute returns where the value of an attribute of the last token, a start element, is: between its quotes.
func (x *xmlReader) attribute(name string) (span, bool) {
	text := x.tape.text(span{x.from, x.in.InputOffset()})
	at := 1
	for at < len(text) && !strings.ContainsRune(" \t\r\n/>", rune(text[at])) {
		at++ // the name of the element
	}
	for at < len(text) {
		from := at + len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t\r\n"))
		equals := bytes.IndexByte(text[from:], '=')
		if equals < 0 {
			return span{}, false
		}
		open := from + equals + 1
		open += len(text[open:]) - len(bytes.TrimLeft(text[open:], " \t\r\n"))
		if open >= len(text) || text[open] != '"' && text[open] != '\'' {
			return span{}, false
		}
		end := bytes.IndexByte(text[open+1:], text[open])
		if end < 0 {
			return span{}, false
		}
		if string(bytes.TrimSpace(text[from:from+equals])) == name {
			return span{x.from + int64(open) + 1, x.from + int64(open) + 1 + int64(end)}, true
		}
		at = open + 1 + end + 1
	}
	return span{}, false
}

// xmlText returns a label as XML writes it, with the white space that was around the one before.
func xmlText(_ *subject, label string, was []byte) ([]byte, error) {
	var out bytes.Buffer
	inner := bytes.TrimSpace(was)
	lead := bytes.Index(was, inner)
	out.Write(was[:lead])
	_ = xml.EscapeText(&out, []byte(label)) // cannot fail: a buffer
	out.Write(was[lead+len(inner):])
	return out.Bytes(), nil
}

// pixels reads a number of pixels.
func pixelsOf(what, text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%s: found %.40q, expected a number", what, text)
	}
	return v, nil
}
