package decisions

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Maximum lengths of names and notes, in characters.
const (
	mostName = 60
	mostNote = 1000
)

// CheckReviewer returns an error if a reviewer's name is not valid. "" is valid and means no name.
func CheckReviewer(name string) error {
	for _, c := range name {
		if unicode.In(c, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return fmt.Errorf("the reviewer's name contains the direction mark or line separator %q", c)
		}
	}
	if n := utf8.RuneCountInString(name); n > mostName {
		return fmt.Errorf("the reviewer's name has %d characters, expected at most %d", n, mostName)
	}
	if strings.TrimSpace(name) != name {
		return fmt.Errorf("the reviewer's name %q starts or ends with a space", name)
	}
	return checkReadable("the reviewer's name", name, "")
}

// CheckNote returns an error if a note is too long or is not text.
func CheckNote(note string) error {
	if n := utf8.RuneCountInString(note); n > mostNote {
		return fmt.Errorf("the note has %d characters, expected at most %d", n, mostNote)
	}
	return checkReadable("the note", note, "\n\t")
}

// checkReadable returns an error if text is not UTF-8 or contains control characters other than those in allowed.
func checkReadable(what, text, allowed string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%s is not UTF-8: %.40q", what, text)
	}
	for _, c := range text {
		if unicode.IsControl(c) && !strings.ContainsRune(allowed, c) {
			return fmt.Errorf("%s contains the control character %q", what, c)
		}
	}
	return nil
}

// checked scans a text from the file and checks it, because other programs can write the file.
type checked struct {
	to    *string
	check func(string) error
}

// Scan implements [sql.Scanner].
func (c checked) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("found %.40q, expected text", fmt.Sprint(v))
	}
	*c.to = text
	return c.check(text)
}
