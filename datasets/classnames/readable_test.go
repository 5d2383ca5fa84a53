package classnames

import "testing"

// Only names of glyphs change: names of digits or things may look like character codes.
func TestReadable(t *testing.T) {
	for class, want := range map[string]string{"U+00AE_registered_sign": "® registered sign",
		"U+1F600_grin_ning": "😀 grin ning", "5": "5", "007": "007", "face": "face", "bed_1": "bed_1",
		"0041_x":         "0041_x",
		"U+0005_control": "U+0005_control", "U+D800": "U+D800", "U+FFFFFFFFF_x": "U+FFFFFFFFF_x", "U+": "U+", "": ""} {
		if got := Readable(class); got != want {
			t.Errorf("%q is shown as %q, expected %q", class, got, want)
		}
	}
}
