package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"winnow/internal/config"
	"winnow/internal/orttest"
)

// TestRecipes reads every recipe as train does and checks it whole.
func TestRecipes(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../../recipes", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		seen++
		c, err := config.Load(path, nil)
		if err != nil {
			t.Error(err)
			return nil
		}
		if c.Data.Manifest != "" || c.Data.Root != "" || c.Data.Features != "" || c.Data.Model != "" {
			t.Errorf("%s names data: %+v", path, c.Data)
		}
		c.Data = config.Data{Manifest: "m.csv", Root: "images", Features: "store", Model: "lenet"}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Fatalf("%d recipes, %v", seen, err)
	}
}

// TestRecipeDigits runs a few steps of the recipe for MNIST, from files as MNIST's to a trained network.
func TestRecipeDigits(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	writeDigits(t, dir, 60)
	manifest, out := filepath.Join(dir, "digits.csv"), filepath.Join(dir, "run")
	for _, args := range [][]string{
		{"data", "import", "--preset", "mnist", "--root", dir, "--out", manifest},
		{"models", "new", "digits", "--arch", "lenet"},
		{"train", "--config", "../../recipes/adapted_triplet/mnist.yaml", "--manifest", manifest, "--root", dir, "--model", "digits", "--batch", "3x8", "--steps", "6", "--out", out},
		{"eval", out},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), append([]string{"winnow", "--quiet", "--ort-lib", orttest.Runtime(t).Library()}, args...), &stdout, &stderr); code != 0 {
			t.Fatalf("%q: code %d, %s", args, code, stderr.String())
		}
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) == 0 {
		t.Errorf("found %v, %v", entries, err)
	}
}
