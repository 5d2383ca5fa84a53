package document_test

import (
	"strings"
	"testing"

	"winnow/internal/document"
	"winnow/internal/testing/memory"
)

// mostMemory is the memory limit for any text; tokens and nodes of the largest text take half of it.
const mostMemory = 64 << 20

// Nested texts are tried at the largest accepted size, and at a size that would take the parser 10 GB.
func TestMemory(t *testing.T) {
	for _, size := range []int{900_000, 1 << 16} {
		for _, part := range []string{"[", "- ", "? ", "{a: ", "a: [", "[[[]],", "|\n", "a:\n", "%"} {
			text := []byte(strings.Repeat(part, size/len(part)))
			t.Run(part, func(t *testing.T) { memory.Check(t, mostMemory, func() { _, _ = document.Parse(text) }) })
		}
	}
	var deep strings.Builder
	for i := range 350 {
		deep.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	memory.Check(t, mostMemory, func() { _, _ = document.Parse([]byte(deep.String())) })
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("[", 64+1):                         ":1:65: nested more than 64 deep",
		strings.Repeat("- ", 64+1):                        ":1:129: nested more than 64 deep",
		strings.Repeat(" ", 1<<16+1):                      ": found 65537 bytes, expected at most 65536",
		"a: 1\n---\nb: 2\n":                               ":3:2: found a second document, expected one",
		"m.csv\x00\x00":                                   ": is not text (byte 6 is 0), expected YAML",
		"a: [1\n":                                         ":1:4: sequence end token ']' not found",
		strings.Repeat("- a: [{b: 1}]\n", 99):             "",
		strings.Repeat("[", 64) + strings.Repeat("]", 64): "",
		"": "",
	} {
		_, err := document.Parse([]byte(text))
		if got := ""; err != nil && err.Error() != want || err == nil && got != want {
			t.Errorf("%.40q: got %v, expected %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("a: [1, {b: c}]\n- ? x\n  : y\n"))
	f.Add([]byte("&a !b *c \"d\" 'e' |\n f\n---\n# g\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		memory.Check(t, mostMemory, func() { _, _ = document.Parse(text) })
	})
}
