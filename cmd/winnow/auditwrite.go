package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// auditWriter picks the format by the file's name; "" needs none.
func auditWriter(path string) func(io.Writer, audited) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return writeAuditCSV
	case ".json":
		return func(w io.Writer, a audited) error { return printJSON(w, a) }
	case ".jsonl":
		return func(w io.Writer, a audited) error {
			out := bufio.NewWriter(w)
			e := json.NewEncoder(out)
			for _, entry := range a.Images {
				if err := e.Encode(entry); err != nil {
					return err
				}
			}
			return out.Flush()
		}
	}
	if path == "" {
		return writeAuditCSV
	}
	return nil
}

func writeAuditCSV(w io.Writer, a audited) error {
	out := csv.NewWriter(w)
	truth := a.Detection != nil
	header := []string{"rank", "path", "given_label", "suggested_label", "score", "suggested_score", "dropped"}
	if truth {
		header = append(header, "true_label")
	}
	if err := out.Write(append(header, "nearest_with_given_label", "nearest_with_suggested_label", "fit", "outlier", "copies_with_other_labels")); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, e := range a.Images {
		record := []string{strconv.Itoa(e.Rank), e.Path, e.Given, e.Suggested, number(e.Score), number(e.SuggestedScore), strconv.FormatBool(e.Dropped)}
		if truth {
			record = append(record, e.True)
		}
		fit, copies := "", []string{}
		if e.Fit != nil {
			fit = number(*e.Fit)
		}
		for _, other := range e.Copies {
			copies = append(copies, other.Path)
		}
		record = append(record, strings.Join(e.SupportGiven, "|"), strings.Join(e.SupportSuggested, "|"), fit, strconv.FormatBool(e.Outlier), strings.Join(copies, "|"))
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func printAudit(w io.Writer, a audited, top int) {
	given, suggested := len("given"), len("suggested")
	for _, e := range first(a.Images, top) {
		given, suggested = max(given, utf8.RuneCountInString(shorten(e.Given))), max(suggested, utf8.RuneCountInString(shorten(e.Suggested)))
	}
	fmt.Fprintf(w, "%5s  %-9s  %-*s  %-*s  %s\n", "rank", "score", given, "given", suggested, "suggested", "image")
	for _, e := range first(a.Images, top) {
		better := e.Suggested
		if better == e.Given {
			better = "–" // none scores better
		}
		fmt.Fprintf(w, "%5d  %-9.3g  %-*s  %-*s  %s\n", e.Rank, e.Score, given, shorten(e.Given), suggested, shorten(better), e.Path)
	}
	fmt.Fprintf(w, "%d images judged by %s", len(a.Images), a.Scorer)
	if a.Suggests != "" {
		fmt.Fprintf(w, ", labels suggested by %s", a.Suggests)
	}
	if n := len(a.LeftOut); n > 0 {
		fmt.Fprintf(w, "; %d unreadable ones left out", n)
	}
	fmt.Fprintln(w)
	a.printFindings(w)
	if d := a.Detection; d != nil {
		fmt.Fprintf(w, "%d of %d labels are wrong: AUROC %.4f, AP %.4f; calling the lowest %.0f %% wrong: precision %.3f, recall %.3f, F1 %.3f; %.1f %% of the labels kept are right\n",
			d.Wrong, d.Samples, d.AUROC, d.AP, 100*a.Rate, d.Precision, d.Recall, d.F1, 100*d.FilterAccuracy)
	}
}

// shorten cuts a label that would spoil the table.
func shorten(label string) string {
	const most = 32
	if runes := []rune(label); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return label
}
