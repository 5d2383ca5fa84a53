package catalogs

import (
	"io"
	"strings"

	"winnow/cmd/winnow/page"
	"winnow/eval"
	"winnow/internal/text"
)

var metricCatalog = catalog[eval.Entry]{
	name:        "metrics",
	usage:       "list the metrics, or describe one: formula, settings, paper and equation",
	description: "The metrics of winnow eval --metrics and of the audit.",
	all:         func() []eval.Entry { return eval.Catalog },
	find:        eval.Find,
	head:        []string{"NAME", "MEASURES", "NEEDS", "SOURCE"},
	row: func(e eval.Entry) []string {
		m := newMetric(e)
		return []string{m.Name, m.Title, m.Needs, m.source()}
	},
	json: func(e eval.Entry) any { return newMetric(e) },
	markdown: func(list []eval.Entry) [][]string {
		rows := [][]string{{"metric", "numbers", "needs", "command", "source", "settings and defaults"}}
		for _, e := range list {
			m := newMetric(e)
			rows = append(rows, []string{"`" + m.Name + "`", m.labels(), m.Needs, "`" + m.Command + "`", m.source(),
				defaults(m.Settings)})
		}
		return rows
	},
	describe: writeMetric,
}

// Metric is an entry of the catalog as JSON.
type Metric struct {
	Name     string        `json:"name"`
	Title    string        `json:"title"`
	Paper    string        `json:"paper"`
	Equation string        `json:"equation,omitempty"`
	Formula  string        `json:"formula"`
	Numbers  []eval.Number `json:"numbers"`
	Settings []Setting     `json:"settings"`
	Needs    string        `json:"needs"`
	Cost     string        `json:"cost"`
	Command  string        `json:"command"`
}

// newMetric describes an entry of the catalog.
func newMetric(e eval.Entry) Metric {
	m := Metric{
		Name: e.Name, Title: e.Title, Paper: e.Paper, Equation: e.Equation, Formula: e.Formula,
		Numbers: e.Numbers, Cost: e.Cost, Settings: newSettings(e.Settings),
		Command: "winnow " + e.Command, Needs: "labels",
	}
	switch {
	case e.Truth:
		m.Needs = "true labels"
	case e.Train:
		m.Needs = "labels, a split to fit on"
	}
	if e.Measure != nil {
		m.Command += " --metrics " + e.Name
	}
	return m
}

// labels names the metric's numbers.
func (m Metric) labels() string {
	var labels []string
	for _, n := range m.Numbers {
		labels = append(labels, n.Label)
	}
	return strings.Join(labels, ", ")
}

// source names the metric's paper and equation.
func (m Metric) source() string { return page.Source(m.Paper, m.Equation) }

// writeMetric describes a metric for people.
func writeMetric(out io.Writer, e eval.Entry, _ Options) error {
	m := newMetric(e)
	w := text.NewTable(out)
	w.Row("name", m.Name)
	w.Row("measures", m.Title)
	key := "formula"
	for _, line := range strings.Split(m.Formula, "\n") {
		w.Row(key, line)
		key = ""
	}
	for _, n := range m.Numbers {
		w.Row(n.Label, n.Doc)
	}
	w.Row("needs", m.Needs)
	w.Row("takes", m.Cost)
	w.Row("source", m.source())
	w.Row("command", m.Command)
	if err := w.Flush(); err != nil {
		return err
	}
	return writeSettings(out, e.Settings)
}
