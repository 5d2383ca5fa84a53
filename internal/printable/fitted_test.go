package printable

import (
	"bytes"
	"io"
	"testing"
)

// Lines are cut at the terminal's width, counted in letters, however they are written; other writers cut nothing.
func TestFitted(t *testing.T) {
	var b bytes.Buffer
	if Fitted(&b) != io.Writer(&b) {
		t.Error("lines of a writer that is not a terminal are cut")
	}
	f := &fitted{to: &b, columns: 6}
	for _, part := range []string{"six", " ab", "\n", "sevené\xc3", "\xa9\nto", "o long\nend\n"} {
		if n, err := f.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := "six ab\nseven…\ntoo l…\nend\n"; b.String() != want {
		t.Errorf("found %q, expected %q", b.String(), want)
	}
}
