// Package recipes holds the settings of five papers as data, one file for each: the recipes of winnow train.
//
//	noisy_triplet    000  Theoretical guarantees of deep embedding losses under label noise
//	prism            001  Noise-resistant deep metric learning with probabilistic instance filtering (PRISM)
//	bspml            002  Denoising multi-similarity formulation (BSPML, balanced self-paced metric learning)
//	adapted_triplet  003  Correcting the triplet selection bias for triplet loss
//	scl_rhe          004  SCL-RHE, supervised contrastive learning robust to human labelling errors
//
// A file is a configuration file of winnow train. Its first comment line says what it is, the second where it is in the
// paper, the others what the paper states and what was chosen here. Folders of recipes hold no code except this file,
// since Go can embed only files below it. It does not parse configurations.
package recipes

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"winnow/internal/catalog"
)

//go:embed */*.yaml
var files embed.FS

// mains are the recipes that the name of a paper's folder stands for: the method as the paper proposes it.
var mains = map[string]string{
	"noisy_triplet":   "noisy_triplet/triplet-random",
	"prism":           "prism/mcl-vmf",
	"bspml":           "bspml/bspml",
	"adapted_triplet": "adapted_triplet/cub200",
	"scl_rhe":         "scl_rhe/scl-rhe",
}

// Recipe is one setting of one paper.
type Recipe struct {
	Name   string // folder and file without its ending: prism/mcl-vmf
	Paper  string // the folder
	Title  string // the first comment line
	Source string // paper, table and row: the second comment line
	Text   string // the whole file
}

// SHA256 returns the sum of the file, in hexadecimal digits.
func (r Recipe) SHA256() string {
	sum := sha256.Sum256([]byte(r.Text))
	return hex.EncodeToString(sum[:])
}

// Main reports whether the name of the paper's folder stands for this recipe.
func (r Recipe) Main() bool { return mains[r.Paper] == r.Name }

// List returns every recipe, by name.
func List() []Recipe {
	var list []Recipe
	names, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		panic("recipes: " + err.Error()) // only for a bad pattern
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic("recipes: " + err.Error()) // it is part of the program
		}
		list = append(list, readRecipeText(name, string(text)))
	}
	slices.SortFunc(list, func(a, b Recipe) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// readRecipeText makes a recipe from a file's name and comment lines.
func readRecipeText(file, text string) Recipe {
	lines := strings.SplitN(text, "\n", 3)
	comment := func(i int) string {
		if i >= len(lines) || !strings.HasPrefix(lines[i], "# ") {
			return ""
		}
		return strings.TrimSuffix(strings.TrimPrefix(lines[i], "# "), ".")
	}
	return Recipe{Name: strings.TrimSuffix(file, ".yaml"), Paper: path.Dir(file), Title: comment(0),
		Source: comment(1), Text: text}
}

// Find returns the recipe with this name. A paper's name stands for its main recipe, and a recipe's name without the
// paper is enough if no other paper has one of that name. The error for an unknown name lists similar ones.
func Find(name string) (Recipe, error) {
	list := List()
	if main, ok := mains[name]; ok {
		name = main
	}
	var bare, like, folder []Recipe
	paper, _, _ := strings.Cut(name, "/")
	for _, r := range list {
		switch {
		case r.Name == name:
			return r, nil
		case path.Base(r.Name) == name:
			bare = append(bare, r)
		case isRecipeMeant(r, name):
			like = append(like, r)
		case r.Paper == paper:
			folder = append(folder, r)
		}
	}
	switch {
	case len(bare) == 1:
		return bare[0], nil
	case len(bare) > 1:
		return Recipe{}, fmt.Errorf(
			"recipes: %q: found in more than one paper, expected %s",
			name,
			joinRecipeNames(bare, " or "),
		)
	case len(like) == 0:
		like = folder
	}
	var known []string
	for _, r := range list {
		known = append(known, r.Name, path.Base(r.Name))
	}
	papers := slices.Sorted(maps.Keys(mains))
	ask := catalog.Ask(name, append(known, papers...))
	switch {
	case len(like) > 0:
		return Recipe{}, fmt.Errorf("recipes: %q is unknown%s: there are %s", name, ask, joinRecipeNames(like, ", "))
	case ask != "":
		return Recipe{}, fmt.Errorf("recipes: %q is unknown%s: there are %d recipes of %s", name, ask, len(list),
			strings.Join(papers, ", "))
	}
	return Recipe{}, fmt.Errorf("recipes: %q is unknown and resembles none of the %d recipes of %s", name, len(list),
		strings.Join(papers, ", "))
}

// isRecipeMeant reports whether a person may have meant a recipe: its name contains every part of the written name, in
// any order.
func isRecipeMeant(r Recipe, name string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(r.Name, p) })
}

func joinRecipeNames(list []Recipe, between string) string {
	var all []string
	for _, r := range list {
		all = append(all, r.Name)
	}
	return strings.Join(all, between)
}
