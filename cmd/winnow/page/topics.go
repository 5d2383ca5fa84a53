package page

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"winnow/datasets/published"
	"winnow/filters"
	"winnow/internal/catalog"
)

//go:embed topics/*.txt
var topicTexts embed.FS

// topics are what winnow help explains besides commands, with a line about each.
var topics = []Row{
	{"manifests", "the lists of images with labels and splits"},
	{"formats", "the file formats of labels, read and written"},
	{"filters", "how a training leaves out wrong labels"},
	{"runs", "the files in the folder of a run"},
}

// Topics returns the names of all topics.
func Topics() (names []string) {
	for _, t := range topics {
		names = append(names, t.Name)
	}
	return names
}

// WriteTopic writes the text of a topic. The error for an unknown one lists the known ones.
func WriteTopic(w io.Writer, name string) error {
	if err := catalog.Check("help: topic", name, Topics()...); err != nil {
		return err
	}
	text, err := topicTexts.ReadFile("topics/" + name + ".txt")
	if err != nil {
		return err
	}
	var sets []string
	for _, p := range published.Catalog() {
		sets = append(sets, p.Name)
	}
	_, err = strings.NewReplacer("{{datasets}}", strings.Join(wrapped(strings.Join(sets, ", "), 80), "\n"),
		"{{filters}}", filterTable(), "{{settings}}", filterSettings()).WriteString(w, string(text))
	return err
}

// filterTable lists the scorers and what they judge by.
func filterTable() string {
	return table("FILTER\tNAME OF THE PAPER\tJUDGES BY\tSOURCE", func(row func(string, ...any)) {
		for _, e := range filters.Catalog {
			by := "the batch"
			switch {
			case e.NeedsProxy && e.NeedsBank:
				by = "the loss's vectors of classes, and the memory bank"
			case e.NeedsProxy:
				by = "the loss's vectors of classes"
			case e.NeedsBank:
				by = "the memory bank"
			}
			row("%s\t%s\t%s\t%s\n", e.Name, e.Title, by, Source(e.Paper, e.Equation))
		}
	})
}

// filterSettings lists the settings of all scorers, each once.
func filterSettings() string {
	return table("SETTING\tDEFAULT\tRANGE\tMEANING", func(row func(string, ...any)) {
		seen := make(map[string]bool)
		for _, e := range filters.Catalog {
			for _, s := range e.Settings {
				if !seen[s.Name] {
					seen[s.Name] = true
					row("%s\t%v\t%s\t%s\n", s.Name, s.Default, s.Range(), s.Doc)
				}
			}
		}
	})
}

func table(head string, fill func(row func(string, ...any))) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	fill(func(format string, values ...any) { fmt.Fprintf(w, format, values...) })
	w.Flush() // a strings.Builder returns no errors
	return b.String()
}

// Source returns papers and the equation in them, or "".
func Source(paper, equation string) string {
	if equation == "" {
		return paper
	}
	return paper + ": " + equation
}
