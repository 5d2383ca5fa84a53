// Package printable stands between what a program says and the terminal that shows it. Labels, paths and the errors about
// them come from files of strangers: an escape sequence in one could rewrite the screen or type for the user, and a
// character that turns the direction of text could make one name look like another. Of winnow it imports internal/interrupt, whose writer may lie under it.
package printable

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"winnow/internal/interrupt"
)

// Writer passes text on with control characters but line feeds and tabs, those that turn the direction of text and bytes
// that are not UTF-8 written as escapes, as Go and JSON write them: \x1b, \u202e. JSON stays JSON of the same
// values: what is below 0x20 never stands in it.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	rest []byte // of a character whose end is still to come
}

// To returns a Writer in front of w.
func To(w io.Writer) *Writer { return &Writer{to: w} }

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.rest, p...)
	w.rest = nil
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && !utf8.FullRune(text):
			w.rest, size = text, len(text)
		case r == utf8.RuneError && size == 1 || r < 0x20 && r != '\n' && r != '\t':
			out = fmt.Appendf(out, `\x%02x`, text[0])
		case r >= 0x7f && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)):
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Under returns what lies under a Writer, and any other writer unchanged: for those who print nothing but their own words and
// move the cursor.
func Under(w io.Writer) io.Writer {
	if safe, ok := w.(*Writer); ok {
		return safe.to
	}
	return w
}

// ForData returns the writer to which data goes, every byte unchanged: what lies under w, unless that is a terminal.
func ForData(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return w
	}
	return Under(w)
}

// IsTerminal reports whether what is written to w is shown on a terminal.
func IsTerminal(w io.Writer) bool {
	w = Under(w)
	if ending, ok := w.(*interrupt.Writer); ok {
		w = ending.Under()
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
