package studies

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"winnow/internal/text"
)

//go:embed figures.yaml
var figures []byte

// Item is a table or a figure of a paper, or a study of another question, with the studies or the command that make it.
type Item struct {
	Paper   string   `yaml:"paper"` // for example 001, or winnow
	Item    string   `yaml:"item"`  // for example Table I, or the study's title
	Studies []string `yaml:"studies"`
	Columns []string `yaml:"columns"` // columns of the study; none: all
	Command string   `yaml:"command"` // the command that makes the item, if no study does
	Why     string   `yaml:"why"`     // reason why the item cannot be made
	Data    []string `yaml:"data"`
}

// Items returns every table and figure of the papers in their order, followed by every study that makes no such item.
func Items() (all []Item, err error) {
	if err := yaml.UnmarshalWithOptions(figures, &all, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("reproduce: %s", yaml.FormatError(err, false, false))
	}
	list, err := List()
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		makes := func(it Item) bool { return slices.Contains(it.Studies, s.Name) }
		if !slices.ContainsFunc(all, makes) {
			all = append(all, Item{Paper: s.Paper, Item: s.Title, Studies: []string{s.Name}})
		}
		for i := range all {
			if it := &all[i]; makes(*it) {
				it.addData(s)
			}
		}
	}
	return all, nil
}

// addData adds the datasets of a study's columns.
func (it *Item) addData(s Study) {
	for _, column := range s.Columns {
		mine := len(it.Columns) == 0 || slices.Contains(it.Columns, column.Name)
		if mine && !slices.Contains(it.Data, column.Data) {
			it.Data = append(it.Data, column.Data)
		}
	}
}

// WriteItems writes items as a table.
func WriteItems(to io.Writer, all []Item) error {
	w := text.NewTable(to)
	w.Row("paper", "what", "made by", "data")
	for _, it := range all {
		by := it.Command
		switch {
		case it.Why != "":
			by = "– (" + it.Why + ")"
		case len(it.Studies) > 0:
			by = strings.Join(it.Studies, " ")
		}
		w.Row(it.Paper, it.Item, by, strings.Join(it.Data, " "))
	}
	return w.Flush()
}
