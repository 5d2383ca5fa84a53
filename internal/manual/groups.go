package manual

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed groups.txt
var groupsText string

// group is a heading and the names of the flags under it.
type group struct {
	heading string
	flags   []string
}

// The groups with a meaning of their own.
const (
	mostUsed = "most used"
	oldNames = "old"
)

// groups are those of each command, by its path: "winnow", "data import".
var groups = sync.OnceValue(func() map[string][]group {
	all, command := make(map[string][]group), ""
	for line := range strings.Lines(groupsText) {
		line = strings.TrimSpace(line)
		heading, names, flags := strings.Cut(line, ": ")
		switch {
		case line == "" || line[0] == '#':
		case flags:
			all[command] = append(all[command], group{heading, strings.Fields(names)})
		default:
			command = line
			all[command] = nil
		}
	}
	return all
})

// named returns a command's flags of a group, and whether it has one.
func named(command, heading string) ([]string, bool) {
	for _, g := range groups()[command] {
		if g.heading == heading {
			return g.flags, true
		}
	}
	return nil, false
}

// Old reports whether a name of a command's flag is one that it had, and has no more in help.
func Old(command, name string) bool {
	old, _ := named(command, oldNames)
	return slices.Contains(old, name)
}
