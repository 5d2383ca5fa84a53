package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Nearest returns the known name that is most like a name, "" where none is like enough. Upper and lower case, and what
// parts words, make no difference.
//
//	distance(a, b) = the fewest letters to insert, drop, change or swap with their neighbour that make b of a
//	                 (optimal string alignment: nothing is changed twice)
//	score          = the lesser of distance(name, known) and 1 + the least distance(name, beginning of known)
//
// so that a beginning finds the whole, "multisim" multi_similarity. A score is small enough up to a third of the letters
// of name; beginnings count only for names of three letters and more. Of equal scores the lesser distance wins, then
// the name with the same first letter, which is seldom mistaken, then the first of the list. Time and memory
// O(letters of both) for each known name.
func Nearest(name string, known []string) string {
	asked := letters(name)
	best, found := []int{len(asked)/3 + 1}, ""
	for _, k := range known {
		other := letters(k)
		whole, beginning := distances(asked, other)
		score := []int{whole, whole, 0}
		if len(asked) >= 3 {
			score[0] = min(whole, beginning+1)
		}
		if len(asked) > 0 && len(other) > 0 && asked[0] != other[0] {
			score[2] = 1
		}
		if slices.Compare(score, best) < 0 {
			best, found = score, k
		}
	}
	return found
}

// Ask returns ` (did you mean "NAME"?)` with the nearest known name, "" where none is near, to stand
// behind the unknown name in a message.
func Ask(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// letters returns the letters and digits of a name, in lower case.
func letters(name string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name))
}

// distances returns those from a to the whole of b, and the least to a beginning of b.
func distances(a, b []rune) (whole, beginning int) {
	// Row i holds the distances from the first i letters of a to every beginning of b; two rows before are kept.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	beginning = row[0]
	for _, d := range row {
		beginning = min(beginning, d)
	}
	return row[len(b)], beginning
}
