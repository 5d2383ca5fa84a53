package page

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The width of help, and the largest width of the column of flags; a longer flag has its own line.
const (
	helpWidth = 110
	flagWidth = 26
)

// Write writes the page, long or short.
func (p Page) Write(w io.Writer, long bool) error {
	if long {
		return p.long(w)
	}
	return p.short(w)
}

// long writes the whole page.
func (p Page) long(w io.Writer) error {
	var b strings.Builder
	p.begin(&b)
	if len(p.Description) > 0 {
		b.WriteString("\nDESCRIPTION:\n" + indented(strings.Join(p.Description, "\n\n")) + "\n")
	}
	writeSections(&b, "COMMANDS:", p.Commands)
	writeSections(&b, "OPTIONS:", p.Options)
	_, err := io.WriteString(w, b.String())
	return err
}

// short writes the first paragraph and what its colon announces, the other examples and the options that matter most,
// and says where the rest is.
func (p Page) short(w io.Writer) error {
	var b strings.Builder
	p.begin(&b)
	var said, examples []string
	before, kept := "", false // the paragraph before, and whether it is shown
	for i, part := range p.Description {
		kept = i == 0 || i == 1 && isExample(before) || kept && strings.HasSuffix(before, ":")
		switch {
		case kept:
			said = append(said, part)
		case isExample(part):
			examples = append(examples, part)
		}
		before = part
	}
	left := len(p.Description) - len(said) - len(examples)
	if len(said) > 0 {
		b.WriteString("\nDESCRIPTION:\n" + indented(strings.Join(said, "\n\n")) + "\n")
	}
	if len(examples) > 0 {
		b.WriteString("\nEXAMPLES:\n" + strings.Join(examples, "\n") + "\n")
	}
	writeSections(&b, "COMMANDS:", p.Commands)
	if len(p.Most) > 0 {
		writeSections(&b, "OPTIONS:", []Section{{Rows: p.Most}})
	}
	all := 0
	for _, s := range p.Options {
		all += len(s.Rows)
	}
	if more := all - len(p.Most); more > 0 || left > 0 {
		fmt.Fprintf(&b, "\n%s --help --long says more", p.Path)
		if more > 0 {
			fmt.Fprintf(&b, ", with %d more options", more)
		}
		b.WriteString(".\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p Page) begin(b *strings.Builder) {
	fmt.Fprintf(b, "NAME:\n   %s - %s\n\nUSAGE:\n   %s\n", p.Path, p.Usage, p.Synopsis)
}

// indented indents a text by three columns.
func indented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "   " + line
		}
	}
	return strings.Join(lines, "\n")
}

func writeSections(b *strings.Builder, title string, list []Section) {
	if len(list) == 0 {
		return
	}
	width := 0
	for _, s := range list {
		for _, r := range s.Rows {
			if n := utf8.RuneCountInString(r.Name); n <= flagWidth {
				width = max(width, n)
			}
		}
	}
	b.WriteString("\n" + title + "\n")
	for _, s := range list {
		margin := "   "
		if s.Heading != "" {
			b.WriteString(margin + s.Heading + ":\n")
			margin += "  "
		}
		for _, r := range s.Rows {
			b.WriteString(margin + r.Name)
			at := utf8.RuneCountInString(r.Name)
			if at > width {
				b.WriteString("\n" + margin)
				at = 0
			}
			for i, line := range wrapped(r.Text, helpWidth-width-len(margin)-2) {
				if i > 0 {
					b.WriteString("\n" + margin)
					at = 0
				}
				b.WriteString(strings.Repeat(" ", width-at+2) + line)
			}
			b.WriteString("\n")
		}
	}
}

// wrapped breaks a text between words into lines of at most width letters, unless a word is longer.
func wrapped(text string, width int) (lines []string) {
	line, letters := "", 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if letters > 0 && letters+1+n > width {
			lines = append(lines, line)
			line, letters = "", 0
		}
		if letters > 0 {
			line, letters = line+" ", letters+1
		}
		line, letters = line+word, letters+n
	}
	return append(lines, line)
}
