package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
)

// writeTree writes files into a folder and its subfolders.
func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// classes writes a folder of n classes with four files each.
func classes(t *testing.T, dir string, n int) {
	t.Helper()
	files := make(map[string]string)
	for class := range n {
		for i := range 4 {
			files[fmt.Sprintf("c%02d/%d.png", class, i)] = fmt.Sprintf("%d of %d", i, class)
		}
	}
	writeTree(t, dir, files)
}

// TestDataImport checks that split folders get winnow's split names, and that a folder's name may contain "=".
func TestDataImport(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "m.csv")
	classes(t, filepath.Join(dir, "a=b"), 10)
	for arg, want := range map[string]string{"a=b": datasets.Train, "a=b=val": datasets.Validation} {
		code, stdout, errs := call(t.Context(), "data", "import", filepath.Join(dir, arg), "--out", out)
		if code != 0 || !strings.HasPrefix(stdout, want+" ") || strings.Count(readFile(t, out), ","+want+"\n") != 40 {
			t.Errorf("%s: exit code %d: %s%s, expected 40 images of %s", arg, code, stdout, errs, want)
		}
	}
	code, stdout, errs := call(t.Context(), "data", "import", filepath.Join(dir, "a=b"), "--out", out, "--split",
		"train=0.5,val=0.5")
	if code != 0 || !strings.Contains(stdout, "validation ") || strings.Count(readFile(t, out), ",validation\n") != 20 {
		t.Errorf("exit code %d: %s%s, expected 20 images of validation", code, stdout, errs)
	}
}

// TestDataCheck checks that bad files, duplicates and leaks are listed, that they are errors with --strict, and that
// shortened lists are marked.
func TestDataCheck(t *testing.T) {
	a := newAlbum(t, 8)
	picture, err := os.ReadFile(filepath.Join(a.root, "c0", "000.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	list := "path,label,split\nc0/000.jpg,0,train\nc1/001.jpg,1,train\ncopy.jpg,1,test\n"
	files := map[string]string{"copy.jpg": string(picture)}
	for i := range 12 {
		list += fmt.Sprintf("half%02d.jpg,0,train\n", i)
		files[fmt.Sprintf("half%02d.jpg", i)] = string(picture[:len(picture)/2+i])
	}
	writeTree(t, a.root, files)
	writeTree(t, a.dir, map[string]string{"check.csv": list + "gone.jpg,0,train\nc0,0,train\nvast.jpg,0,train\n"})
	vast, err := os.Create(filepath.Join(a.root, "vast.jpg"))
	if err := errors.Join(err, vast.Truncate(3<<30), vast.Close()); err != nil { // a sparse file takes no disk space
		t.Fatal(err)
	}
	args := []string{"data", "check", filepath.Join(a.dir, "check.csv"), "--root", a.root}

	code, stdout, errs := call(t.Context(), args...)
	for _, want := range []string{"unreadable: 15\n", "  half00.jpg: png: ", "  … 5 more: --json lists all\n",
		"1 groups, 1 with different labels, 1 in two splits",
		"c0/000.jpg (0, train) copy.jpg (1, test)", "1 classes of test are also in train"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d: %s%s, want %q", code, stdout, errs, want)
		}
	}
	code, stdout, _ = call(t.Context(), append(args, "--json")...)
	var report datasets.CheckReport
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 {
		t.Fatalf("exit code %d: %v", code, err)
	}
	if len(report.Unreadable) != 15 || len(report.Duplicates) != 1 || !report.Duplicates[0].Leak ||
		bytes.Contains([]byte(stdout), []byte("null")) {
		t.Errorf("found %s, expected 15 unreadable files and one leak, and no null", stdout)
	}
	for i, want := range []string{"no such file or directory", "is a folder, expected a file",
		"file of 3221225472 bytes, expected at most 1073741824"} {
		if got := report.Unreadable[12+i]; got.Reason != want {
			t.Errorf("%s: found %q, expected %q", got.Path, got.Reason, want)
		}
	}
	if code, _, errs = call(t.Context(), append(args, "--strict")...); code != 1 || !strings.Contains(errs,
		"15 unreadable images and 1 images in two splits") {
		t.Errorf("--strict: exit code %d: %s", code, errs)
	}
}
