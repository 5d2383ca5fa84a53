package published

import "strconv"

// number is the integer that a name is, -1 where it is none.
func number(name string) int {
	n, err := strconv.Atoi(name)
	if err != nil {
		return -1
	}
	return n
}

// integers reports whether all names are integers.
func integers(names []string) bool {
	for _, name := range names {
		if _, err := strconv.Atoi(name); err != nil {
			return false
		}
	}
	return true
}
