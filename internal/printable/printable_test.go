package printable_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"winnow/internal/printable"
)

func TestWriter(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\n":                          "a\tb\n",
		"鳥 é 😀 \\ \"\n":                   "鳥 é 😀 \\ \"\n",
		"\x1b[31mred\x1b[0m\a\b\r":        `\x1b[31mred\x1b[0m\x07\x08\x0d`,
		"\u009b2J\u007f":                  `\u009b2J\u007f`,
		"\x9b2J\xff":                      `\x9b2J\xff`,
		"exe.\u202egpj\u2066\u2069\u200f": `exe.\u202egpj\u2066\u2069\u200f`,
		"\u2028\ufffd":                    `\u2028` + "\ufffd",
		"":                                "",
	} {
		for _, step := range []int{1, 2, 3, 1000} { // characters may arrive in pieces
			var out bytes.Buffer
			w := printable.To(&out)
			for rest := []byte(text); len(rest) > 0; {
				n := min(step, len(rest))
				if got, err := w.Write(rest[:n]); got != n || err != nil {
					t.Fatal(got, err)
				}
				rest = rest[n:]
			}
			if out.String() != want {
				t.Errorf("%q in pieces of %d became %q, expected %q", text, step, out.String(), want)
			}
		}
	}
}

// Escaped JSON stays valid and keeps its values.
func TestJSON(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x3000; r++ {
		all.WriteRune(r)
	}
	var out bytes.Buffer
	to := json.NewEncoder(printable.To(&out))
	to.SetEscapeHTML(false)
	if err := to.Encode(all.String()); err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != all.String() {
		t.Errorf("%v: found other values", err)
	}
	if i := strings.IndexFunc(strings.TrimSuffix(out.String(), "\n"), unicode.IsControl); i >= 0 {
		t.Errorf("%q is printed", out.String()[i:i+4])
	}
}

func TestForData(t *testing.T) {
	var out bytes.Buffer
	w := printable.To(&out)
	if printable.ForData(w) != &out || printable.ForData(&out) != &out || printable.Under(w) != &out ||
		printable.IsTerminal(w) {
		t.Error("a buffer is no terminal: data goes to it unchanged")
	}
}

// FuzzWriter checks that no unprintable character is written and that no printable character is lost.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("a\x1b]0;x\a\u202e\xc2"), 3)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		var out bytes.Buffer
		w := printable.To(&out)
		cut = min(max(cut, 0), len(text))
		_, _ = w.Write(text[:cut])
		_, _ = w.Write(text[cut:])
		_, _ = w.Write([]byte("."))
		for _, r := range out.String() {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%q was printed as %q", text, out.String())
			}
		}
		if !utf8.Valid(out.Bytes()) || out.Len() < len(text)+1 {
			t.Fatalf("%q was printed as %q", text, out.String())
		}
	})
}
