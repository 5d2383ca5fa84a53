package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
	"winnow/papers/recipes"
)

// TestReadmeCommands runs the five commands of the README on a small folder of pictures, as they stand there.
func TestReadmeCommands(t *testing.T) {
	orttest.Runtime(t)
	text, err := os.ReadFile(filepath.Join(reference.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := readmeBlock(t, string(text), "<!-- executed by cmd/winnow's tests")
	if len(commands) != 5 {
		t.Fatalf("the block holds %d commands, expected 5", len(commands))
	}
	t.Chdir(t.TempDir())
	t.Setenv("MODEL", "glyphnet") // the one backbone that is part of the program
	mustRun(t, "winnow data glyphs --out drawn --classes 24 --images 12")
	if err := os.Mkdir("photos", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, split := range []string{"train", "validation", "test"} { // a plain folder per class, as the README has it
		classes, err := filepath.Glob(filepath.Join("drawn", split, "*"))
		if err != nil || len(classes) == 0 {
			t.Fatal("no class was drawn", err)
		}
		for _, c := range classes {
			if err := os.Rename(c, filepath.Join("photos", filepath.Base(c))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, line := range commands {
		mustRun(t, line)
	}
	for _, name := range []string{"photos.csv", "features/features.npy", "run/head.winnow", "suspects.csv", "embedder.onnx"} {
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("%s was not made: %v", name, err)
		}
	}
	for _, line := range []string{"winnow eval run", "winnow eval run --json", "winnow data check photos.csv --root photos", "winnow train --out run --resume"} {
		mustRun(t, line)
	}
}

// readmeBlock returns the lines of the first sh block behind a mark.
func readmeBlock(t *testing.T, text, mark string) []string {
	t.Helper()
	_, text, found := strings.Cut(text, mark)
	if !found {
		t.Fatalf("README.md holds no %q", mark)
	}
	_, text, _ = strings.Cut(text, "```sh\n")
	text, _, _ = strings.Cut(text, "```")
	return strings.Split(strings.TrimSpace(text), "\n")
}

// mustRun runs one command line as a shell would split it (words and "$NAME" only).
func mustRun(t *testing.T, line string) string {
	t.Helper()
	args := strings.Fields(line)
	for i, a := range args {
		args[i] = os.ExpandEnv(strings.Trim(a, `"`))
	}
	var stdout, stderr bytes.Buffer
	if code := execute(context.Background(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", line, code, stdout.String(), stderr.String())
	}
	t.Logf("%s\n%s%s", line, stdout.String(), stderr.String())
	return stdout.String()
}

// TestReadmeCounts holds the README to the number of recipes there are.
func TestReadmeCounts(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(reference.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d settings of five papers", len(recipes.List())); !strings.Contains(string(text), want) {
		t.Errorf("README.md lacks %q", want)
	}
}
