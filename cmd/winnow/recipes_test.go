package main

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/testing/orttest"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/recipes"
)

// parseRecipe parses and validates a recipe as train does.
func parseRecipe(text string) (config.Run, error) {
	c, err := config.Parse("recipe", []byte(text), nil)
	if err == nil {
		err = c.Validate()
	}
	return c, err
}

func TestRecipes(t *testing.T) {
	for _, r := range recipes.List() {
		c, err := parseRecipe(r.Text)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		if c.Data != (config.Data{}) || c.Seed != config.Default().Seed {
			t.Errorf("%s names data or a seed: %+v, %d", r.Name, c.Data, c.Seed)
		}
		if c.Finetune.Weights = config.AllWeights; c.Method == config.Metric && c.Validate() != nil {
			t.Errorf("%s does not take --finetune all: %v", r.Name, c.Validate())
		}
		if _, err := parseRecipe(strings.Replace(r.Text, "\nsolver:", "\nsolvr:", 1)); err == nil ||
			!strings.Contains(err.Error(), "unknown key solvr") {
			t.Errorf("%s: an unknown key was accepted: %v", r.Name, err)
		}
		code, text, stderr := call(context.Background(), "list", "recipes", r.Name)
		if code != 0 || text != r.Text {
			t.Errorf("recipes %s: code %d, %s", r.Name, code, stderr)
		}
		if code, text, stderr = call(context.Background(), "list", "recipes", "--resolved", r.Name); code != 0 {
			t.Fatalf("list recipes --resolved %s: code %d, %s", r.Name, code, stderr)
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

// unequal are the recipes that, as their paper says, differ in what the other rows of its table share.
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

// Rows of a paper's table can be compared only if they share head, length, batches, solver and schedule.
func TestRecipesAreFair(t *testing.T) {
	type shared struct{ Head, Length, Sampler, Solver, Schedule any }
	of := func(c config.Run) shared {
		c.Sampler.Views = 1 // some methods have several
		return shared{c.Head, c.Length, c.Sampler, c.Solver, c.Schedule}
	}
	first := map[string]shared{}
	for _, r := range recipes.List() {
		c, err := parseRecipe(r.Text)
		if err != nil {
			t.Fatal(r.Name, err)
		}
		have := of(c)
		if unequal[r.Name] != "" {
			continue
		}
		table := r.Paper
		if table == "adapted_triplet" { // its datasets have different batches and lengths
			table = strings.TrimSuffix(strings.TrimSuffix(r.Name, "-adapted"), "-triplet")
		}
		if want, ok := first[table]; !ok {
			first[table] = have
		} else if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%s differs from the first row of its table:\n%s", r.Name, d)
		}
	}
}

// TestRecipesTrain trains a head for two steps by every recipe.
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
	for _, r := range recipes.List() {
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
			t.Errorf("%s: run.json says %q, %s (%v)", r.Name, facts.Recipe, facts.RecipeSHA256, err)
		}
	}
}

// TestRecipeComments runs the commands in the recipes' comments, for two steps.
func TestRecipeComments(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 4, 0.2)
	t.Chdir(w.dir)
	lines := strings.Split(readFile(t, w.manifest), "\n")
	for i, line := range lines { // a test split of the trained classes, for the linear probe
		if strings.Contains(line, "/15.jpg") {
			lines[i] = strings.Replace(line, ",train", ",test", 1)
		}
	}
	write(t, "list.csv", strings.Join(lines, "\n"))
	ran := 0
	for _, r := range recipes.List() {
		for _, line := range strings.Split(r.Text, "\n") {
			line, found := strings.CutPrefix(line, "#    winnow ")
			words := strings.Fields(line)
			switch {
			case !found || len(words) == 0:
				continue
			case words[0] == "train" && !strings.Contains(line, "--model"):
				words = append(words, "--steps", "2", "--dim", "24", "--overwrite")
			case words[0] != "eval":
				continue // it trains a network: see TestRecipeDigits
			}
			for i, word := range words {
				if strings.HasSuffix(word, ".csv") {
					words[i] = "list.csv"
				} else if strings.HasSuffix(word, ".features") {
					words[i] = "store"
				}
			}
			mustCall(t, words...)
			ran++
		}
	}
	if ran < 4 {
		t.Errorf("%d commands were run, expected at least 4", ran)
	}
}

// Later settings win: defaults, recipe, --set, flags. --recipe excludes --config.
func TestRecipePrecedence(t *testing.T) {
	code, stdout, stderr := call(context.Background(), "train", "--defaults", "--recipe", "prism", "--set",
		"bank.size=77", "--set", "head.out=33", "--dim", "22", "--noise-rate", "0.25")
	c, err := parseRecipe(stdout)
	if code != 0 || err != nil {
		t.Fatalf("code %d, %v, %s", code, err, stderr)
	}
	if c.Bank.Size != 77 || c.Head.Out != 22 || c.Filter.Rate.Share != 0.25 || c.Filter.Scorer != "vmf" ||
		c.Sampler.Classes != 16 || c.Solver.LR.Value != 3e-4 || c.LogEvery != 1 {
		t.Errorf("found bank %d, dim %d, rate %v, filter %s, lr %v", c.Bank.Size, c.Head.Out, c.Filter.Rate,
			c.Filter.Scorer, c.Solver.LR)
	}
	for line, want := range map[string]string{
		"train --recipe prism --config x.yaml": "recipe and config are both",
		"train --recipe prism/vmf":             "there are prism/mcl-vmf,",
		"list recipes prism/mlc-vmf":           `"prism/mlc-vmf" is unknown (did you mean "prism/mcl-vmf"?)`,
		"train --recipe prism/co-teaching --loss triplet": "losses: found 1, expected none: co-teaching " +
			"has its own loss",
		"train --recipe prism --set nix=1":                            "unknown key nix",
		"list recipes prism bspml":                                    "at most one name",
		"list recipes nix":                                            `"nix" is unknown`,
		"list recipes contrastive --resolved --nope":                  "flag provided but not defined",
		"train --recipe prism --defaults --set bank.size=0":           "bank.size is 0",
		"train --recipe prism --defaults --set losses.7.weight=2":     "has 2 entries",
		"train --recipe prism --manifest m.csv --features f --loss x": `"x"`,
	} {
		if code, stdout, stderr := call(context.Background(), strings.Fields(line)...); code != 2 || stdout != "" ||
			!strings.Contains(stderr, want) {
			t.Errorf("%s: code %d, %q; expected 2 and %q", line, code, stderr, want)
		}
	}
}

// TestRecipeDigits runs a few steps of the recipe for MNIST, from files in MNIST's format to a trained network. The
// run has the recipe's settings, its network has changed, and eval measures it.
func TestRecipeDigits(t *testing.T) {
	library := orttest.Runtime(t).Library()
	dir := t.TempDir()
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	writeDigits(t, dir, 60)
	at := func(name string) string { return filepath.Join(dir, name) }
	run := func(args ...string) string {
		t.Helper()
		stdout, _ := mustCall(t, append([]string{"--quiet", "--ort-lib", library}, args...)...)
		return stdout
	}
	run("data", "import", "--preset", "mnist", "--root", dir, "--out", at("digits.csv"))
	run("models", "new", "digits", "--arch", "lenet", "--out", at("digits.onnx"))
	run("train", "--recipe", "adapted_triplet/mnist", "--manifest", at("digits.csv"), "--root", dir, "--model",
		"digits", "--batch", "3x8",
		"--steps", "6", "--screen", "none", "--out", at("run"))
	cfg, err := config.Load(filepath.Join(at("run"), folder.ConfigFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	if l := cfg.Losses[0]; len(cfg.Losses) != 1 || l.Name != "triplet" || l.Settings["select"] != "semihard" ||
		cfg.Head.Out != 64 || cfg.Bank.Size != 0 ||
		cfg.Filter.Scorer != config.NoFilter || cfg.BackboneSolver.LR.Value != 1e-3 || cfg.Finetune.Weights != "all" {
		t.Errorf("the run's settings are not the recipe's: %+v", cfg)
	}
	if drawn := readFile(t, at("digits.onnx")); readFile(t, at("run"), folder.LastBackboneFile) == drawn {
		t.Error("the network has not changed")
	}
	var result folder.Result
	if err := json.Unmarshal([]byte(readFile(t, at("run"), folder.ResultFile)), &result); err != nil ||
		result.Steps != 6 {
		t.Errorf("%v: the run says %+v, expected 6 steps", err, result)
	}
	// 59 of 60 images find their digit; another processor may round one of them the other way.
	if p := precisionOf(t, []byte(run("eval", at("run"), "--json"))); math.Abs(p-59./60) > 1.5/60 {
		t.Errorf("eval found P@1 %v", p)
	}
}
