package document

import (
	"runtime"
	"strings"
	"testing"
)

// allocated returns the bytes that f takes from the heap.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// mostMemory is what no text may cost: the largest one's tokens and nodes take half of it.
const mostMemory = 64 << 20

// Texts that nest, of the largest size and of the megabyte that took ten gigabytes.
func TestMemory(t *testing.T) {
	for _, size := range []int{900_000, maxSize} {
		for _, part := range []string{"[", "- ", "? ", "{a: ", "a: [", "[[[]],", "|\n", "a:\n", "%"} {
			text := []byte(strings.Repeat(part, size/len(part)))
			if n := allocated(func() { _, _ = Parse(text) }); n > mostMemory {
				t.Errorf("%d bytes of %q took %d MiB", len(text), part, n>>20)
			}
		}
	}
	var deep strings.Builder
	for i := range 500 {
		deep.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	if n := allocated(func() { _, _ = Parse([]byte(deep.String())) }); n > mostMemory {
		t.Errorf("500 levels of indentation took %d MiB", n>>20)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("[", maxDepth+1):       ":1:65: nested more than 64 deep",
		strings.Repeat("- ", maxDepth+1):      ":1:129: nested more than 64 deep",
		strings.Repeat(" ", maxSize+1):        ": 65537 bytes, expected at most 65536",
		"a: 1\n---\nb: 2\n":                   ":3:2: a second document, expected one",
		"a: [1\n":                             ":1:4: sequence end token ']' not found",
		strings.Repeat("- a: [{b: 1}]\n", 99): "",
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth): "",
		"": "",
	} {
		_, err := Parse([]byte(text))
		if got := ""; err != nil && err.Error() != want || err == nil && got != want {
			t.Errorf("%.40q: got %v, expected %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("a: [1, {b: c}]\n- ? x\n  : y\n"))
	f.Add([]byte("&a !b *c \"d\" 'e' |\n f\n---\n# g\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if n := allocated(func() { _, _ = Parse(text) }); n > mostMemory {
			t.Fatalf("%d bytes took %d MiB", len(text), n>>20)
		}
	})
}
