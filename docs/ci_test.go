package docs

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/winnowtest"
)

// TestCIFiles parses the files of docs/ci and runs their commands "winnow check" in a repository. The main branch is
// checked without failures; a branch that adds a copy of an image with another label fails.
func TestCIFiles(t *testing.T) {
	orttest.Runtime(t)
	files, err := filepath.Glob("ci/*")
	if err != nil || len(files) != 4 {
		t.Fatalf("found %v, %v; expected four files", files, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	program := fmt.Sprintf("#!/bin/sh\n%s=yes exec %q \"$@\"\n", winnowtest.Variable, self)
	if err := os.WriteFile(filepath.Join(bin, "winnow"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	paths := layRepository(t, dir)
	run := func(script string) (string, error) {
		c := exec.Command("bash", "-ec", script)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RUNNER_TEMP="+t.TempDir(),
			"BASE=origin/main", "MODEL=glyphnet", "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := run(`git init -q . && git add labels.csv && git -c user.name=a -c user.email=a@b commit -qm a &&
git update-ref refs/remotes/origin/main HEAD &&
winnow check labels.csv --root . --baseline labels.baseline.json --update-baseline`); err != nil {
		t.Fatal(err, out)
	}
	for _, fails := range []bool{false, true} {
		if fails {
			script := fmt.Sprintf("cp %q images/copy.png && echo images/copy.png,%s,train >>labels.csv", paths[0],
				filepath.Base(filepath.Dir(paths[len(paths)-1])))
			if out, err := run(script); err != nil {
				t.Fatal(err, out)
			}
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var content any
			if err := yaml.Unmarshal(text, &content); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			scripts := findScripts(content)
			if len(scripts) != 1 {
				t.Fatalf("%s: %d commands, expected one", file, len(scripts))
			}
			out, err := run(scripts[0])
			if fails != (err != nil) || fails && !strings.Contains(out, "one image under two labels") {
				t.Errorf("%s: %v, expected failure %t:\n%s", file, err, fails, out)
			}
		}
	}
	var quality []struct {
		Fingerprint string
		Location    struct{ Lines struct{ Begin int } }
	}
	text, err := os.ReadFile(filepath.Join(dir, "findings.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &quality); err != nil || len(quality) == 0 ||
		quality[0].Location.Lines.Begin != 2 {
		t.Errorf("GitLab's report: %v, %s", err, text)
	}
}

// layRepository writes drawn characters to images, a folder for each class, and labels.csv. It returns their paths.
func layRepository(t *testing.T, dir string) (paths []string) {
	d, files, err := glyphs.New(glyphs.Config{Classes: 12, Images: 6, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	list := "path,label,split\n"
	for i, s := range d.Samples {
		path := fmt.Sprintf("images/%s/%d.png", d.Classes[s.Label], i)
		data, err := fs.ReadFile(files, s.Path)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, path), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
		list += fmt.Sprintf("%s,%s,%s\n", path, d.Classes[s.Label], datasets.Train)
	}
	if err := os.WriteFile(filepath.Join(dir, "labels.csv"), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	return paths
}

// findScripts returns the texts in a document that contain the command winnow check.
func findScripts(content any) (list []string) {
	switch v := content.(type) {
	case string:
		if strings.Contains(v, "winnow check ") {
			list = append(list, v)
		}
	case []any:
		for _, item := range v {
			list = append(list, findScripts(item)...)
		}
	case map[string]any:
		for _, item := range v {
			list = append(list, findScripts(item)...)
		}
	}
	return list
}
