// Package catalog is what the program's catalogs of losses, metrics, filters, judges, studies and data sets share:
// settings with a type, a default and a range ([Setting]), and entries that are found by name ([Find]), whose unknown
// names are answered with the known one that was probably meant ([Nearest]). It imports nothing of winnow.
package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Find returns the entry that goes by a name. Its names are those that the function lists, the first of which is shown;
// capitals, hyphens and underscores make no difference where no entry is called exactly so. The error of an unknown
// name begins with what, such as "losses: loss", and lists those that are known.
func Find[E any](what, name string, list []E, names func(E) []string) (entry E, err error) {
	var known []string
	for _, e := range list {
		if slices.Contains(names(e), name) {
			return e, nil
		}
		known = append(known, names(e)[0])
	}
	for _, e := range list {
		if slices.ContainsFunc(names(e), func(n string) bool { return alike(n, name) }) {
			return e, nil
		}
	}
	return entry, unknown(what, name, known)
}

// Check reports a name that is none of those known, exactly as they are written.
func Check(what, name string, known ...string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return unknown(what, name, known)
}

func unknown(what, name string, known []string) error {
	return fmt.Errorf("%s %q is unknown%s: known are %s", what, name, Ask(name, known), strings.Join(known, ", "))
}

// alike reports whether two names have the same letters and digits, of which there is at least one.
func alike(a, b string) bool {
	x := letters(a)
	return len(x) > 0 && slices.Equal(x, letters(b))
}

// Checker holds what is wrong with a configuration: the first of its rules that does not hold.
type Checker struct {
	Where string
	Err   error
}

// That notes a setting that is not as expected: "where: name: found value, expected what".
func (c *Checker) That(holds bool, name string, found any, expected string) {
	if c.Err == nil && !holds {
		c.Err = fmt.Errorf("%s: %s: found %v, expected %s", c.Where, name, found, expected)
	}
}
