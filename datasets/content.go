package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"winnow/internal/regular"
)

// refuseForeignType returns an error if head is the start of a file that is not a manifest.
func refuseForeignType(head []byte) error {
	const expected = "expected a manifest (CSV, JSON lines or a list path,label) in UTF-8, or a folder of images"
	if err := regular.Pointer(head); err != nil {
		return err
	}
	if bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("PK\x03\x04")) ||
		bytes.HasPrefix(head, []byte("PAR1")) {
		return fmt.Errorf("is not text, %s", expected)
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	if bytes.HasPrefix(text, []byte("<")) {
		return errors.New("is XML: for Pascal VOC, name its folder; export other formats as COCO")
	}
	if isFiftyOne(text) {
		return errors.New("is FiftyOne's label file, which winnow does not read: export the dataset as COCO or as " +
			"folders of classes")
	}
	return nil
}

// decodeText converts a text to UTF-8. It recognises UTF-16 by the first bytes; with western set, it decodes
// Windows-1252, which extends Latin-1.
func decodeText(r io.Reader, western bool) *bufio.Reader {
	in := bufio.NewReaderSize(r, 1<<16)
	var from encoding.Encoding
	switch head, _ := in.Peek(2); { // a short file gives fewer bytes
	case string(head) == "\xff\xfe" || string(head) == "\xfe\xff":
		from = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case western:
		from = charmap.Windows1252
	default:
		return in
	}
	return bufio.NewReaderSize(transform.NewReader(in, from.NewDecoder()), 1<<16)
}

// notUTF8 is the error for a text that is not UTF-8.
type notUTF8 struct{ found string }

func (n *notUTF8) Error() string {
	return fmt.Sprintf("found %.80q, expected UTF-8: save the file as UTF-8 (in Excel: CSV UTF-8), or convert it: "+
		"iconv -f latin1 -t utf-8", n.found)
}

// inUTF8 returns an error if a text is not UTF-8.
func inUTF8(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return &notUTF8{text}
}
