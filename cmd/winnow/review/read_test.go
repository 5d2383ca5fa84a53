package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/audit/learn"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
	"winnow/report/review"
	"winnow/run/rehearsal"
)

func TestFlagsBecomeOptions(t *testing.T) {
	t.Setenv("WINNOW_REVIEW_TOKEN", "")
	listed := review.Learning{Hint: "The list keeps its order. To learn from decisions what comes next and how many " +
		"labels are wrong, start winnow review with --features, the folder that the audit was made of."}
	for line, want := range map[string]Options{
		"s.csv --manifest m.csv": {Files: review.Files{Audit: "s.csv", Manifest: location.At("m.csv"),
			Learning: listed}, Listen: "127.0.0.1:0"},
		"--audit s.csv --manifest m.csv": {Files: review.Files{Audit: "s.csv", Manifest: location.At("m.csv"),
			Learning: listed}, Listen: "127.0.0.1:0"},
		"--audit s.csv --manifest m.csv --root r --decisions d.db -o o.csv --features f --model x.onnx " +
			"--listen [::1]:80 --open --allow-host a --allow-host b --token 0123456789abcdef": {
			Files: review.Files{Audit: "s.csv", Manifest: location.At("m.csv"), Root: location.At("r"),
				Decisions: "d.db", Out: "o.csv",
				Learning: review.Learning{Goal: learn.Find, Check: 60}}, Features: "f", Model: "x.onnx",
			Listen: "[::1]:80", OpenPage: true, Hosts: []string{"a", "b"}, Token: "0123456789abcdef"},
		"s.csv --manifest m.csv --check": {Files: review.Files{Audit: "s.csv", Manifest: location.At("m.csv"), Draw: 60,
			Learning: listed}, Listen: "127.0.0.1:0"},
		"s.csv --manifest m.csv --features f --check --until 2%": {Files: review.Files{Audit: "s.csv",
			Manifest: location.At("m.csv"),
			Learning: review.Learning{Goal: learn.Measure, Check: 60, Asked: true, Rule: "2%",
				Until: learn.Rule{Share: 0.02}}}, Features: "f", Listen: "127.0.0.1:0"},
		"s.csv --manifest m.csv --run r --check=false --goal teach": {Files: review.Files{Audit: "s.csv",
			Manifest: location.At("m.csv"), Learning: review.Learning{Goal: learn.Teach}}, Run: "r",
			Listen: "127.0.0.1:0"},
		"s.csv --manifest m.csv --features f --goal list": {Files: review.Files{Audit: "s.csv",
			Manifest: location.At("m.csv")}, Features: "f", Listen: "127.0.0.1:0"},
		"s.csv --manifest m.csv --names k.csv --reviewer Ann": {Files: review.Files{Audit: "s.csv",
			Manifest: location.At("m.csv"), Names: "k.csv", Reviewer: "Ann", Learning: listed}, Listen: "127.0.0.1:0"},
		"s.csv --simulate true_label --until 1% --goal measure --decisions 300 --check --features f --json": {
			Files: review.Files{Audit: "s.csv"}, Features: "f", JSON: true, Listen: "127.0.0.1:0", Simulate: true,
			Rehearsal: rehearsal.Options{Goal: learn.Measure, Decisions: 300, Check: 60,
				Until: learn.Rule{Share: 0.01}}},
		"--audit s.csv --simulate true_label": {Files: review.Files{Audit: "s.csv"}, Listen: "127.0.0.1:0",
			Simulate: true, Rehearsal: rehearsal.Options{Goal: learn.Find}},
		"--manifest m.csv --export --out o.csv --decided d.csv --json": {
			Files: review.Files{Manifest: location.At("m.csv"), Out: "o.csv", List: "d.csv",
				Learning: listed},
			Export: true, JSON: true, Listen: "127.0.0.1:0"},
	} {
		got, err := termtest.Asked(t, newReviewCommand, strings.Fields(line)...)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if diff := cmp.Diff(&want, got, termtest.Sources, cmpopts.IgnoreUnexported(Options{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestMisuse(t *testing.T) {
	for line, want := range map[string]string{
		"--manifest m.csv --audit s.csv x":                    "takes one argument",
		"a.csv b.csv --manifest m.csv":                        "takes one argument",
		"--manifest m.csv":                                    "the suspects are missing",
		"--manifest m.csv --check":                            "the suspects are missing",
		"s.csv --manifest m.csv --export --out o.csv --check": "--check goes with the suspects, without --export",
		"--manifest m.csv --export":                           "name the file to write with --out",
		"s.csv":                                               "--manifest missing",
		"s.csv --manifest m.csv --features f --goal best": "--goal: found \"best\", expected find, measure, teach or " +
			"list",
		"s.csv --manifest m.csv --until 1%":             "--until goes with --features",
		"s.csv --manifest m.csv --features f --until 1": "--until: found \"1\", expected a share of the images",
		"s.csv --simulate true_label --until 1":         "--until: found \"1\", expected a share of the images",
		"s.csv --simulate truth":                        "--simulate: found \"truth\", expected true_label",
		"--simulate true_label":                         "the suspects are missing",
		"s.csv --simulate true_label --goal all":        "--goal: found \"all\", expected find, measure or teach",
		"s.csv --simulate true_label --decisions 0":     "--decisions: found \"0\", expected with --simulate",
		"s.csv --simulate true_label --decisions d.db":  "expected with --simulate a number of decisions",
		"s.csv --simulate true_label --out o.csv":       "--out does not go with --simulate",
		"s.csv --simulate true_label --manifest m.csv":  "--manifest does not go with --simulate",
		"--manifest m.csv --audit s --json":             "--json goes with --export",
		"--manifest m.csv --audit s --model x":          "--model goes with --features",
		"--manifest m.csv --audit s --decided d.csv":    "--decided goes with --export",
		"--manifest m.csv --audit s --reviewer " + strings.Repeat("x", 61): "--reviewer: the reviewer's name has " +
			"61 characters, expected at most 60",
		"--manifest m.csv --audit s --token short":       "--token: ",
		"--manifest m.csv --audit s --listen :80":        "write 0.0.0.0:80",
		"--manifest m.csv --audit s --listen everywhere": "expected HOST:PORT",
	} {
		_, err := termtest.Asked(t, newReviewCommand, strings.Fields(line)...)
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
	hint := review.Learning{Hint: "The list keeps its order. To learn from decisions what comes next and how many " +
		"labels are wrong, start winnow review with --features, the folder that the audit was made of."}
	learning := review.Learning{Goal: learn.Find, Check: 60}
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
		"":                {Manifest: location.At("."), Learning: hint},
		"bare/photos.csv": {Manifest: location.At("bare/photos.csv"), Learning: hint},
		"here/photos.csv": {Manifest: location.At("here/photos.csv"), Audit: here, Guessed: true, Learning: learning},
		"bare/photos.csv --audit here/suspects.csv --goal list": {Manifest: location.At("bare/photos.csv"),
			Audit: here},
		"here/suspects.csv --manifest bare/photos.csv": {Manifest: location.At("bare/photos.csv"), Audit: here,
			Learning: learning},
	} {
		want.Home = review.Data
		got, err := termtest.Asked(t, newStudioCommand, strings.Fields(line)...)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if diff := cmp.Diff(want, got.Files, termtest.Sources); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
	for line, want := range map[string]string{
		"here/suspects.csv":               "is the list of an audit: name its images too",
		"a b":                             "takes one argument",
		"a --manifest m --audit s":        "expected no argument",
		"bare/photos.csv --check":         "--check goes with the list of an audit",
		"bare/photos.csv --format csv":    "--format goes with --out",
		"bare/photos.csv --listen :80":    "write 0.0.0.0:80",
		"bare/photos.csv --model x.onnx":  "--model goes with --features",
		"bare/photos.csv --token short":   "--token: ",
		"bare/photos.csv --goal whatever": "expected find, measure, teach or list",
	} {
		_, err := termtest.Asked(t, newStudioCommand, strings.Fields(line)...)
		if _, misuse := err.(term.UsageError); !misuse || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", line, err, want)
		}
	}
}

// The commands that export are read by winnow review.
func TestExports(t *testing.T) {
	t.Setenv("WINNOW_REVIEW_TOKEN", "")
	t.Chdir(t.TempDir())
	if err := os.WriteFile("m.csv", []byte("path,label\na.png,cat\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Files: review.Files{Manifest: location.At("m.csv"), Audit: "s.csv", Decisions: "d.db"}}
	list := listExportCommands(o)
	if len(list) != 6 {
		t.Errorf("%d commands: %v", len(list), list)
	}
	for form, line := range list {
		got, err := termtest.Asked(t, newReviewCommand, strings.Fields(line)[2:]...)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if found, err := got.FormOf(); err != nil || found != form || !got.Export || got.Decisions != "d.db" {
			t.Errorf("%s writes %q, expected %q: %v", line, found, form, err)
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
