package catalogs

import (
	"fmt"
	"io"
	"strings"

	settings "winnow/internal/catalog"
	"winnow/internal/text"
)

// Setting is a setting of an entry as JSON.
type Setting struct {
	Name    string `json:"name"`
	Symbol  string `json:"symbol,omitempty"`
	Default any    `json:"default"`
	Range   string `json:"range"`
	Doc     string `json:"doc"`

	Each map[string]string `json:"each,omitempty"` // allowed words and what each does
}

func newSettings(list []settings.Setting) []Setting {
	out := make([]Setting, len(list))
	for i, s := range list {
		out[i] = Setting{Name: s.Name, Symbol: s.Symbol, Default: s.Default, Range: s.Range(), Doc: s.Doc}
		for j, doc := range s.Each {
			if j == 0 {
				out[i].Each = map[string]string{}
			}
			out[i].Each[s.Choices[j]] = doc
		}
	}
	return out
}

// defaults lists names and defaults in one line.
func defaults(list []Setting) string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name+" "+settingText(s.Default))
	}
	return strings.Join(out, ", ")
}

// writeSettings writes a blank line and the table of an entry's settings, if it has any.
func writeSettings(out io.Writer, list []settings.Setting) error {
	if len(list) == 0 {
		return nil
	}
	w := text.NewTable(out)
	w.Row("\nSETTING", "DEFAULT", "RANGE", "MEANING")
	for _, s := range list {
		name, allowed := s.Name, s.Range()
		if s.Symbol != "" {
			name += " " + s.Symbol
		}
		if len(s.Each) > 0 {
			allowed = "one of"
		}
		w.Row(name, settingText(s.Default), allowed, s.Doc)
		for i, doc := range s.Each {
			w.Row("", "", "- "+s.Choices[i], doc)
		}
	}
	return w.Flush()
}

// settingText formats a value as --set takes it.
func settingText(value any) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ","), "[]")
}
