package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/run/config"
	"winnow/run/folder"
)

// parseRecipe parses and validates a recipe as winnow train does.
func parseRecipe(text string) (config.Run, error) {
	c, err := config.Parse("recipe", []byte(text), nil)
	if err == nil {
		err = c.Validate()
	}
	return c, err
}

func TestRecipes(t *testing.T) {
	for _, r := range config.Recipes() {
		c, err := parseRecipe(r.Text)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		if c.Data != (config.Data{}) || c.Seed != config.Default().Seed {
			t.Errorf("%s sets data or a seed: %+v, %d", r.Name, c.Data, c.Seed)
		}
		if c.Finetune.Weights = config.AllWeights; c.Method == config.Metric && c.Validate() != nil {
			t.Errorf("%s does not accept --finetune all: %v", r.Name, c.Validate())
		}
		if _, err := parseRecipe(strings.Replace(r.Text, "\nsolver:", "\nsolvr:", 1)); err == nil ||
			!strings.Contains(err.Error(), "unknown key solvr") {
			t.Errorf("%s: an unknown key was accepted: %v", r.Name, err)
		}
		code, text, stderr := call(context.Background(), "list", "recipes", r.Name)
		if code != 0 || text != r.Text {
			t.Errorf("recipes %s: code %d, %s", r.Name, code, stderr)
		}
		if code, text, stderr = call(context.Background(), "train", "--recipe", r.Name, "--defaults"); code != 0 {
			t.Fatalf("train --recipe %s --defaults: code %d, %s", r.Name, code, stderr)
		}
		if c, err = parseRecipe(r.Text); err != nil {
			t.Fatal(err)
		}
		if again, err := parseRecipe(text); err != nil || !cmp.Equal(config.Flatten(again), config.Flatten(c)) {
			t.Errorf("%s, resolved, differs from the recipe (%v): %s", r.Name, err, cmp.Diff(config.Flatten(c),
				config.Flatten(again)))
		}
	}
}

// unequal lists the recipes that differ from the other rows of their table as the paper states, with the difference.
var unequal = map[string]string{
	"prism/co-teaching":             "shuffled batches, and the schedule of its own code",
	"prism/co-teaching-plus":        "as co-teaching",
	"prism/co-teaching-temperature": "as co-teaching",
	"prism/f-correction":            "shuffled batches",
	"prism/mcl-avgsim-released":     "a whole network, by the settings of the released code",
	"prism/mcl-vmf-released":        "as mcl-avgsim-released",
	"prism/mcl-vmf-whole":           "a whole network, at one rate",
	"adapted_triplet/cub200-semi":   "also images without a label",
}

// TestRecipesAreFair checks that the rows of a paper's table have the same head, length, batches, solver and schedule,
// so that they can be compared.
func TestRecipesAreFair(t *testing.T) {
	type shared struct{ Head, Length, Sampler, Solver, Schedule any }
	of := func(c config.Run) shared {
		c.Sampler.Views = 1 // some methods use several views
		return shared{c.Head, c.Length, c.Sampler, c.Solver, c.Schedule}
	}
	first := map[string]shared{}
	for _, r := range config.Recipes() {
		c, err := parseRecipe(r.Text)
		if err != nil {
			t.Fatal(r.Name, err)
		}
		have := of(c)
		if unequal[r.Name] != "" {
			continue
		}
		table := r.Paper
		if table == "adapted_triplet" { // this paper's batches and lengths differ between datasets
			table = strings.TrimSuffix(strings.TrimSuffix(r.Name, "-adapted"), "-triplet")
		}
		if want, ok := first[table]; !ok {
			first[table] = have
		} else if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%s differs from the first row of its table:\n%s", r.Name, d)
		}
	}
}

// TestRecipesTrain trains a head for two steps with every recipe.
func TestRecipesTrain(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 3, 0.2)
	half := filepath.Join(w.dir, "half.csv") // classes 10 to 19 have no labels
	lines := strings.Split(readFile(t, w.manifest), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "c1") {
			path, _, _ := strings.Cut(line, ",")
			lines[i] = path + ",,train"
		}
	}
	write(t, half, strings.Join(lines, "\n"))
	for _, r := range config.Recipes() {
		c, err := parseRecipe(r.Text)
		if err != nil {
			t.Fatal(r.Name, err)
		}
		manifest, out := w.manifest, filepath.Join(w.dir, r.Name)
		if c.Sampler.Unlabelled > 0 {
			manifest = half
		}
		args := []string{"train", "--recipe", r.Name, "--manifest", manifest, "--root", w.dir, "--features", w.store,
			"--out", out, "--dim", "24", "--steps", "2", "--json"}
		if c.Finetune.On() {
			args = append(args, "--finetune", "none")
		}
		code, stdout, stderr := call(context.Background(), args...)
		var result folder.Result
		if err := json.Unmarshal([]byte(stdout), &result); code != 0 || err != nil || result.Steps != 2 ||
			result.Validation == nil {
			t.Errorf("%s: code %d, %v\n%s", r.Name, code, err, stderr)
			continue
		}
		var facts folder.Facts
		if err := json.Unmarshal([]byte(readFile(t, out, folder.FactsFile)), &facts); err != nil ||
			facts.Recipe != r.Name || facts.RecipeSHA256 != r.SHA256() {
			t.Errorf("%s: run.json contains %q, %s (%v)", r.Name, facts.Recipe, facts.RecipeSHA256, err)
		}
	}
}
