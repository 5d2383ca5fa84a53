package datasets

import (
	"bufio"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	utf16   = "utf-16"       // with the mark that says which
	western = "windows-1252" // Latin-1 and a few more characters: what is tried when a table is not UTF-8
)

// encodingOf returns an encoding by its name.
func encodingOf(name string) (encoding.Encoding, error) {
	if name == utf16 {
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), nil
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil, fmt.Errorf("encoding %q is unknown, expected a name such as utf-8, latin1, windows-1252, "+
			"shift_jis, gbk or utf-16",
			name)
	}
	return e, nil
}

// decodeText returns a text in UTF-8 and the name of its encoding, "" for UTF-8.
func (o ReadOptions) decodeText(in *bufio.Reader) (*bufio.Reader, string, error) {
	name := o.Encoding
	if head, _ := in.Peek(2); name == "" && string(head) == "\xff\xfe" {
		name = utf16
	} else if name == "" && string(head) == "\xfe\xff" {
		name = utf16 + "be" // the mark is read as that of UTF-8
	}
	if name == "" {
		return in, "", nil
	}
	e, err := encodingOf(name)
	if err != nil {
		return nil, "", err
	}
	decoded := transform.NewReader(in, transform.Chain(e.NewDecoder(), &decodable{name: name}))
	return bufio.NewReaderSize(decoded, 1<<16), name, nil
}

// decodable passes on a decoded text. It ends with an error at a character that stands for bytes without a meaning.
type decodable struct {
	transform.NopResetter
	name string
}

// Transform implements transform.Transformer.
func (k *decodable) Transform(dst, src []byte, atEOF bool) (n, read int, err error) {
	for read < len(src) {
		if !atEOF && !utf8.FullRune(src[read:]) {
			return n, read, transform.ErrShortSrc
		}
		r, size := utf8.DecodeRune(src[read:])
		if r == utf8.RuneError {
			return n, read, fmt.Errorf("found bytes that are no character of %s, after %q: expected the encoding that "+
				"the table was written in", k.name, src[max(0, read-20):read])
		}
		if n+size > len(dst) {
			return n, read, transform.ErrShortDst
		}
		n += copy(dst[n:], src[read:read+size])
		read += size
	}
	return n, read, nil
}

// notUTF8 is the error for a label or a text in another encoding.
type notUTF8 struct{ found string }

func (n *notUTF8) Error() string {
	return fmt.Sprintf("found %.80q, expected UTF-8: name the table's encoding, such as latin1, with winnow data "+
		"import --encoding",
		n.found)
}

// inUTF8 returns an error if a text is in another encoding.
func inUTF8(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return &notUTF8{text}
}
