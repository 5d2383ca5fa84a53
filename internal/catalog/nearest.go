package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Nearest returns the known name most similar to name, ignoring case and word separators: a name that starts with it,
// or one with the smallest edit distance, at most a third of its letters. It returns "" if no name is similar.
func Nearest(name string, known []string) string {
	asked := extractLetters(name)
	best, found := len(asked)/3+1, ""
	for _, k := range known {
		other := extractLetters(k)
		d := editDistance(asked, other)
		if d == 2 && slices.Equal(slices.Sorted(slices.Values(asked)), slices.Sorted(slices.Values(other))) {
			d = 1 // two swapped letters
		}
		if len(asked) > 2 && len(other) > len(asked) && slices.Equal(other[:len(asked)], asked) {
			d = min(d, 1)
		}
		if d < best {
			best, found = d, k
		}
	}
	return found
}

// Ask returns ` (did you mean "NAME"?)` with the nearest known name, or "". Messages append it to an unknown name.
func Ask(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// extractLetters returns the letters and digits of a name, in lower case.
func extractLetters(name string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name))
}

// editDistance returns the smallest number of letters to insert, drop or change to turn a into b.
func editDistance(a, b []rune) int {
	row := make([]int, len(b)+1) // distances from the current prefix of a to each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range a {
		corner := row[0]
		row[0]++
		for j := range b {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner, row[j+1] = row[j+1], min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
