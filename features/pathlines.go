package features

import (
	"io"
	"strconv"
	"strings"
)

// EncodePaths returns the paths, one per line. A path with a line end is quoted as in Go and JSON: "two\nlines.png".
func EncodePaths(paths []string) string {
	var b strings.Builder
	_ = writePaths(&b, paths) // writing to a strings.Builder cannot fail
	return b.String()
}

// lineWriter is a destination for paths.
type lineWriter interface {
	io.StringWriter
	io.ByteWriter
}

// writePaths writes the text returned by [EncodePaths].
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

// decodePath returns the path on a line. A quoted name that EncodePaths would not have quoted is returned unchanged.
func decodePath(line string) string {
	if p, ok := unquotePath(line); ok && needsQuotes(p) {
		return p
	}
	return line
}

// needsQuotes reports whether a path must be quoted because it contains a line end, or because its line would be read
// as a quoted path.
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
