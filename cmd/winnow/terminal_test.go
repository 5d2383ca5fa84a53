package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTerminal checks that every command prints escape sequences in labels, paths and errors as text; JSON keeps them.
func TestTerminal(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const evil = "\x1b]0;pwned\a\u202egpj\u009b2J"
	manifest := write("m.csv", "path,label\na"+evil+".jpg,"+evil+"\nb.jpg,2\n")
	yaml := write("c.yaml", "lo"+evil+": 1\n")
	for _, args := range [][]string{
		{"data", "check", manifest},
		{"data", "check", manifest, "--json"},
		{"data", "check", "--" + evil, manifest},
		{"data", "check", evil},
		{evil},
		{"data", "corrupt", manifest, "--noise", evil, "--noise-rate", "0.1", "--out", filepath.Join(dir, evil)},
		{"train", "--config", yaml, "--print-config"},
		{"models", "show", evil},
		{"eval", evil},
		{"recipes", "show", evil},
	} {
		var out, errs bytes.Buffer
		execute(t.Context(), append([]string{"winnow"}, args...), &out, &errs)
		if len(args) == 4 && args[3] == "--json" {
			var report struct {
				Unreadable []struct{ Path string }
			}
			if err := json.Unmarshal(out.Bytes(), &report); err != nil || len(report.Unreadable) != 2 ||
				report.Unreadable[0].Path != "a"+evil+".jpg" {
				t.Errorf("%q: %v: found %q", args, err, out.String())
			}
			out.Reset()
		}
		if all := out.String() + errs.String(); strings.ContainsAny(all, "\x1b\a\u202e\u009b") {
			t.Errorf("%q printed %q", args, all)
		}
	}
}

// TestOneLine checks that a label or path with line feeds and tabs is printed on one line.
func TestOneLine(t *testing.T) {
	const label = "two\nlines\tin three"
	dir := t.TempDir()
	manifest := filepath.Join(dir, "m.csv")
	text := "path,label\n\"no\nimage.jpg\",\"" + label + "\"\n"
	for i := range 2 {
		name := fmt.Sprintf("%c\n.gif", 'a'+i)
		text += fmt.Sprintf("\"%s\",\"%s %d\"\n", name, label, i)
		if err := os.WriteFile(filepath.Join(dir, name),
			[]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,"+
				"\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found := mustRun(t, "winnow data check "+manifest)
	holds(t, found, `positive pair: two\nlines\tin three, two\nlines\tin three 0, two\nlines\tin three 1`+"\n",
		"\n  no\\nimage.jpg: ", `  a\n.gif (two\nlines\tin three 0, train) b\n.gif (two\nlines\tin three 1, train)`+
			"\n")
}

// TestStrictCheck checks that one unreadable image makes the exit code 1.
func TestStrictCheck(t *testing.T) {
	manifest := filepath.Join(t.TempDir(), "m.csv")
	if err := os.WriteFile(manifest, []byte("path,label\na.jpg,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]int{"--strict": 1, "--strict=false": 0} {
		var out, errs bytes.Buffer
		if code := execute(t.Context(), []string{"winnow", "data", "check", flag, manifest}, &out,
			&errs); code != want || !strings.Contains(out.String(), "unreadable: 1\n") {
			t.Errorf("%s: exit code %d: %s%s", flag, code, out.String(), errs.String())
		}
	}
}
