package catalogs

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"winnow/cmd/winnow/page"
	"winnow/eval"
)

// Metric is an entry of the catalog as JSON.
type Metric struct {
	Name     string          `json:"name"`
	Title    string          `json:"title"`
	Paper    string          `json:"paper"`
	Equation string          `json:"equation,omitempty"`
	Formula  string          `json:"formula"`
	Numbers  []eval.Number   `json:"numbers"`
	Settings []metricSetting `json:"settings"`
	Needs    string          `json:"needs"`
	Cost     string          `json:"cost"`
	Command  string          `json:"command"`
}

// metricSetting is a setting of a metric.
type metricSetting struct {
	Name    string `json:"name"`
	Default any    `json:"default"`
	Range   string `json:"range"`
	Meaning string `json:"meaning"`
}

// writeMetricTable writes the table in docs.
func writeMetricTable(out io.Writer, list []Metric) error {
	text := "| metric | numbers | needs | command | source | settings and defaults |\n|---|---|---|---|---|---|\n"
	for _, m := range list {
		var settings []string
		for _, s := range m.Settings {
			settings = append(settings, s.Name+" "+SettingText(s.Default))
		}
		text += fmt.Sprintf("| `%s` | %s | %s | `%s` | %s | %s |\n", m.Name, m.labels(), m.Needs, m.Command, m.source(),
			strings.Join(settings, ", "))
	}
	_, err := io.WriteString(out, text)
	return err
}

// newMetric describes an entry of the catalog.
func newMetric(e eval.Entry) Metric {
	m := Metric{
		Name: e.Name, Title: e.Title, Paper: e.Paper, Equation: e.Equation, Formula: e.Formula,
		Numbers: e.Numbers, Cost: e.Cost, Settings: []metricSetting{},
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
	for _, s := range e.Settings {
		m.Settings = append(m.Settings, metricSetting{s.Name, s.Default, s.Range(), s.Doc})
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
func writeMetric(out io.Writer, m Metric) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(key, text string) {
		for _, part := range strings.Split(text, "\n") {
			fmt.Fprintf(w, "%s\t%s\n", key, part)
			key = ""
		}
	}
	line("name", m.Name)
	line("measures", m.Title)
	line("formula", m.Formula)
	for _, n := range m.Numbers {
		line(n.Label, n.Doc)
	}
	line("needs", m.Needs)
	line("takes", m.Cost)
	for i, s := range m.Settings {
		line(map[bool]string{true: "settings"}[i == 0], fmt.Sprintf("%s = %s: %s (%s)", s.Name, SettingText(s.Default),
			s.Meaning, s.Range))
	}
	line("source", m.source())
	line("command", m.Command)
	return w.Flush()
}

// SettingText formats a value as --set takes it.
func SettingText(value any) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ","), "[]")
}
