package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"winnow/internal/regular"
)

// refuseForeignType returns an error if head is not the start of a manifest.
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
		return errors.New("is XML: of Pascal VOC name the folder, and export other forms as COCO")
	}
	if isFiftyOne(text) {
		return errors.New("is FiftyOne's labels, which winnow does not read: export the dataset as COCO or as " +
			"folders of classes")
	}
	return nil
}

// inUTF8 returns an error if a text is in another encoding.
func inUTF8(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return fmt.Errorf("found %.80q, expected UTF-8: save the file so (in Excel as CSV UTF-8), or convert it: "+
		"iconv -f latin1 -t utf-8", text)
}
