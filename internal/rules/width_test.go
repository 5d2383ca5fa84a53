package rules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"winnow/internal/testing/reference"
)

// widest is the largest number of columns in a line of Go; a tab has four columns.
const widest = 120

// long matches a text that would be harder to read in several lines.
var long = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.){30,}\"|`[^`]{30,}`")

// Lines of Go are limited in width, except for long texts in tests.
func TestWidth(t *testing.T) {
	for name, text := range goFiles(t) {
		for i, line := range strings.Split(text, "\n") {
			n := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
			if n > widest && !(strings.HasSuffix(name, "_test.go") && long.MatchString(line)) {
				t.Errorf("%s:%d: has %d columns, expected at most %d", name, i+1, n, widest)
			}
		}
	}
}

// goFiles reads all Go files of the repository.
func goFiles(t *testing.T) map[string]string {
	t.Helper()
	root, files := reference.Root(t), map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (name == "node_modules" || strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".go") {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err = filepath.Rel(root, path)
			files[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 500 {
		t.Fatalf("found %d files of Go, expected 500", len(files))
	}
	return files
}
