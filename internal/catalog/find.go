// Package catalog contains the common parts of winnow's catalogs (losses, metrics, filters, scorers, studies,
// datasets): settings with a type, a default and a range ([Setting]), and entries found by name ([Find]), where the
// error for an unknown name suggests the most similar known name ([Nearest]). It imports no other package of winnow.
package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Find returns the entry with a name. names returns the names of an entry, of which messages show the first. If no name
// matches exactly, Find ignores case, hyphens and underscores. The error for an unknown name starts with what, such as
// "losses: loss", and lists the known names.
func Find[E any](what, name string, list []E, names func(E) []string) (entry E, err error) {
	var known []string
	for _, e := range list {
		if slices.Contains(names(e), name) {
			return e, nil
		}
		known = append(known, names(e)[0])
	}
	for _, e := range list {
		if slices.ContainsFunc(names(e), func(n string) bool { return hasSameLetters(n, name) }) {
			return e, nil
		}
	}
	return entry, refuseUnknownName(what, name, known)
}

// Check returns an error if name does not exactly equal a known name.
func Check(what, name string, known ...string) error {
	if slices.Contains(known, name) {
		return nil
	}
	return refuseUnknownName(what, name, known)
}

func refuseUnknownName(what, name string, known []string) error {
	return fmt.Errorf("%s %q is unknown%s: known are %s", what, name, Ask(name, known), strings.Join(known, ", "))
}

// hasSameLetters reports whether two names have the same letters and digits, and at least one.
func hasSameLetters(a, b string) bool {
	x := extractLetters(a)
	return len(x) > 0 && slices.Equal(x, extractLetters(b))
}

// Checker keeps the first error of a configuration.
type Checker struct {
	Where string
	Err   error
}

// That records an error, "where: name: found value, expected what", if holds is false.
func (c *Checker) That(holds bool, name string, found any, expected string) {
	if c.Err == nil && !holds {
		c.Err = fmt.Errorf("%s: %s: found %v, expected %s", c.Where, name, found, expected)
	}
}
