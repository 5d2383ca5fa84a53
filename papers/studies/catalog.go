package studies

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"winnow/internal/catalog"
	"winnow/internal/text"
)

//go:embed studies/*.yaml
var files embed.FS

// List reads every study, sorted by name.
func List() ([]Study, error) {
	names, err := fs.Glob(files, "studies/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []Study
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s, err := parseStudy(name, text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Study) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Find returns the study with this name, which is also the name of its file.
func Find(name string) (Study, error) {
	if path := "studies/" + name + ".yaml"; fs.ValidPath(path) {
		if text, err := files.ReadFile(path); err == nil {
			return parseStudy(path, text)
		}
	}
	all, err := List()
	if err != nil {
		return Study{}, err
	}
	return catalog.Find("reproduce: study", name, all, func(s Study) []string { return []string{s.Name} })
}

// Listed is a study in a list.
type Listed struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Paper    string   `json:"paper"`
	Source   string   `json:"source"`
	Datasets []string `json:"datasets"`
	Cells    int      `json:"cells_a_seed"`
	Rows     int      `json:"rows"`
	Columns  int      `json:"columns"`
	Claims   int      `json:"claims"`
}

// Summaries returns a summary of every study.
func Summaries() (list []Listed, err error) {
	all, err := List()
	for _, s := range all {
		list = append(list, s.newListed())
	}
	return list, err
}

// shownData is how many datasets a list names.
const shownData = 5

// firstNames returns the first names of datasets, and how many more there are: "cub cars and 3 more".
func firstNames(datasets []string) string {
	shown := text.First(datasets, shownData)
	if n := len(datasets) - len(shown); n > 0 {
		shown = append(slices.Clone(shown), fmt.Sprintf("and %d more", n))
	}
	return strings.Join(shown, " ")
}

// WriteTable writes studies as a table.
func WriteTable(to io.Writer, all []Listed) error {
	w := text.NewTable(to)
	w.Row("study", "what", "source", "data", "cells a seed")
	for _, s := range all {
		w.Row(s.Name, s.Title, s.Paper+", "+s.Source, firstNames(s.Datasets), strconv.Itoa(s.Cells))
	}
	return w.Flush()
}

func (s *Study) newListed() Listed {
	return Listed{
		s.Name, s.Title, s.Paper, s.Source, s.Datasets(), s.Cells(), len(s.Rows), len(s.Columns), len(s.Claims),
	}
}
