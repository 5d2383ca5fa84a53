package features

import (
	"io"
	"strconv"
	"strings"
)

// EncodePaths writes one path per line. A path that cannot be a line of text, as file names may contain line
// ends, is quoted as in Go and JSON: "two\nlines.png".
func EncodePaths(paths []string) string {
	var b strings.Builder
	_ = writePaths(&b, paths) // accepts everything
	return b.String()
}

// lineWriter is a destination of paths.
type lineWriter interface {
	io.StringWriter
	io.ByteWriter
}

// writePaths writes what [EncodePaths] returns.
func writePaths(w lineWriter, paths []string) error {
	for _, p := range paths {
		if needsQuotes(p) {
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

// decodePath returns the path on a line. Names in quotes that EncodePaths would not have written stay
// unchanged.
func decodePath(line string) string {
	if p, ok := unquotePath(line); ok && needsQuotes(p) {
		return p
	}
	return line
}

// needsQuotes reports whether a path must be quoted: it cannot be a line, or the line would be read as a quoted
// path.
func needsQuotes(p string) bool {
	inner, ok := unquotePath(p)
	return strings.ContainsAny(p, "\r\n") || ok && needsQuotes(inner)
}

func unquotePath(line string) (string, bool) {
	if !strings.HasPrefix(line, `"`) {
		return "", false
	}
	p, err := strconv.Unquote(line)
	return p, err == nil
}
