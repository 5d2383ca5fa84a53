package term

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// FlagsFirst moves a command's flags before its arguments, and global flags before the command's name, because the
// library stops parsing flags at the first argument. Users write "winnow models add FILE --name NAME" and "winnow
// extract --threads 1". Words after "--" are not moved. --finetune without a value becomes --finetune=all. args[0] is
// the program's name.
func FlagsFirst(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	global, own, behind := args[:1:1], []string(nil), []string(nil)
	commands, flags := app.Commands, []cli.Flag(nil)
	for i := 1; i < len(args); i++ {
		word := args[i]
		name, _, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case word == "--":
			return slices.Concat(global, own, behind, args[i:])
		case word == "--help" || word == "-h":
			return slices.Concat(global, own, []string{word}) // arguments would suppress the help
		case len(word) > 1 && word[0] == '-':
			f, to := findFlag(flags, name), &own
			if f == nil {
				if f = findFlag(app.Flags, name); f != nil {
					to = &global
				} else if len(behind) > 0 && len(commands) > 0 {
					to = &behind // keep the unknown command first, so that the error names it
				}
			}
			_, isSwitch := f.(*cli.BoolFlag)
			next := i+1 < len(args) && (args[i+1] == "" || args[i+1][0] != '-')
			switch {
			case f == nil || isSwitch || given:
				*to = append(*to, word)
			case name == "finetune" && !next:
				*to = append(*to, word+"=all")
			default:
				*to = append(*to, args[i:min(i+2, len(args))]...)
				i++
			}
		default:
			c := findCommand(commands, word)
			if c == nil || len(behind) > 0 {
				behind = append(behind, word)
				continue
			}
			own, commands, flags = append(own, word), c.Subcommands, c.Flags
		}
	}
	return slices.Concat(global, own, behind)
}

// findCommand returns the command with a name, or nil if there is no such command.
func findCommand(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// findFlag returns the flag with a name, or nil if there is no such flag.
func findFlag(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}
