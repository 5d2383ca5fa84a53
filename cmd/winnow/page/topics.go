package page

import (
	"embed"
	"io"
	"strings"

	"winnow/datasets/published"
	"winnow/internal/catalog"
)

//go:embed topics/*.txt
var topicTexts embed.FS

// topics are what winnow help explains besides commands, with a line about each.
var topics = []Row{
	{"manifests", "the lists of images with labels and splits"},
	{"formats", "the file formats of labels, read and written"},
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
	_, err = strings.NewReplacer("{{datasets}}", strings.Join(wrapped(strings.Join(sets, ", "), 80), "\n")).
		WriteString(w, string(text))
	return err
}

// Source returns papers and the equation in them, or "".
func Source(paper, equation string) string {
	if equation == "" {
		return paper
	}
	return paper + ": " + equation
}
