package term

import (
	_ "embed"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// helpTemplate prints the help of the program or of a command, by the library's data and the functions of printHelp.
const helpTemplate = `{{.HelpName}}{{with .Usage}} - {{.}}{{end}}

Usage: {{.HelpName}}{{if .VisibleCommands}} COMMAND{{end}}{{if .VisibleFlags}} [options]{{end -}}
{{with .ArgsUsage}} {{.}}{{end}}
{{with .Description}}
{{trim .}}
{{end}}{{range commands .}}
{{if .Heading}}{{.Heading}}{{else}}Commands{{end}}:
{{range .Commands}}{{row .Name .Usage}}{{end}}{{end}}{{range .VisibleFlagCategories}}
{{if .Name}}Options: {{.Name}}{{else}}Options{{end}}:
{{range .Flags}}{{flag .}}{{end}}{{else}}{{if .VisibleFlags}}
Options:
{{range .VisibleFlags}}{{flag .}}{{end}}{{end}}{{end}}`

// The widths of help and of its first column; longer names have a line of their own.
const (
	helpWidth = 110
	nameWidth = 26
)

// The library's help is printed by one function of the whole process.
func init() { cli.HelpPrinter = printHelp }

func printHelp(w io.Writer, template string, data any) {
	cli.HelpPrinterCustom(w, template, data, map[string]any{"commands": groupCommands, "row": formatRow,
		"flag": func(f fmt.Stringer) string {
			name, usage, _ := strings.Cut(f.String(), "\t")
			return formatRow(name, defaultMarks.Replace(usage))
		}})
}

// defaultMarks drops the quotes of defaults, and defaults that are not worth a word.
var defaultMarks = strings.NewReplacer(`(default: "`, "(default: ", `")`, ")", " (default: false)", "",
	" (default: 0)", "")

// groupCommands returns the visible subcommands of the program or a command under their headings, in declared order.
func groupCommands(parent any) (groups []Group) {
	var list []*cli.Command
	switch p := parent.(type) {
	case *cli.App:
		list = p.VisibleCommands()
	case *cli.Command:
		list = p.VisibleCommands()
	}
	for _, c := range list {
		if c.Name == "help" {
			continue // the library's own, which the usage implies
		}
		if len(groups) == 0 || groups[len(groups)-1].Heading != c.Category {
			groups = append(groups, Group{Heading: c.Category})
		}
		last := &groups[len(groups)-1]
		last.Commands = append(last.Commands, c)
	}
	return groups
}

// formatRow formats a flag or command with its help in two columns.
func formatRow(name, usage string) string {
	var b strings.Builder
	b.WriteString("   " + name)
	at := utf8.RuneCountInString(name)
	if at > nameWidth {
		b.WriteString("\n   ")
		at = 0
	}
	for i, line := range wrapText(usage, helpWidth-nameWidth-5) {
		if i > 0 {
			b.WriteString("\n   ")
			at = 0
		}
		b.WriteString(strings.Repeat(" ", nameWidth+2-at) + line)
	}
	return b.String() + "\n"
}

// wrapText breaks a text between words into lines of at most width letters, unless a word is longer.
func wrapText(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

//go:embed groups.txt
var groupsText string

// flagGroups returns the heading of each flag under which help lists it, by the command's path and the flag: the most
// used flags have none and come first.
var flagGroups = sync.OnceValue(func() map[[2]string]string {
	headings, command := map[[2]string]string{}, ""
	for line := range strings.Lines(groupsText) {
		line = strings.TrimSpace(line)
		heading, names, isGroup := strings.Cut(line, ": ")
		switch {
		case line == "" || line[0] == '#':
		case !isGroup:
			command = line
			headings[[2]string{command, ""}] = "others"
		default:
			if heading == "most used" {
				heading = ""
			}
			for name := range strings.FieldsSeq(names) {
				if _, known := headings[[2]string{command, name}]; !known {
					headings[[2]string{command, name}] = heading
				}
			}
		}
	}
	return headings
})

// groupFlags puts a command's flags under the headings of groups.txt.
func groupFlags(path string, flags []cli.Flag) {
	for _, f := range flags {
		heading, grouped := flagGroups()[[2]string{path, f.Names()[0]}]
		if !grouped {
			heading = flagGroups()[[2]string{path, ""}]
		}
		reflect.ValueOf(f).Elem().FieldByName("Category").SetString(heading)
	}
}
