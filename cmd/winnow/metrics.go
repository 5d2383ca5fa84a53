package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"winnow/eval"
)

func metricsCommand() *cli.Command {
	return &cli.Command{
		Name:      "metrics",
		Usage:     "list the metrics, or say all about one",
		ArgsUsage: "[NAME]",
		Description: "What winnow eval --metrics takes, and what the audit measures: formula, settings with their defaults,\n" +
			"paper and equation.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "as JSON"},
			&cli.BoolFlag{Name: "markdown", Usage: "the list as the table of the README"},
		},
		Action: metricsRun,
	}
}

// listedMetric is an entry of the catalog as JSON.
type listedMetric struct {
	Name     string          `json:"name"`
	Title    string          `json:"title"`
	Paper    string          `json:"paper"`
	Equation string          `json:"equation,omitempty"`
	Formula  string          `json:"formula"`
	Numbers  []eval.Number   `json:"numbers"`
	Settings []listedSetting `json:"settings"`
	Needs    string          `json:"needs"`
	Cost     string          `json:"cost"`
	Command  string          `json:"command"`
}

// listedSetting is one of its settings.
type listedSetting struct {
	Name    string `json:"name"`
	Default any    `json:"default"`
	Range   string `json:"range"`
	Meaning string `json:"meaning"`
}

func metricsRun(c *cli.Context) error {
	if c.NArg() > 1 {
		return misused("%s: found %d arguments, expected at most one name", c.Command.HelpName, c.NArg())
	}
	list := make([]listedMetric, len(eval.Catalog))
	for i, e := range eval.Catalog {
		list[i] = listMetric(e)
	}
	if name := c.Args().First(); name != "" {
		e, err := eval.Find(name)
		if err != nil {
			return asMisuse(err)
		}
		if c.Bool("json") {
			return printJSON(c.App.Writer, listMetric(e))
		}
		return writeMetric(c.App.Writer, listMetric(e))
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, list)
	}
	if c.Bool("markdown") {
		return writeMetricTable(c.App.Writer, list)
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tNUMBERS\tNEEDS\tCOMMAND\tSOURCE")
	for _, m := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", m.Name, m.labels(), m.Needs, m.Command, shortened(m.source(), 60))
	}
	return w.Flush()
}

// writeMetricTable writes the table of the README.
func writeMetricTable(out io.Writer, list []listedMetric) error {
	text := "| metric | numbers | needs | command | source | settings and defaults |\n|---|---|---|---|---|---|\n"
	for _, m := range list {
		var settings []string
		for _, s := range m.Settings {
			settings = append(settings, s.Name+" "+settingText(s.Default))
		}
		text += fmt.Sprintf("| `%s` | %s | %s | `%s` | %s | %s |\n", m.Name, m.labels(), m.Needs, m.Command, m.source(), strings.Join(settings, ", "))
	}
	_, err := io.WriteString(out, text)
	return err
}

func listMetric(e eval.Entry) listedMetric {
	m := listedMetric{
		Name: e.Name, Title: e.Title, Paper: e.Paper, Equation: e.Equation, Formula: e.Formula,
		Numbers: e.Numbers, Cost: e.Cost, Settings: []listedSetting{},
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
		m.Settings = append(m.Settings, listedSetting{s.Name, s.Default, s.Range(), s.Doc})
	}
	return m
}

func (m listedMetric) labels() string {
	var labels []string
	for _, n := range m.Numbers {
		labels = append(labels, n.Label)
	}
	return strings.Join(labels, ", ")
}

func (m listedMetric) source() string { return source(m.Paper, m.Equation) }

// writeMetric writes all about one metric for people.
func writeMetric(out io.Writer, m listedMetric) error {
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
		line(map[bool]string{true: "settings"}[i == 0], fmt.Sprintf("%s = %s: %s (%s)", s.Name, settingText(s.Default), s.Meaning, s.Range))
	}
	line("source", m.source())
	line("command", m.Command)
	return w.Flush()
}

// settingText writes a value as --set takes it.
func settingText(value any) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ","), "[]")
}
