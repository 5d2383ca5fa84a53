package page

import (
	_ "embed"
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

// mostUsed is the group of the flags that short help shows.
const mostUsed = "most used"

// groups returns the groups of each command by its path: "winnow", "data import".
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

// named returns the flags in a command's group, and whether it has that group.
func named(command, heading string) ([]string, bool) {
	for _, g := range groups()[command] {
		if g.heading == heading {
			return g.flags, true
		}
	}
	return nil, false
}
