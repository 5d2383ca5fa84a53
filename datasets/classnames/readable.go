package classnames

import (
	"strconv"
	"strings"
	"unicode"
)

// Readable returns a readable name for a class of glyphs: "U+00AE_registered_sign" becomes "® registered sign". Other
// names are returned unchanged, even names that look like character codes, such as 5, face or 0041_x.
func Readable(class string) string {
	text, ours := strings.CutPrefix(class, "U+")
	code, name, _ := strings.Cut(text, "_")
	char, err := strconv.ParseUint(code, 16, 21)
	if !ours || err != nil || !unicode.IsPrint(rune(char)) {
		return class
	}
	return strings.TrimRight(string(rune(char))+" "+strings.ReplaceAll(name, "_", " "), " ")
}
