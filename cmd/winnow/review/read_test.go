package review

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		got, err := termtest.Asked(t, command, strings.Fields(line)...)
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
		_, err := termtest.Asked(t, command, strings.Fields(line)...)
		if _, misuse := err.(term.UsageError); !misuse || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", line, err, want)
		}
	}
}
