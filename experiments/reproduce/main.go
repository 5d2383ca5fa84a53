// Command reproduce makes the stored pages of studies and all tables of EXPERIMENTS.md from stored numbers. After a
// change of a study's results.csv or of the rules of verdicts, run: go -C experiments run ./reproduce
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

// kept is a stored study: a folder below experiments with a results.csv, from which its report.md is made.
type kept struct {
	section string // section of EXPERIMENTS.md
	folder  string
	on      string // network and data
}

// stored lists the stored studies in the order of EXPERIMENTS.md.
var stored = []kept{
	{"001", "reproduce/prism-table2", "heads, birds"},
	{"001", "reproduce/prism-figure2", "heads, birds"},
	{"001", "reproduce/prism-figure3", "heads, birds"},
	{"001", "reproduce/prism-figure4", "drawn vectors"},
	{"001", "reproduce/prism-figure5", "heads, birds"},
	{"001", "reproduce/prism-figure6", "heads, birds"},
	{"001", "reproduce/prism-figure7", "heads, birds"},
	{"001", "reproduce/whole-prism-table2", "whole network, Omniglot, 600 steps"},
	{"001", "networks/omniglot-noise", "whole network, Omniglot, 160 steps"},
	{"001", "networks/photographs-prism", "whole MobileNetV2, birds"},
	{"002", "reproduce/bspml-table2", "heads, birds"},
	{"002", "reproduce/bspml-figure3", "heads, birds"},
	{"002", "reproduce/bspml-figure4", "heads, birds"},
	{"002", "reproduce/bspml-figure5", "heads, birds"},
	{"002", "networks/omniglot-bspml", "whole network, Omniglot"},
	{"000", "reproduce/noisy-figure2", "heads, birds"},
	{"000", "networks/omniglot-triplets", "whole network, Omniglot"},
	{"003", "reproduce/adapted-table1", "heads, birds"},
	{"003", "reproduce/adapted-figure4", "heads, MNIST"},
	{"003", "reproduce/adapted-figure6", "heads, MNIST"},
	{"003", "reproduce/whole-adapted-figure4", "whole LeNet, MNIST"},
	{"004", "scl_rhe/table3", "heads, CIFAR-10, 100 epochs"},
	{"004", "scl_rhe/table3-short", "heads, CIFAR-10, 10 epochs"},
	{"004", "scl_rhe/table3-worse", "heads, CIFAR-10, 10 epochs"},
	{"004", "networks/cifar-probes", "whole network, CIFAR-10"},
}

const plotted = "networks/photographs-prism" // the study whose chart EXPERIMENTS.md shows

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

// rendered returns the pages by path in the repository.
func rendered(root string) (files map[string][]byte, err error) {
	files = map[string][]byte{}
	decided, undecided, left := map[string]string{}, map[string]string{}, map[string]int{}
	for _, s := range stored {
		folder := filepath.Join(root, "experiments", s.folder)
		r, _, seeds, err := read(folder)
		if err != nil {
			return nil, err
		}
		var page bytes.Buffer
		if err := r.Markdown(&page); err != nil {
			return nil, err
		}
		files[filepath.Join(folder, "report.md")] = page.Bytes()
		if s.folder == plotted {
			var plot bytes.Buffer
			if err := r.DrawCharts()[0].WriteSVG(&plot); err != nil {
				return nil, err
			}
			files[filepath.Join(folder, "plot.svg")] = plot.Bytes()
		}
		link := fmt.Sprintf("[%s](experiments/%s/report.md), %s, %s", filepath.Base(s.folder), s.folder, s.on, seeds)
		var open []string
		for _, v := range r.TestClaims() {
			switch {
			case !slices.ContainsFunc(v.Comparisons, func(c studies.Comparison) bool { return c.N >= fewest }):
				left[s.section]++
			case v.State() == studies.CannotSay:
				open = append(open, v.Claim.Say)
			default:
				numbers := v.CountStates()
				if v.Of == 1 {
					numbers = v.Comparisons[0].Format()
				}
				decided[s.section] += fmt.Sprintf("| %s | %s | %s | %s |\n", v.Claim.Say, v.State(), numbers, link)
			}
		}
		if len(open) > 0 {
			undecided[s.section] += fmt.Sprintf("- %s: %s\n", link, strings.Join(open, "; "))
		}
	}
	path := filepath.Join(root, "EXPERIMENTS.md")
	page, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := string(page)
	for _, section := range []string{"001", "002", "000", "003", "004"} {
		lines := decided[section]
		if lines != "" {
			lines = "| claim | verdict | numbers | tested on |\n|---|---|---|---|\n" + lines
		}
		if undecided[section] != "" {
			lines += "\nCannot say:\n\n" + undecided[section]
		}
		if n := left[section]; n > 0 {
			lines += fmt.Sprintf("\nClaims left out, because they were not run or with fewer than %d seeds: %d; "+
				"[pages](experiments/reproduce/README.md), [why](#what-is-not-decided-here).\n", fewest, n)
		}
		if text, err = between(text, section, lines); err != nil {
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
