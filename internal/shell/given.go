package shell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cluster"
	"winnow/internal/catalog"
)

// Read reads the words of command lines that are parted by --, without the program's name: commands and flags that there are.
func Read(app *cli.App, words []string) (list []cluster.Command, err error) {
	for len(words) > 0 {
		end := slices.Index(words, "--")
		if end < 0 {
			end = len(words)
		}
		g, err := read(app, words[:end])
		if err != nil {
			return nil, err
		}
		list, words = append(list, g), words[min(end+1, len(words)):]
	}
	return list, nil
}

func read(app *cli.App, words []string) (cluster.Command, error) {
	g := cluster.Command{Words: words, Flags: map[string]string{}}
	commands, flags := app.Commands, []cli.Flag(nil)
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case len(word) > 1 && word[0] == '-':
			f := flagBy(slices.Concat(flags, app.Flags), word)
			if f == nil {
				return g, fmt.Errorf("winnow %s: %s is not a flag of it%s", g.Name, word, catalog.Ask(flagName(word), names(flags)))
			}
			_, value, given := strings.Cut(word, "=")
			if _, boolean := f.(*cli.BoolFlag); boolean && !given {
				value = "true"
			} else if !given {
				if i++; i == len(words) {
					return g, fmt.Errorf("winnow %s: %s is without its value", g.Name, word)
				}
				value = words[i]
			}
			g.Flags[f.Names()[0]] = value
		default:
			at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(word) })
			if at < 0 && flags == nil {
				var near []string
				for _, c := range commands {
					near = append(near, c.Name)
				}
				return g, fmt.Errorf("winnow %s: is not a command%s", strings.TrimSpace(g.Name+" "+word), catalog.Ask(word, near))
			} else if at < 0 {
				continue
			}
			c := commands[at]
			g.Name, g.At = strings.TrimSpace(g.Name+" "+c.Name), i+1
			if commands = c.Subcommands; len(commands) == 0 {
				flags = append([]cli.Flag{}, c.Flags...)
				g.Known = names(flags)
			}
		}
	}
	if flags == nil {
		return g, fmt.Errorf("winnow %s: a command is missing", g.Name)
	}
	return g, nil
}

func flagBy(flags []cli.Flag, word string) cli.Flag {
	at := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flagName(word)) })
	if at < 0 {
		return nil
	}
	return flags[at]
}

func names(flags []cli.Flag) (list []string) {
	for _, f := range flags {
		list = append(list, f.Names()[0])
	}
	return list
}
