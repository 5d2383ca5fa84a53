package studio

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
	"winnow/report/review"
)

func TestFlagsBecomeOptions(t *testing.T) {
	t.Setenv("WINNOW_REVIEW_TOKEN", "")
	t.Chdir(t.TempDir())
	at := func(f review.Files) Options {
		return Options{Files: f, Listen: "127.0.0.1:0"}
	}
	m := location.At("m.csv")
	all := Options{Files: review.Files{Audit: "s.csv", Manifest: m, Root: location.At("r"), Decisions: "d.db",
		Out: "o.csv", Features: "f", Model: "x.onnx"}, Listen: "[::1]:80",
		OpenPage: true, Hosts: []string{"a", "b"}, Token: "0123456789abcdef"}
	for line, want := range map[string]Options{
		"s.csv --manifest m.csv":         at(review.Files{Audit: "s.csv", Manifest: m}),
		"--audit s.csv --manifest m.csv": at(review.Files{Audit: "s.csv", Manifest: m}),
		"--audit s.csv --manifest m.csv --root r --decisions d.db -o o.csv --features f --model x.onnx " +
			"--listen [::1]:80 --open --allow-host a --allow-host b --token 0123456789abcdef": all,
		"s.csv --manifest m.csv --check": at(review.Files{Audit: "s.csv", Manifest: m, Draw: 60}),
		"s.csv --manifest m.csv --names k.csv --reviewer Ann": at(review.Files{Audit: "s.csv", Manifest: m,
			Names: "k.csv", Reviewer: "Ann"}),
	} {
		got, err := termtest.Asked(t, newStudioCommand, strings.Fields(line)...)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if diff := cmp.Diff(&want, got, termtest.Sources); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestMisuse(t *testing.T) {
	for line, want := range map[string]string{
		"--manifest m.csv --audit s.csv x":     "takes one argument",
		"a.csv b.csv --manifest m.csv":         "takes one argument",
		"--manifest m.csv --check":             "name its list with --audit",
		"--manifest m.csv --audit s --model x": "--model goes with --features",
		"--manifest m.csv --audit s --reviewer " + strings.Repeat("x", 61): "--reviewer: the reviewer's name has " +
			"61 characters, expected at most 60",
		"--manifest m.csv --audit s --token short":       "--token: ",
		"--manifest m.csv --audit s --listen :80":        "write 0.0.0.0:80",
		"--manifest m.csv --audit s --listen everywhere": "expected HOST:PORT",
	} {
		_, err := termtest.Asked(t, newStudioCommand, strings.Fields(line)...)
		if _, misuse := err.(term.UsageError); !misuse || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", line, err, want)
		}
	}
}

// The argument of winnow studio names the images or, with --manifest, the list of their audit. A list that is not named
// is looked for.
func TestStudioBecomesOptions(t *testing.T) {
	t.Setenv("WINNOW_REVIEW_TOKEN", "")
	t.Chdir(t.TempDir())
	list := "path,given_label,suggested_label,score\na.png,cat,dog,0.1\n"
	for name, text := range map[string]string{"here/suspects.csv": list, "here/photos.csv": "path,label\na.png,cat\n",
		"here/suspects.features/store.json": "{}", "bare/photos.csv": "path,label\na.png,cat\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	here := filepath.Join("here", "suspects.csv")
	for line, want := range map[string]review.Files{
		"":                {Manifest: location.At(".")},
		"bare/photos.csv": {Manifest: location.At("bare/photos.csv")},
		"here/photos.csv": {Manifest: location.At("here/photos.csv"), Audit: here, Guessed: true},
		"bare/photos.csv --audit here/suspects.csv":    {Manifest: location.At("bare/photos.csv"), Audit: here},
		"here/suspects.csv --manifest bare/photos.csv": {Manifest: location.At("bare/photos.csv"), Audit: here},
	} {
		if want.Audit != "" {
			want.Features = filepath.Join("here", "suspects.features")
		}
		got, err := termtest.Asked(t, newStudioCommand, strings.Fields(line)...)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if diff := cmp.Diff(want, got.Files, termtest.Sources); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// What is missing is named with the command that makes it.
func TestMissing(t *testing.T) {
	o := Options{Files: review.Files{Manifest: location.At("my photos.csv"), Root: location.At("r")}}
	const command = "winnow audit 'my photos.csv' --root r"
	if got := listMissingCommands(o); got.Audit != command || got.Vectors != command {
		t.Errorf("got %+v", got)
	}
	if o.Audit, o.Features = "s.csv", "f"; listMissingCommands(o) != (review.Missing{}) {
		t.Errorf("got %+v", listMissingCommands(o))
	}
}

// Decisions are exported from the images that the argument or --manifest names.
func TestDecisionsBecomeOptions(t *testing.T) {
	f := review.Files{Manifest: location.At("m.csv"), Out: "o.csv", List: "d.csv"}
	for line, want := range map[string]ExportOptions{
		"export m.csv --out o.csv --decided d.csv --json": {Files: f, JSON: true},
		"status": {Files: review.Files{Manifest: location.At(".")}, Status: true},
	} {
		got, err := termtest.Asked(t, newDecisionsCommand, strings.Fields(line)...)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if diff := cmp.Diff(&want, got, termtest.Sources); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	for line, want := range map[string]string{
		"export m.csv":       "name the file to write with --out",
		"export a b --out c": "name the images once",
	} {
		_, err := termtest.Asked(t, newDecisionsCommand, strings.Fields(line)...)
		if _, misuse := err.(term.UsageError); !misuse || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", line, err, want)
		}
	}
}
