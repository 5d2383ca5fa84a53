package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves the flags of a command before its arguments, so that people may write them in any order
// (the parser stops at the first argument). What follows "--" stays where it is.
func flagsFirst(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	out, flags, commands := []string{args[0]}, app.Flags, app.Commands
	rest := args[1:]
	for {
		level, positional, tail := sortFlags(flags, rest, true)
		out = append(out, level...)
		if len(positional) == 0 {
			return append(out, tail...)
		}
		at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(positional[0]) })
		if at < 0 {
			return append(append(out, positional...), tail...)
		}
		out = append(out, positional[0])
		flags, commands, rest = commands[at].Flags, commands[at].Subcommands, append(positional[1:], tail...)
		if len(commands) == 0 {
			level, positional, tail = sortFlags(flags, rest, false)
			return append(append(append(out, level...), positional...), tail...)
		}
	}
}

// sortFlags parts args into flags with their values and arguments. With stop it ends at the first argument
// and returns all from there as arguments. tail begins with "--", if there is one.
func sortFlags(flags []cli.Flag, args []string, stop bool) (level, positional, tail []string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return level, positional, args[i:]
		case len(arg) < 2 || arg[0] != '-':
			if stop {
				return level, args[i:], nil
			}
			positional = append(positional, arg)
		default:
			level = append(level, arg)
			if takesValue(flags, arg) && i+1 < len(args) {
				i++
				level = append(level, args[i])
			}
		}
	}
	return level, positional, nil
}

// takesValue reports whether the word after a flag belongs to it.
func takesValue(flags []cli.Flag, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	if strings.Contains(name, "=") {
		return false
	}
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			_, isBool := f.(*cli.BoolFlag)
			return !isBool
		}
	}
	return false
}
