package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"winnow/run/config"
)

// source matches the second comment line of a recipe: number and name of the paper, then a place in the paper.
var source = regexp.MustCompile(`^00[0-4] \([^)]+\), .*(Tables? |Fig\. |section )`)

// Every recipe file is listed under its name, with both comment lines.
func TestRecipes(t *testing.T) {
	list := config.Recipes()
	var names []string
	numbers := map[string]string{"noisy_triplet": "000", "prism": "001", "bspml": "002", "adapted_triplet": "003",
		"scl_rhe": "004"}
	for _, r := range list {
		names = append(names, r.Name)
		if r.Title == "" || !source.MatchString(r.Source) || !strings.HasPrefix(r.Source, numbers[r.Paper]+" ") ||
			numbers[r.Paper] == "" {
			t.Errorf("%s: title %q, source %q: expected a title, and a paper with table, figure or section", r.Name,
				r.Title, r.Source)
		}
		file, err := os.ReadFile(filepath.FromSlash(r.Name) + ".yaml")
		if err != nil || string(file) != r.Text || len(r.SHA256()) != 64 {
			t.Errorf("%s: the text differs from the file: %v", r.Name, err)
		}
		if strings.Contains(r.Text, "\t") || strings.Contains(r.Text, " \n") || !strings.HasSuffix(r.Text, "\n") {
			t.Errorf("%s: found tabs, spaces at the end of a line or no last newline", r.Name)
		}
	}
	for paper := range numbers {
		if main, err := config.FindRecipe(paper); err != nil || !main.Main() || main.Paper != paper {
			t.Errorf("%s: main recipe %q, %v, expected an existing recipe", paper, main.Name, err)
		}
	}
	onDisk, err := filepath.Glob("*/*.yaml")
	if err != nil || len(onDisk) != len(list) || len(list) == 0 || !slices.IsSorted(names) {
		t.Errorf("%d recipes listed, sorted %v; %d files, %v", len(list), slices.IsSorted(names), len(onDisk), err)
	}
}

// FindRecipe finds a recipe by its name, the main recipe by the name of its paper, and a recipe by its file name if no
// other paper has a file of this name.
func TestFindRecipe(t *testing.T) {
	seen, papers := map[string]int{}, map[string]bool{}
	for _, r := range config.Recipes() {
		papers[r.Paper] = true
		seen[r.Name[strings.Index(r.Name, "/")+1:]]++
	}
	for _, r := range config.Recipes() {
		if found, err := config.FindRecipe(r.Name); err != nil || found != r {
			t.Errorf("%s: found %q, %v", r.Name, found.Name, err)
		}
		bare := r.Name[strings.Index(r.Name, "/")+1:]
		if papers[bare] {
			continue
		}
		if found, err := config.FindRecipe(bare); seen[bare] == 1 && (err != nil || found != r) {
			t.Errorf("%s: found %q, %v", bare, found.Name, err)
		} else if seen[bare] > 1 && (err == nil || !strings.Contains(err.Error(), "in more than one paper")) {
			t.Errorf("%s is in %d papers: found %q, %v", bare, seen[bare], found.Name, err)
		}
	}
	for paper := range papers {
		if found, err := config.FindRecipe(paper); err != nil || found.Paper != paper || !found.Main() {
			t.Errorf("%s: found %q, %v; expected its main recipe", paper, found.Name, err)
		}
	}
	if _, err := config.FindRecipe("prism/mcl-vfm"); err == nil || !strings.Contains(err.Error(), "prism/mcl-vmf") {
		t.Error(err)
	}
}
