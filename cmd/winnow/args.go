package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves the flags that stand behind a command's arguments in front of them: the library stops
// looking for flags at the first argument, and people write "winnow models add FILE --name NAME". What stands
// behind "--" stays where it is. args starts with the program's name.
func flagsFirst(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	out := []string{args[0]}
	commands, flags := app.Commands, app.Flags
	var behind []string // arguments of the command found, in order
	for i := 1; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(append(out, behind...), args[i:]...)
		}
		if len(a) > 1 && a[0] == '-' {
			out = append(out, a)
			if takesValue(flags, a) && i+1 < len(args) {
				i++
				out = append(out, args[i])
			}
			continue
		}
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(a) })
		if at < 0 || len(behind) > 0 {
			behind = append(behind, a)
			continue
		}
		out = append(out, a)
		commands, flags = commands[at].Subcommands, commands[at].Flags
	}
	return append(out, behind...)
}

// takesValue reports whether the next word belongs to a flag: not after --flag=value, not for booleans. An
// unknown flag takes none; the parser will name it.
func takesValue(flags []cli.Flag, word string) bool {
	name, _, assigned := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if assigned {
		return false
	}
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			_, boolean := f.(*cli.BoolFlag)
			return !boolean
		}
	}
	return false
}
