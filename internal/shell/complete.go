// Package shell reads command lines as people type them: flags stand before or behind arguments, and bash, zsh and fish
// complete commands, flags and the values of catalogs.
package shell

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/internal/catalog"
	"winnow/internal/manual"
)

// CompleteWord is the first argument with which the scripts ask the program; what was typed follows, the word that is to be completed last.
const CompleteWord = "__complete"

// Candidate is a word that may stand where it was asked for.
type Candidate struct {
	Text string // the whole word: --filter=vmf where --filter=v was typed
	Help string // one line, "" for none
}

// Completion is what may stand in a place. None of the three: the shell proposes nothing.
type Completion struct {
	Candidates []Candidate
	Files      bool // files and folders may stand there, too
	Folders    bool // folders may
}

// The lines with which a completion tells the scripts that files or folders may stand there.
const (
	filesLine   = ":files"
	foldersLine = ":folders"
)

//go:embed completion.*
var scripts embed.FS

// Shells are those that there are scripts for.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Script returns the script that makes a shell complete winnow's command lines.
func Script(shell string) (string, error) {
	if err := catalog.Check("completion: shell", shell, Shells()...); err != nil {
		return "", err
	}
	text, err := scripts.ReadFile("completion." + shell)
	return string(text), err
}

// Write prints a completion as the scripts read it: a line a candidate, a tab before its help.
func (c Completion) Write(w io.Writer) error {
	var b strings.Builder
	for _, each := range c.Candidates {
		b.WriteString(each.Text)
		if each.Help != "" {
			b.WriteString("\t" + each.Help)
		}
		b.WriteString("\n")
	}
	for line, here := range map[string]bool{filesLine: c.Files, foldersLine: c.Folders} {
		if here {
			b.WriteString(line + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Complete returns what the last of words may become, the words before it being a command line without the program's name.
func Complete(app *cli.App, words []string) Completion {
	if len(words) == 0 {
		words = []string{""}
	}
	before, word := words[:len(words)-1], words[len(words)-1]
	at := place{commands: app.Commands, global: app.Flags}
	for _, w := range before {
		at.pass(w)
	}
	at.meet(word)
	switch name, value, given := strings.Cut(word, "="); {
	case at.waiting != nil:
		return at.values(at.waiting, "", word)
	case at.dashes:
		return Completion{Files: true}
	case strings.HasPrefix(word, "-") && given:
		if f := find(at.flags(), name); f != nil {
			return at.values(f, name+"=", value)
		}
		return Completion{}
	case strings.HasPrefix(word, "-"):
		return Completion{Candidates: beginning(at.flagNames(), word)}
	case at.arguments == 0 && len(at.commands) > 0:
		list := at.commandNames()
		if at.helping && len(at.path) == 0 {
			for _, topic := range manual.Topics() {
				list = append(list, Candidate{topic, "a topic"})
			}
		}
		return Completion{Candidates: beginning(list, word)}
	}
	return at.argument(word)
}

// HelpAsked reports whether a command line asks for help, of which command, and whether for all of it. args begin with the program's name.
func HelpAsked(app *cli.App, args []string) (path []string, long, asked bool) {
	at := place{commands: app.Commands, global: app.Flags}
	for _, w := range args[min(1, len(args)):] {
		at.meet(w)
		if at.waiting == nil && !at.dashes {
			asked = asked || w == "--help" || w == "-help" || w == "-h"
			long = long || w == "--long"
		}
		at.pass(w)
	}
	return at.path, long, asked
}

// place is how far the words before the one that is completed have come.
type place struct {
	path      []string // of commands
	commands  []*cli.Command
	own       []cli.Flag // of the command
	global    []cli.Flag
	waiting   cli.Flag // for its value
	arguments int      // of the command
	dashes    bool     // all that follows is arguments
	helping   bool     // winnow help: path is that of the command asked about
}

func (p *place) flags() []cli.Flag { return slices.Concat(p.own, p.global) }

// meet lets a flag that may stand without a value do so where another flag follows.
func (p *place) meet(word string) {
	if p.waiting != nil && word != "" && usual(p.flags(), "--"+p.waiting.Names()[0], []string{word}) != "" {
		p.waiting = nil
	}
}

// pass goes on past a word.
func (p *place) pass(word string) {
	p.meet(word)
	switch {
	case p.waiting != nil:
		p.waiting = nil
	case p.dashes:
		p.arguments++
	case word == "--":
		p.dashes = true
	case len(word) > 1 && word[0] == '-':
		if takesValue(p.flags(), word) {
			p.waiting = find(p.flags(), word)
		}
	default:
		at := slices.IndexFunc(p.commands, func(c *cli.Command) bool { return c.HasName(word) })
		if at < 0 || p.arguments > 0 {
			p.arguments++
			return
		}
		c := p.commands[at]
		if c.Name == "help" && len(p.path) == 0 {
			p.helping = true
			return
		}
		p.path, p.commands, p.own = append(p.path, c.Name), c.Subcommands, c.Flags
	}
}

// find returns the flag that a word names, nil if none is.
func find(flags []cli.Flag, word string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), flagName(word)) {
			return f
		}
	}
	return nil
}

// beginning are the candidates that begin with a word.
func beginning(all []Candidate, word string) []Candidate {
	return slices.DeleteFunc(all, func(c Candidate) bool { return !strings.HasPrefix(c.Text, word) })
}

func (p *place) commandNames() (list []Candidate) {
	for _, c := range p.commands {
		if !c.Hidden {
			list = append(list, Candidate{c.Name, oneLine(c.Usage)})
		}
	}
	return list
}

// flagNames are the flags' first names, the command's before the program's.
func (p *place) flagNames() (list []Candidate) {
	for _, f := range p.flags() {
		if visible, ok := f.(cli.VisibleFlag); ok && !visible.IsVisible() {
			continue
		}
		name := "--" + f.Names()[0]
		if len(f.Names()[0]) == 1 {
			name = name[1:]
		}
		c := Candidate{Text: name}
		if documented, ok := f.(cli.DocGenerationFlag); ok {
			c.Help = oneLine(documented.GetUsage())
		}
		if !slices.ContainsFunc(list, func(other Candidate) bool { return other.Text == name }) {
			list = append(list, c)
		}
	}
	return append(list, Candidate{"--help", "say what the command does"})
}

// oneLine is a help text without the marks around its placeholder, cut where a candidate's help has to end.
func oneLine(text string) string {
	text, _, _ = strings.Cut(strings.ReplaceAll(text, "`", ""), "\n")
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return text
}

// values completes the value of a flag, of which value is typed, prefix standing before it in the word.
func (p *place) values(f cli.Flag, prefix, value string) Completion {
	v, known := valuesOf(strings.Join(p.path, " "), f.Names()[0])
	if !known {
		v = byPlaceholder(f)
	}
	if v.list == nil {
		return Completion{Files: v.files, Folders: v.folders}
	}
	if v.many {
		if comma := strings.LastIndexByte(value, ','); comma >= 0 {
			prefix, value = prefix+value[:comma+1], value[comma+1:]
		}
	}
	found := beginning(v.list(), value)
	for i := range found {
		found[i].Text = prefix + found[i].Text
	}
	return Completion{Candidates: found, Files: v.files, Folders: v.folders}
}

// byPlaceholder says by what stands for a flag's value in its help whether files are meant.
func byPlaceholder(f cli.Flag) values {
	switch what, _ := manual.Placeholder(f); {
	case strings.Contains(what, "FILE"), strings.Contains(what, "PATH"):
		return values{files: true}
	case what == "DIR", what == "RUN":
		return values{folders: true}
	}
	return values{}
}

// argument completes an argument of a command.
func (p *place) argument(word string) Completion {
	v, known := valuesOf(strings.Join(p.path, " "), fmt.Sprint(p.arguments+1))
	if !known {
		return Completion{Files: len(p.path) > 0}
	}
	if v.list == nil {
		return Completion{Files: v.files, Folders: v.folders}
	}
	return Completion{Candidates: beginning(v.list(), word), Files: v.files, Folders: v.folders}
}
