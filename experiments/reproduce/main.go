// Command reproduce writes today's verdicts into the stored pages of the papers' studies, and the tables of claims into
// EXPERIMENTS.md. Run it from the repository's root after a study's results.csv or the rules of verdicts changed:
//
//	go run ./experiments/reproduce
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"winnow/papers/studies"
)

// stored are the studies in this folder, in the order of EXPERIMENTS.md.
var stored = []struct{ paper, folder, on string }{
	{"001", "prism-table2", "heads, birds"},
	{"001", "prism-figure2", "heads, birds"},
	{"001", "prism-figure6", "heads, birds"},
	{"001", "prism-figure7", "heads, birds"},
	{"001", "whole-prism-table2", "whole network, Omniglot"},
	{"001", "whole-prism-table2-20-small", "whole network, Omniglot"},
	{"002", "bspml-table2", "heads, birds"},
	{"002", "bspml-lambda", "heads, birds"},
	{"002", "bspml-figure3", "heads, birds"},
	{"002", "bspml-figure4", "heads, birds"},
	{"002", "whole-bspml-table2", "whole network, Omniglot"},
	{"000", "noisy-figure2", "heads, birds"},
	{"003", "adapted-table1", "heads, birds"},
	{"003", "adapted-figure4", "heads, MNIST"},
	{"003", "whole-adapted-figure4", "whole LeNet, MNIST"},
	{"004", "whole-sclrhe-table3", "whole network, CIFAR-10"},
}

func main() {
	files, err := rendered(".")
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

// rendered returns the pages with today's verdicts by path below the repository's root.
func rendered(root string) (files map[string][]byte, err error) {
	files = map[string][]byte{}
	tables := map[string]*bytes.Buffer{}
	for _, s := range stored {
		folder := filepath.Join(root, "experiments", "reproduce", s.folder)
		data, err := os.ReadFile(filepath.Join(folder, "results.csv"))
		if err != nil {
			return nil, err
		}
		r, err := studies.Read(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", folder, err)
		}
		for name, renew := range map[string]func(string) (string, error){
			"report.md": r.Renew, "report.html": r.RenewHTML,
		} {
			path := filepath.Join(folder, name)
			page, err := os.ReadFile(path)
			if os.IsNotExist(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			text, err := renew(string(page))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			files[path] = []byte(text)
		}
		t := tables[s.paper]
		if t == nil {
			t = bytes.NewBufferString("| claim | tested on | verdict | numbers | |\n|---|---|---|---|---|\n")
			tables[s.paper] = t
		}
		on := fmt.Sprintf("%s, %s", s.on, r.Seeds())
		for _, v := range r.Verdicts() {
			fmt.Fprintf(t, "| %s | %s | %s | %s | [%s](experiments/reproduce/%s/report.md) |\n", v.Claim, on, v.Says,
				v.Numbers, s.folder, s.folder)
		}
	}
	path := filepath.Join(root, "EXPERIMENTS.md")
	page, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := string(page)
	for paper, table := range tables {
		if text, err = between(text, paper, table.String()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	files[path] = []byte(text)
	return files, nil
}

// between replaces the table of a paper's claims.
func between(text, paper, table string) (string, error) {
	begin := fmt.Sprintf("<!-- claims of %s -->\n", paper)
	before, rest, ok := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !closed {
		return "", fmt.Errorf("found no table between %q and %q", strings.TrimSpace(begin), "<!-- end -->")
	}
	return before + begin + table + "<!-- end -->\n" + after, nil
}
