package datasets

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// lookAlikes returns the groups of labels that people take for one: they differ only in case, in spaces, in how accents
// are encoded, in separators of words, or in how a number is written.
func lookAlikes(classes []string) [][]string {
	fold, keys, groups := cases.Fold(), make([]string, len(classes)), map[string][]string{}
	for i, c := range classes {
		key := fold.String(norm.NFKC.String(c))
		separates := func(r rune) bool { return unicode.IsSpace(r) || r == '_' || r == '-' }
		v, err := strconv.ParseFloat(strings.TrimSpace(key), 64) // the sign of a number separates nothing
		if key = strings.Join(strings.FieldsFunc(key, separates), " "); err == nil {
			key = strconv.FormatFloat(v, 'g', -1, 64)
		}
		keys[i], groups[key] = key, append(groups[key], c)
	}
	list := [][]string{}
	for i, c := range classes { // in the order of the classes
		if group := groups[keys[i]]; len(group) > 1 && group[0] == c {
			list = append(list, group)
		}
	}
	return list
}
