package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// Misuse of the command line exits with 2 before anything is done, says what was expected, and prints nothing on
// standard output.
func TestMisuse(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"winnow": "a command is missing",
		"winnow nix": `"nix" is not a command of winnow, expected audit, review, studio, data, ` +
			`models, extract, join, ` +
			"cluster, train, sweep, eval, report, map, export, embed, index, search, " +
			"reproduce, papers, " +
			"list, manual, runtime, doctor, quickstart, completion",
		"winnow data": "a command is missing",
		"winnow data impor": `"impor" is not a command of winnow data (did you mean "import"?), expected ` +
			"import, check, corrupt, topline, glyphs",
		"winnow extract --out x":                     "winnow extract: --manifest, --model missing",
		"winnow data import photos":                  "winnow data import: --out missing",
		"winnow data corrupt list.csv":               "winnow data corrupt: --out, --noise-rate missing",
		"winnow reproduce nothing":                   `study "nothing" is unknown`,
		"winnow reproduce prism-table1":              "--data is missing: NAME=MANIFEST,FEATURES for cars196",
		"winnow reproduce prism-table1 more":         "found prism-table1 more, expected one study",
		"winnow reproduce prism-table1 --data a=b,c": `found "a=b,c", expected NAME=`,
		"winnow reproduce prism-table1 --data nix":   "expected NAME=MANIFEST,FEATURES",
		"winnow quickstart extra":                    `winnow quickstart: found the argument "extra", expected none`,
		"winnow doctor extra":                        `winnow doctor: found the argument "extra", expected none`,
		"winnow runtime show extra":                  `winnow runtime show: found the argument "extra", expected none`,
		"winnow embed": "winnow embed takes a run folder, or --model FILE, and images: " +
			"found neither",
		"winnow embed run":                            "found run and no images",
		"winnow index photos":                         "winnow index: --out missing",
		"winnow search photo.jpg":                     "winnow search: --index missing",
		"winnow data check":                           "one manifest",
		"winnow audit help":                           "",
		"winnow trian --out x --quite":                `"trian" is not a command of winnow (did you mean "train"?)`,
		"winnow trian --quiet x":                      `"trian" is not a command of winnow (did you mean "train"?)`,
		"winnow data chek --strict m.csv":             `"chek" is not a command of winnow data (did you mean "check"?)`,
		"winnow --nope":                               "flag provided but not defined: -nope\n",
		"winnow --quite doctor":                       "flag provided but not defined: -quite (did you mean --quiet?)",
		"winnow train --lsos triplet":                 "flag provided but not defined: -lsos (did you mean --loss?)",
		"winnow data import --devise cpu":             "flag provided but not defined: -devise (did you mean --device?)",
		"winnow quickstart --nope":                    "flag provided but not defined",
		"winnow quickstart --classes 3":               "classes is 3, expected 12",
		"winnow quickstart --noise-rate 1":            "noise rate is 1, expected",
		"winnow --device tpu quickstart --classes 12": `--device: found "tpu"`,
		"winnow --threads -1 quickstart --classes 12": "--threads: found -1",
		"winnow data glyphs --out new --seed -1":      "invalid value",
	} {
		var stdout, stderr bytes.Buffer
		code := execute(context.Background(), strings.Fields(line), &stdout, &stderr)
		if line == "winnow audit help" { // a folder may have this name
			if code != 1 || !strings.Contains(stderr.String(), "help: there is no such run folder") {
				t.Errorf("%s: exit code %d, %q", line, code, stderr.String())
			}
			continue
		}
		if code != 2 || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%s: exit code %d, standard output %q, standard error %q; expected 2 and %q", line, code,
				stdout.String(), stderr.String(), want)
		}
	}
}

func TestHelpIsData(t *testing.T) {
	for line, want := range map[string]string{
		"winnow --help":              "--precision TYPE",
		"winnow help":                "Find label errors:",
		"winnow help extract":        "feature store DIR to write; required",
		"winnow help data import":    "winnow data import",
		"winnow list filters":        "memory_positive",
		"winnow -q train -h":         "--backbone-lr",
		"winnow data --help":         "winnow data",
		"winnow train run --help":    "(default: 512)",
		"winnow data corrupt --help": "required",
	} {
		var stdout, stderr bytes.Buffer
		if code := execute(context.Background(), strings.Fields(line), &stdout, &stderr); code != 0 ||
			stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, standard error %q", line, code, stderr.String())
		}
		if text := stdout.String(); !strings.Contains(text, want) || strings.Contains(text, "default: false") ||
			strings.Contains(text, "default: 0)") {
			t.Errorf("%s: expected %q and no empty defaults in\n%s", line, want, text)
		}
	}
}
