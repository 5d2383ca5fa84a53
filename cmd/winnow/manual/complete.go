package manual

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/line"
	"winnow/cmd/winnow/page"
	"winnow/internal/catalog"
)

// CompleteWord is the first argument with which the shells' scripts call the program. The words typed follow; the
// last one is to be completed.
const CompleteWord = "__complete"

// candidate is a completion of the last word.
type candidate struct {
	Text string // the whole word: --filter=vmf for --filter=v
	Help string // one line; "": none
}

// completion lists the completions at a place; if it is empty, the shell proposes nothing.
type completion struct {
	Candidates []candidate
	Files      bool // files and folders, too
	Folders    bool // folders, too
}

// The lines that tell the scripts to complete files or folders, too.
const (
	filesLine   = ":files"
	foldersLine = ":folders"
)

//go:embed completion.*
var scripts embed.FS

// shells are those with a script.
var shells = []string{"bash", "zsh", "fish"}

// script returns the script by which a shell completes winnow's command lines.
func script(shell string) (string, error) {
	if err := catalog.Check("completion: shell", shell, shells...); err != nil {
		return "", err
	}
	text, err := scripts.ReadFile("completion." + shell)
	return string(text), err
}

// Complete prints the completions of the last word for the scripts to read: one per line, with a tab before its help.
// words are a command line without the program's name.
func Complete(app *cli.App, words []string) error {
	c := complete(app, words)
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
	_, err := io.WriteString(app.Writer, b.String())
	return err
}

func complete(app *cli.App, words []string) completion {
	if len(words) == 0 {
		words = []string{""}
	}
	before, word := words[:len(words)-1], words[len(words)-1]
	at := reach(app, before)
	var topics []candidate
	if len(at.Path) == 1 && at.Path[0] == "help" { // its arguments are commands and topics
		if at = reach(app, before[slices.Index(before, "help")+1:]); len(at.Path) == 0 {
			for _, name := range page.Topics() {
				topics = append(topics, candidate{name, "a topic"})
			}
		}
	}
	at.Meet(word)
	switch name, value, given := strings.Cut(word, "="); {
	case at.Waiting != nil:
		return at.values(at.Waiting, "", word)
	case at.Dashes:
		return completion{Files: true}
	case strings.HasPrefix(word, "-") && given:
		if f := line.Find(at.Flags(), name); f != nil {
			return at.values(f, name+"=", value)
		}
		return completion{}
	case strings.HasPrefix(word, "-"):
		return completion{Candidates: beginning(at.flagNames(), word)}
	case at.Arguments == 0 && len(at.Commands) > 0:
		return completion{Candidates: beginning(append(at.commandNames(), topics...), word)}
	}
	return at.argument(word)
}

// place is the position of the word to complete.
type place struct{ line.Place }

func reach(app *cli.App, words []string) place {
	at := place{line.Begin(app)}
	for _, word := range words {
		at.Pass(word)
	}
	return at
}

// beginning returns the candidates that begin with a word.
func beginning(all []candidate, word string) []candidate {
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.Text, word) })
}

func (p *place) commandNames() (list []candidate) {
	for _, c := range p.Commands {
		if !c.Hidden {
			list = append(list, candidate{c.Name, oneLine(c.Usage)})
		}
	}
	return list
}

// flagNames returns the first names of flags, the command's before the global ones.
func (p *place) flagNames() (list []candidate) {
	for _, f := range p.Flags() {
		if visible, ok := f.(cli.VisibleFlag); ok && !visible.IsVisible() {
			continue
		}
		name := "--" + f.Names()[0]
		if len(f.Names()[0]) == 1 {
			name = name[1:]
		}
		c := candidate{Text: name}
		if documented, ok := f.(cli.DocGenerationFlag); ok {
			c.Help = oneLine(documented.GetUsage())
		}
		if !slices.ContainsFunc(list, func(other candidate) bool { return other.Text == name }) {
			list = append(list, c)
		}
	}
	return append(list, candidate{"--help", "explain the command"})
}

// oneLine returns a help text without the marks around its placeholder, cut to a line of 80 letters.
func oneLine(text string) string {
	text, _, _ = strings.Cut(strings.ReplaceAll(text, "`", ""), "\n")
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return text
}

// values completes the value of a flag. value is what was typed of it, prefix what precedes it in the word.
func (p *place) values(f cli.Flag, prefix, value string) completion {
	v, known := valuesOf(strings.Join(p.Path, " "), f.Names()[0])
	if !known {
		v = byPlaceholder(f)
	}
	if v.list == nil {
		return completion{Files: v.files, Folders: v.folders}
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
	return completion{Candidates: found, Files: v.files, Folders: v.folders}
}

// byPlaceholder tells from the placeholder in a flag's help whether its value is a file or folder.
func byPlaceholder(f cli.Flag) values {
	switch what, _ := page.Placeholder(f); {
	case strings.Contains(what, "FILE"), strings.Contains(what, "PATH"):
		return values{files: true}
	case what == "DIR", what == "RUN":
		return values{folders: true}
	}
	return values{}
}

// argument completes an argument of a command.
func (p *place) argument(word string) completion {
	v, known := valuesOf(strings.Join(p.Path, " "), fmt.Sprint(p.Arguments+1))
	if !known {
		return completion{Files: len(p.Path) > 0}
	}
	if v.list == nil {
		return completion{Files: v.files, Folders: v.folders}
	}
	return completion{Candidates: beginning(v.list(), word), Files: v.files, Folders: v.folders}
}
