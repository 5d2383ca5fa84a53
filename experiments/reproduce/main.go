// Command reproduce computes the verdicts in the stored pages of studies and all tables of EXPERIMENTS.md from stored
// numbers. Run it from the repository's root after a change of a study's results.csv or of the rules of verdicts:
//
//	go -C experiments run ./reproduce
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/papers/studies"
)

// kept is a stored study: results.csv and report.md in a folder below experiments.
type kept struct {
	section string // section of EXPERIMENTS.md
	folder  string
	on      string // network and data
	measure string // whose table is shown; "": none
}

// stored lists the stored studies in the order of EXPERIMENTS.md.
var stored = []kept{
	{"001", "reproduce/prism-table2", "heads, birds", "p@1"},
	{"001", "reproduce/prism-figure2", "heads, birds", ""},
	{"001", "reproduce/prism-figure4", "drawn vectors", ""},
	{"001", "reproduce/prism-figure5", "heads, birds", ""},
	{"001", "reproduce/prism-figure6", "heads, birds", ""},
	{"001", "reproduce/prism-figure7", "heads, birds", ""},
	{"001", "reproduce/whole-prism-table2", "whole network, Omniglot, 600 steps", "p@1"},
	{"001", "networks/omniglot-noise", "whole network, Omniglot, 160 steps", "p@1"},
	{"001", "networks/birds-stages", "last stages of MobileNetV2, birds", "p@1"},
	{"002", "reproduce/bspml-table2", "heads, birds", "p@1"},
	{"002", "reproduce/bspml-lambda", "heads, birds", "p@1"},
	{"002", "reproduce/bspml-figure3", "heads, birds", ""},
	{"002", "reproduce/bspml-figure4", "heads, birds", ""},
	{"002", "networks/omniglot-bspml", "whole network, Omniglot", "p@1"},
	{"000", "reproduce/noisy-figure2", "heads, birds", "p@1"},
	{"000", "networks/omniglot-triplets", "whole network, Omniglot", "p@1"},
	{"003", "reproduce/adapted-table1", "heads, birds", "p@1"},
	{"003", "reproduce/adapted-figure4", "heads, MNIST", "ncm"},
	{"003", "reproduce/whole-adapted-figure4", "whole LeNet, MNIST", "ncm"},
	{"004", "scl_rhe/table3", "heads, CIFAR-10, 100 epochs", "probe"},
	{"004", "scl_rhe/table3-short", "heads, CIFAR-10, 10 epochs", "probe"},
	{"004", "scl_rhe/table3-worse", "heads, CIFAR-10, 10 epochs", "probe"},
	{"004", "scl_rhe/table2", "heads, CIFAR-10, 10 epochs", "probe"},
	{"004", "networks/cifar-probes", "whole network, CIFAR-10", "probe-encoder"},
}

// plotted is the study whose chart EXPERIMENTS.md shows.
const plotted = "networks/omniglot-noise"

func main() {
	files, err := rendered("..")
	for path, text := range files {
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// rendered returns the pages with current verdicts by path in the repository.
func rendered(root string) (files map[string][]byte, err error) {
	files = map[string][]byte{}
	claims, numbers, left := map[string]string{}, map[string]string{}, map[string]int{}
	for _, s := range stored {
		folder := filepath.Join(root, "experiments", s.folder)
		r, enough, seeds, err := read(folder)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(folder, "report.md")
		page, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var today strings.Builder
		if err := r.Markdown(&today); err != nil {
			return nil, err
		}
		from, to := findClaims(string(page))
		was, is := findClaims(today.String())
		files[path] = []byte(string(page[:from]) + today.String()[was:is] + string(page[to:]))
		if s.folder == plotted {
			var plot bytes.Buffer
			if err := r.DrawCharts()[0].WriteSVG(&plot); err != nil {
				return nil, err
			}
			files[filepath.Join(folder, "plot.svg")] = plot.Bytes()
		}
		on := fmt.Sprintf("%s, %s", s.on, seeds)
		link := fmt.Sprintf("[%s](experiments/%s/report.md)", filepath.Base(s.folder), s.folder)
		for _, v := range r.TestClaims() {
			if !slices.ContainsFunc(v.Comparisons, func(c studies.Comparison) bool { return c.N >= fewest }) {
				left[s.section]++
				continue
			}
			claims[s.section] += fmt.Sprintf("| %s | %s | %s | %s | %s |\n", v.Claim.Say, on, v.DescribeState(),
				describeNumbers(v), link)
		}
		if s.measure != "" && enough.Len() > 0 {
			numbers[s.section] += fmt.Sprintf("\n%s, %s:\n\n%s", link, on, enough.MarkdownTable(s.measure))
		}
	}
	path := filepath.Join(root, "EXPERIMENTS.md")
	page, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := string(page)
	for _, section := range []string{"001", "002", "000", "003", "004"} {
		lines := claims[section]
		if lines != "" {
			lines = "| claim | tested on | verdict | numbers | |\n|---|---|---|---|---|\n" + lines
		}
		if n := left[section]; n > 0 {
			lines += fmt.Sprintf("\nClaims left out, because they were not run or with fewer than %d seeds: %d; "+
				"[pages](experiments/reproduce/README.md), [why](#what-is-not-decided-here).\n", fewest, n)
		}
		if text, err = between(text, section, lines+numbers[section]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	for section, print := range map[string]func(string) (string, error){"answer": answers, "judges": judges} {
		printed, err := print(root)
		if err == nil {
			text, err = between(text, section, printed)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	files[path] = []byte(text)
	return files, nil
}

// marked returns the comments before and after the printed part of a section.
func marked(section string) (begin, end string) {
	return fmt.Sprintf("<!-- printed: %s -->\n", section), "<!-- end -->\n"
}

// between replaces the printed part of a section.
func between(text, section, printed string) (string, error) {
	begin, end := marked(section)
	before, rest, ok := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("no part between %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + printed + end + after, nil
}
