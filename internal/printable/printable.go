// Package printable protects the terminal from printed text. Labels, paths and errors may come from untrusted files: an
// escape sequence could rewrite the screen or type input, and a character that changes the text direction could
// disguise a name. Of winnow, the package imports only internal/interrupt, whose writer it may have to unwrap.
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

// Writer passes text on. It escapes control characters except line feeds and tabs, characters that change the text
// direction, and bytes that are not UTF-8, as Go and JSON do: \x1b, \u202e. JSON keeps its values, because it never
// contains characters below 0x20.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	rest []byte // the first bytes of an incomplete character
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

// Under returns the writer inside a Writer, or w itself for any other writer. Use it to print the program's own text
// only, and to move the cursor.
func Under(w io.Writer) io.Writer {
	if safe, ok := w.(*Writer); ok {
		return safe.to
	}
	return w
}

// ForData returns the writer for data, whose bytes must stay unchanged: the writer inside w, or w itself if the output
// is a terminal.
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
