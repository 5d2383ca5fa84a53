// Package printable protects the terminal from what a program prints. Labels, paths and errors about them come
// from other people's files: an escape sequence could rewrite the screen or type for the user, and a character
// that changes the direction of text could make one name look like another. Of winnow it imports only
// internal/interrupt, whose writer may be under its own.
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

// Writer passes text on. It writes control characters except line feeds and tabs, characters that change the
// direction of text, and bytes that are not UTF-8 as escapes, in the form of Go and JSON: \x1b, \u202e. JSON
// keeps its values, because it never contains characters below 0x20.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	rest []byte // the beginning of a character that is not complete yet
}

// To returns a Writer to w.
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

// Under returns the writer under a Writer, and any other writer unchanged. Use it to print only the program's
// own words and to move the cursor.
func Under(w io.Writer) io.Writer {
	if safe, ok := w.(*Writer); ok {
		return safe.to
	}
	return w
}

// ForData returns the writer for data, whose bytes must stay unchanged: the one under w, unless that is a
// terminal.
func ForData(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return w
	}
	return Under(w)
}

// IsTerminal reports whether w writes to a terminal.
func IsTerminal(w io.Writer) bool {
	f := findFileBehind(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// findFileBehind returns the file that w writes to, or nil.
func findFileBehind(w io.Writer) *os.File {
	w = Under(w)
	if ending, ok := w.(*interrupt.Writer); ok {
		w = ending.Under()
	}
	f, _ := w.(*os.File)
	return f
}
