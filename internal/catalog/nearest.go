package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Nearest returns the known name most similar to name, or "" if none is similar enough. Case and word separators are
// ignored.
//
//	distance(a, b) = the least number of letters to insert, drop, change or swap with a neighbour to turn a into b
//	                 (optimal string alignment: nothing is changed twice)
//	score          = min(distance(name, known), 1 + the least distance(name, beginning of known))
//
// So a beginning finds the whole name: "multisim" finds multi_similarity. The score may be at most a third of the
// letters of name; beginnings count only for names of three letters or more. For equal scores the smaller distance
// wins, then the same first letter, which is seldom mistyped, then the order of the list. Time and memory O(letters of
// both) for each known name.
func Nearest(name string, known []string) string {
	asked := extractLetters(name)
	best, found := []int{len(asked)/3 + 1}, ""
	for _, k := range known {
		other := extractLetters(k)
		whole, beginning := editDistances(asked, other)
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

// Ask returns ` (did you mean "NAME"?)` with the nearest known name, or "", to follow an unknown name in a
// message.
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

// editDistances returns the distance from a to all of b, and the least distance to a beginning of b.
func editDistances(a, b []rune) (whole, beginning int) {
	// Row i holds the distances from the first i letters of a to every beginning of b; the two previous rows are kept.
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
