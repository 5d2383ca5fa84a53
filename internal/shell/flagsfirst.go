package shell

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/run/config"
)

// FlagsFirst moves the flags that stand behind a command's arguments in front of them, and the program's own
// in front of the command: the library stops looking for flags at the first argument, and people write
// "winnow models add FILE --name NAME" and "winnow extract --threads 1". What stands behind "--" stays where it
// is. A flag of [usualValues] that stands alone is given its value. args starts with the program's name.
func FlagsFirst(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	global, out := []string{args[0]}, []string(nil)
	commands, flags := app.Commands, []cli.Flag(nil)
	var behind []string // arguments of the command found, in order
	for i := 1; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return slices.Concat(global, out, behind, args[i:])
		}
		if len(a) > 1 && a[0] == '-' {
			to, known := &out, flags
			if !has(flags, a) && has(app.Flags, a) {
				to, known = &global, app.Flags
			} else if len(behind) > 0 && len(commands) > 0 {
				to = &behind // of a command that there is not, which is to be named first
			}
			if value := usual(known, a, args[i+1:]); value != "" {
				a += "=" + value
			}
			*to = append(*to, a)
			if takesValue(known, a) && i+1 < len(args) {
				i++
				*to = append(*to, args[i])
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
	return slices.Concat(global, out, behind)
}

// usualValues are those of flags that may stand without one, before another flag or at the end.
var usualValues = map[string]string{"finetune": config.AllWeights}

// usual returns the value of a flag that stands without one, "" where it has one or needs one. rest is what follows it.
func usual(flags []cli.Flag, word string, rest []string) string {
	if !takesValue(flags, word) || len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return ""
	}
	return usualValues[flagName(word)]
}

// has reports whether a word is one of the flags.
func has(flags []cli.Flag, word string) bool {
	return slices.ContainsFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flagName(word)) })
}

// flagName is the name in --name or --name=value.
func flagName(word string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return name
}

// takesValue reports whether the next word belongs to a flag: not after --flag=value, not for booleans. An
// unknown flag takes none; the parser will name it.
func takesValue(flags []cli.Flag, word string) bool {
	if strings.Contains(word, "=") {
		return false
	}
	for _, f := range flags {
		if slices.Contains(f.Names(), flagName(word)) {
			_, boolean := f.(*cli.BoolFlag)
			return !boolean
		}
	}
	return false
}
