package text_test

import (
	"bytes"
	"math"
	"testing"
	"time"

	"winnow/internal/text"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ found, want string }{
		{text.Number(12.34567), "12.35"}, {text.Number(-1e-7), "-1e-07"},
		{text.Percent(0.123456), "12.35 %"}, {text.Percent(0), "0.00 %"}, {text.Percent(0.000123456), "0.0123 %"},
		{text.Percent(-0.0042), "-0.42 %"},

		{text.Approx(0), "0 bytes"}, {text.Approx(1023), "1023 bytes"}, {text.Approx(1024), "1.0 KiB"},
		{text.Approx(3 << 19), "1.5 MiB"}, {text.Approx(5 << 29), "2.5 GiB"},
		{text.Shortened("Größe", 5), "Größe"}, {text.Shortened("Größen", 5), "Größ…"}, {text.Shortened("ab", 0), "…"},
		{text.Shortened("", 0), ""},
	} {
		if c.found != c.want {
			t.Errorf("found %q, expected %q", c.found, c.want)
		}
	}
	if n := len(text.First([]int{1, 2, 3}, 2)) + len(text.First([]int{1, 2, 3}, 9)) +
		len(text.First([]int{1}, -1)); n != 5 {
		t.Errorf("found %d in all, expected 2, 3 and 0", n)
	}
}

// Columns are as wide as their widest cell in letters, not bytes; each part of a table has its own widths.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	w := text.NewTable(&out)
	w.Row("κ", "n")
	w.Row("größe", "12")
	if out.Len() > 0 {
		t.Errorf("written before Flush: %q", out.String())
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "κ      n\ngröße  12\n"; out.String() != want {
		t.Errorf("found %q, expected %q", out.String(), want)
	}
}

// Labels and paths stay in their cells, whatever characters they contain.
func TestLine(t *testing.T) {
	var out bytes.Buffer
	w := text.NewTable(&out)
	w.Row("\nlabel", "image")
	w.Row("two\nlines", "a\tb")
	w.Row("\n\n", "b")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "\nlabel       image\ntwo\\nlines  a\\tb\n\n\\n  b\n"; out.String() != want {
		t.Errorf("found %q, expected %q", out.String(), want)
	}
}

// JSON is not escaped for HTML, and a value that is not JSON is an error.
func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := text.JSON(&out, map[string]string{"a<b": "κ & λ"}); err != nil ||
		out.String() != "{\n  \"a<b\": \"κ & λ\"\n}\n" {
		t.Errorf("found %v: %s", err, out.String())
	}
	if err := text.JSON(&out, math.NaN()); err == nil {
		t.Error("NaN was written")
	}
}

// Cells are aligned by letters, not bytes, to the left or right; no line ends with spaces.
func TestAligned(t *testing.T) {
	var out bytes.Buffer
	text.Aligned(&out, [][]string{{"κ", "n", "image"}, {"größe", "12", ""}}, 0, 2)
	if want := "κ       n  image\ngröße  12\n"; out.String() != want {
		t.Errorf("found %q, expected %q", out.String(), want)
	}
}

// A probability and a score have no more digits than are meaningful.
func TestChanceAndScore(t *testing.T) {
	for p, want := range map[float64]string{0: "< 0.1 %", 0.0009: "< 0.1 %", 0.001: "0.1 %", 0.5: "50.0 %",
		0.999: "99.9 %", 1: "> 99.9 %"} {
		if got := text.Chance(p); got != want {
			t.Errorf("%v: %s, expected %s", p, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", -1.9e-109: "≈ 0", 0.000123456: "0.000123", -3.14159: "-3.14"} {
		if got := text.Score(v); got != want {
			t.Errorf("%v: %s, expected %s", v, got, want)
		}
	}
}

func TestAbout(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1 s", 40 * time.Second: "40 s", 7*time.Minute + 10*time.Second: "7 minutes",
		89 * time.Minute: "89 minutes", 150 * time.Minute: "2.5 hours",
	} {
		if got := text.About(d); got != want {
			t.Errorf("%v: found %q, expected %q", d, got, want)
		}
	}
}
