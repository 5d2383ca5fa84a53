// Package inventory lists every table and figure of the papers, then the studies of other questions: what makes it,
// from which data, and how long that takes, as far as the time of a step was measured.
package inventory

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"winnow/internal/text"
	"winnow/papers/runner"
	"winnow/papers/studies"
)

//go:embed figures.yaml
var figures []byte

// Item is a table or a figure of a paper, or a study of another question.
type Item struct {
	Paper   string   `yaml:"paper" json:"paper"` // 001, or winnow
	Item    string   `yaml:"item" json:"item"`   // Table I, or the study's title
	Studies []string `yaml:"studies" json:"studies,omitempty"`
	Columns []string `yaml:"columns" json:"columns,omitempty"` // of the study; none: all
	Command string   `yaml:"command" json:"command,omitempty"` // if no study makes it
	Why     string   `yaml:"why" json:"why_not,omitempty"`     // why it cannot be run
	Data    []string `yaml:"data" json:"data,omitempty"`
	Cells   int      `yaml:"-" json:"cells_a_seed,omitempty"`
	Seeds   int      `yaml:"-" json:"seeds,omitempty"`
	Heads   Time     `yaml:"-" json:"heads_2_cores"`    // on stored features
	Whole   Time     `yaml:"-" json:"networks_2_cores"` // with the whole network fine-tuned
	GPU     Time     `yaml:"-" json:"networks_gpu"`
}

// Time is how long all seeds take.
type Time struct {
	Hours   float64 `json:"hours,omitempty"`    // 0: not known
	AtLeast bool    `json:"at_least,omitempty"` // evaluating takes longer: the data are much larger than those measured
	Of      string  `json:"estimated_from"`     // the measurement, or why there is none
	From    string  `json:"source,omitempty"`
}

// Texts for unknown times.
const (
	notMeasured = "not measured"
	noTraining  = "–"
)

// List returns every table and figure, in the papers' order, then every study that makes none.
func List() ([]Item, error) {
	var all []Item
	if err := yaml.UnmarshalWithOptions(figures, &all, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("inventory: %s", yaml.FormatError(err, false, false))
	}
	list, err := studies.List()
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if !slices.ContainsFunc(all, func(it Item) bool { return slices.Contains(it.Studies, s.Name) }) {
			all = append(all, Item{Paper: s.Paper, Item: s.Title, Studies: []string{s.Name}})
		}
	}
	for i := range all {
		if err := all[i].count(list); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// count fills in data, cells and times from the item's studies.
func (it *Item) count(list []studies.Study) error {
	it.Heads.Of, it.Whole.Of, it.GPU.Of = noTraining, noTraining, noTraining
	if it.Command != "" {
		it.Heads.Of, it.Whole.Of, it.GPU.Of = notMeasured, notMeasured, notMeasured
	}
	for k, name := range it.Studies {
		at := slices.IndexFunc(list, func(s studies.Study) bool { return s.Name == name })
		if at < 0 {
			return fmt.Errorf("inventory: %s: there is no study %s", it.Item, name)
		}
		s := list[at]
		for _, column := range s.Columns {
			if it.has(column.Name) && !slices.Contains(it.Data, column.Data) {
				it.Data = append(it.Data, column.Data)
			}
		}
		it.Seeds = s.Seeds
		steps, cells, err := it.steps(&s)
		if err != nil {
			return err
		}
		it.Cells += cells
		largest := 0
		for _, column := range s.Columns {
			if it.has(column.Name) {
				largest = max(largest, trained(name, column.Data))
			}
		}
		heads := estimated(heads, name, steps*s.Seeds, largest)
		whole := estimated(networks, name, steps*s.Seeds, largest)
		gpu := Time{Of: notMeasured}
		switch {
		case s.Drawn():
			heads, whole, gpu = Time{Of: notMeasured}, Time{Of: noTraining}, Time{Of: noTraining}
		case runner.Finetunes(&s):
			heads = Time{Of: noTraining}
		}
		if k == 0 {
			it.Heads, it.Whole, it.GPU = heads, whole, gpu
			continue
		}
		it.Heads, it.Whole = it.Heads.and(heads), it.Whole.and(whole)
	}
	return nil
}

// has reports whether a column is the item's.
func (it *Item) has(column string) bool {
	return len(it.Columns) == 0 || slices.Contains(it.Columns, column)
}

// steps adds up the steps of all trainings of a seed, and the cells. steps is below 0 if the number of a dataset's
// images is unknown.
func (it *Item) steps(s *studies.Study) (steps, cells int, err error) {
	unknown := false
	for j, column := range s.Columns {
		if !it.has(column.Name) {
			continue
		}
		for i, row := range s.Rows {
			if !row.Runs() || slices.Contains(row.Skip, column.Name) {
				continue
			}
			choices := max(len(s.Choices(row)), 1)
			cells += choices
			if row.Recipe == "" {
				continue
			}
			n, err := runner.Steps(*s, i, j, trained(s.Name, column.Data))
			if err != nil {
				return 0, 0, err
			}
			unknown = unknown || n == 0
			steps += choices * n
		}
	}
	if unknown {
		steps = -1
	}
	return steps, cells, nil
}

// trained returns the number of images of a dataset that a study trains on, or 0 if unknown.
func trained(study, dataset string) int {
	if n, ok := images[study+" "+dataset]; ok {
		return n
	}
	return images[dataset]
}

// larger is how many times as many images a dataset must have as the one measured for its evaluation to be said to
// take longer.
const larger = 4

// estimated returns the time of steps by the first rate that is for a study whose largest dataset trains on so many
// images.
func estimated(rates []rate, study string, steps, images int) Time {
	for _, r := range rates {
		switch {
		case !strings.HasPrefix(study, r.begins):
			continue
		case steps < 0:
			return Time{Of: "number of images unknown"}
		}
		return Time{Hours: r.seconds * float64(steps) / 3600, AtLeast: images > larger*r.images, Of: r.of, From: r.from}
	}
	return Time{Of: notMeasured}
}

// and adds the time of another study of the same item. If one is unknown, so is the sum.
func (t Time) and(other Time) Time {
	if t.Hours == 0 || other.Hours == 0 {
		if t.Hours > 0 {
			return other
		}
		return t
	}
	t.Hours += other.Hours
	t.AtLeast = t.AtLeast || other.AtLeast
	return t
}

// String returns a time and the measurement it was estimated from.
func (t Time) String() string {
	if t.Hours == 0 {
		return t.Of
	}
	about := text.About(time.Duration(t.Hours * float64(time.Hour)))
	if t.AtLeast {
		about = "over " + about
	}
	return about + " (" + t.Of + ")"
}

// WriteTable writes items as a table.
func WriteTable(to io.Writer, all []Item) error {
	w := text.NewTable(to)
	w.Row("paper", "what", "made by", "data", "cells a seed", "seeds", "heads, 2 cores", "networks, 2 cores",
		"networks, one GPU")
	for _, it := range all {
		by := it.Command
		switch {
		case it.Why != "":
			by = "– (" + it.Why + ")"
		case len(it.Studies) > 0:
			by = strings.Join(it.Studies, " ")
		}
		cells, seeds := noTraining, noTraining
		if it.Cells > 0 {
			cells, seeds = fmt.Sprint(it.Cells), fmt.Sprint(it.Seeds)
		}
		data := studies.First(it.Data)
		if data == "" {
			data = noTraining
		}
		w.Row(it.Paper, it.Item, by, data, cells, seeds, it.Heads.String(), it.Whole.String(), it.GPU.String())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(to, "\nTimes are for all seeds, estimated from the measurement in brackets: whole cells with "+
		"their evaluation for heads; steps alone for networks,\non the network measured, not the paper's. "+
		"\"Over\": the dataset is more than four times as large as the one measured, and evaluating on it takes "+
		"longer.\nThe JSON form has the source of each.\n")
	return err
}
