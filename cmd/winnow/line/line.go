// Package line reads command lines as people type them, with flags before or after arguments.
package line

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/internal/catalog"
)

// Place is a position in a command line.
type Place struct {
	Path      []string       // names of the commands
	Commands  []*cli.Command // that may follow
	Waiting   cli.Flag       // flag whose value comes next; nil: none
	Arguments int            // number of the command's arguments so far
	Dashes    bool           // -- was passed: only arguments follow

	own, global []cli.Flag // of the command, of the program
}

// Begin returns the place after the program's name.
func Begin(app *cli.App) Place { return Place{Commands: app.Commands, global: app.Flags} }

// Flags returns the command's flags, then the global ones.
func (p *Place) Flags() []cli.Flag { return slices.Concat(p.own, p.global) }

// Meet ends the wait for the value of a flag that needs none, if the next word is another flag.
func (p *Place) Meet(word string) {
	if p.Waiting != nil && word != "" && findUsualValue(p.Flags(), "--"+p.Waiting.Names()[0], []string{word}) != "" {
		p.Waiting = nil
	}
}

// Pass moves past a word. If the word completes a flag and its value, it returns them, otherwise nil.
func (p *Place) Pass(word string) (flag cli.Flag, value string) {
	p.Meet(word)
	switch {
	case p.Waiting != nil:
		flag, p.Waiting = p.Waiting, nil
		return flag, word
	case p.Dashes:
		p.Arguments++
	case word == "--":
		p.Dashes = true
	case isFlag(word):
		flag = Find(p.Flags(), word)
		if takesValue(p.Flags(), word) {
			p.Waiting = flag
			return nil, ""
		}
		_, value, given := strings.Cut(word, "=")
		if !given {
			value = "true"
		}
		return flag, value
	default:
		c := p.findCommand(word)
		if c == nil {
			p.Arguments++
			return nil, ""
		}
		p.Path, p.Commands, p.own = append(p.Path, c.Name), c.Subcommands, c.Flags
	}
	return nil, ""
}

// findCommand returns the command that a word names, nil if the word is an argument.
func (p *Place) findCommand(word string) *cli.Command {
	at := slices.IndexFunc(p.Commands, func(c *cli.Command) bool { return c.HasName(word) })
	if at < 0 || p.Arguments > 0 {
		return nil
	}
	return p.Commands[at]
}

// FlagsFirst moves a command's flags before its arguments, and global flags before the command, because the library
// stops looking for flags at the first argument, and people write "winnow models add FILE --name NAME" and "winnow
// extract --threads 1". Words after "--" are not moved. A flag of [usualValues] without a value gets its usual one.
// args begin with the program's name.
func FlagsFirst(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	global, out, behind := []string{args[0]}, []string(nil), []string(nil)
	at, to := Begin(app), &out
	for i := 1; i < len(args); i++ {
		word := args[i]
		switch {
		case at.Waiting != nil: // a value stays with its flag
		case word == "--":
			return slices.Concat(global, out, behind, args[i:])
		case word == "--help" || word == "-h":
			return slices.Concat(global, out, []string{word}) // the library takes an argument for a command
		case isFlag(word):
			to = &out
			if Find(at.own, word) == nil && Find(at.global, word) != nil {
				to = &global
			} else if len(behind) > 0 && len(at.Commands) > 0 {
				to = &behind // of an unknown command, which the error must name first
			}
			if value := findUsualValue(at.Flags(), word, args[i+1:]); value != "" {
				word += "=" + value
			}
		case at.findCommand(word) != nil:
			to = &out
		default:
			to = &behind
		}
		*to = append(*to, word)
		at.Pass(word)
	}
	return slices.Concat(global, out, behind)
}

// Read parses command lines, without the program's name, that are separated by --. Commands and flags must exist.
func Read(app *cli.App, words []string) (list []cluster.Command, err error) {
	for len(words) > 0 {
		end := slices.Index(words, "--")
		if end < 0 {
			end = len(words)
		}
		g, err := readCommandLine(app, words[:end])
		if err != nil {
			return nil, err
		}
		list, words = append(list, g), words[min(end+1, len(words)):]
	}
	return list, nil
}

func readCommandLine(app *cli.App, words []string) (cluster.Command, error) {
	g := cluster.Command{Words: words, Flags: map[string]string{}}
	at := Begin(app)
	for i, word := range words {
		if at.Waiting == nil && isFlag(word) && Find(at.Flags(), word) == nil {
			return g, fmt.Errorf("winnow %s: %s is not a flag of this command%s", g.Name, word,
				catalog.Ask(flagName(word), listFlagNames(at.own)))
		}
		if c := at.findCommand(word); at.Waiting == nil && c != nil {
			g.Name, g.At = strings.TrimSpace(g.Name+" "+c.Name), i+1
			if len(c.Subcommands) == 0 {
				g.Known = listFlagNames(c.Flags)
			}
		}
		if f, value := at.Pass(word); f != nil {
			g.Flags[f.Names()[0]] = value
		}
		if at.Arguments > 0 && len(at.Commands) > 0 {
			var near []string
			for _, c := range at.Commands {
				near = append(near, c.Name)
			}
			return g, fmt.Errorf("winnow %s: is not a command%s", strings.TrimSpace(g.Name+" "+word),
				catalog.Ask(word, near))
		}
	}
	switch {
	case at.Waiting != nil:
		return g, fmt.Errorf("winnow %s: %s has no value", g.Name, words[len(words)-1])
	case len(at.Commands) > 0:
		return g, fmt.Errorf("winnow %s: a command is missing", g.Name)
	}
	return g, nil
}

func listFlagNames(flags []cli.Flag) (list []string) {
	for _, f := range flags {
		list = append(list, f.Names()[0])
	}
	return list
}

// usualValues are the values of flags that may be given without one, before another flag or at the end.
var usualValues = map[string]string{"finetune": "all"}

// findUsualValue returns the usual value of a flag that is given without one, "" for other flags. rest is what follows
// it.
func findUsualValue(flags []cli.Flag, word string, rest []string) string {
	if !takesValue(flags, word) || len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return ""
	}
	return usualValues[flagName(word)]
}

// isFlag reports whether a word is a flag: -q, --quiet, --out=DIR.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

// Find returns the flag that a word names, nil if there is none.
func Find(flags []cli.Flag, word string) cli.Flag {
	at := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flagName(word)) })
	if at < 0 {
		return nil
	}
	return flags[at]
}

// flagName returns the name in --name or --name=value.
func flagName(word string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return name
}

// takesValue reports whether the next word is a flag's value: not after --flag=value, and not for switches. An unknown
// flag takes none; the parser will name it.
func takesValue(flags []cli.Flag, word string) bool {
	f := Find(flags, word)
	_, boolean := f.(*cli.BoolFlag)
	return f != nil && !boolean && !strings.Contains(word, "=")
}
