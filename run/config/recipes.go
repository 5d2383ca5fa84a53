package config

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"winnow/internal/catalog"
)

// The recipes of winnow train: the settings of five papers as data, one file each.
//
//	noisy_triplet    000  Theoretical guarantees of deep embedding losses under label noise
//	prism            001  Noise-resistant deep metric learning with probabilistic instance filtering (PRISM)
//	bspml            002  Denoising multi-similarity formulation (BSPML, balanced self-paced metric learning)
//	adapted_triplet  003  Correcting the triplet selection bias for triplet loss
//	scl_rhe          004  SCL-RHE, supervised contrastive learning robust to human labelling errors
//
// Each file is a configuration file. Its first comment line is a title, the second names the place in the paper, and
// the others separate what the paper states from what was chosen here.
//
//go:embed */*.yaml
var recipeFiles embed.FS

// mainRecipes holds the recipe that the name of a paper's folder stands for: the method as the paper proposes it.
var mainRecipes = map[string]string{
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

// SHA256 returns the SHA-256 of the file in hexadecimal.
func (r Recipe) SHA256() string {
	sum := sha256.Sum256([]byte(r.Text))
	return hex.EncodeToString(sum[:])
}

// Main reports whether the name of the paper's folder stands for this recipe.
func (r Recipe) Main() bool { return mainRecipes[r.Paper] == r.Name }

// Recipes returns every recipe, by name.
func Recipes() (list []Recipe) {
	names, err := fs.Glob(recipeFiles, "*/*.yaml")
	if err != nil {
		panic("recipes: " + err.Error()) // impossible: the pattern is valid
	}
	for _, name := range names {
		text, err := recipeFiles.ReadFile(name)
		if err != nil {
			panic("recipes: " + err.Error()) // impossible: the file is embedded
		}
		list = append(list, readRecipeText(name, string(text)))
	}
	slices.SortFunc(list, func(a, b Recipe) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// readRecipeText makes a recipe from the name and the text of a file.
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

// FindRecipe returns the recipe with this name. The name of a paper stands for its main recipe. The name of a recipe
// without its paper is enough if no other paper has a recipe of that name.
func FindRecipe(name string) (Recipe, error) {
	if main, ok := mainRecipes[name]; ok {
		name = main
	}
	var found []Recipe
	var known []string
	for _, r := range Recipes() {
		if r.Name == name {
			return r, nil
		}
		if path.Base(r.Name) == name {
			found = append(found, r)
		}
		known = append(known, r.Name)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Recipe{}, fmt.Errorf("recipes: %q is unknown%s: winnow list recipes lists %d", name,
			catalog.Ask(name, known), len(known))
	}
	return Recipe{}, fmt.Errorf("recipes: %q is in more than one paper, expected %s or %s", name, found[0].Name,
		found[1].Name)
}
