package features

import (
	"io"
	"strconv"
	"strings"
)

// EncodePaths writes paths a line each. One that is no line of text itself, as file names may be, is quoted as Go and
// JSON do: "two\nlines.png".
func EncodePaths(paths []string) string {
	var b strings.Builder
	_ = writePaths(&b, paths) // takes all
	return b.String()
}

// lineWriter is what paths are written to, line by line.
type lineWriter interface {
	io.StringWriter
	io.ByteWriter
}

// writePaths writes what [EncodePaths] returns.
func writePaths(w lineWriter, paths []string) error {
	for _, p := range paths {
		if quotable(p) {
			p = strconv.Quote(p)
		}
		if _, err := w.WriteString(p); err != nil {
			return err
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}

// DecodePaths is the inverse of [EncodePaths].
func DecodePaths(text string) []string {
	paths := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range paths {
		paths[i] = decodePath(line)
	}
	return paths
}

// decodePath returns the path of a line. Other names that stand between quotes stay what they are.
func decodePath(line string) string {
	if p, ok := unquoted(line); ok && quotable(p) {
		return p
	}
	return line
}

// quotable reports whether a path is quoted: it is no line, or it is one that would be read as a quoted path.
func quotable(p string) bool {
	inner, ok := unquoted(p)
	return strings.ContainsAny(p, "\r\n") || ok && quotable(inner)
}

func unquoted(line string) (string, bool) {
	if !strings.HasPrefix(line, `"`) {
		return "", false
	}
	p, err := strconv.Unquote(line)
	return p, err == nil
}
