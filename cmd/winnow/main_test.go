package main

import (
	"os"
	"strings"
	"testing"
)

// TestMisuse checks that misuse of the command line exits with 2 before any work, prints one line that contains what
// was expected, and prints nothing on standard output.
func TestMisuse(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"run", "photos"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "run/run.json", "")
	for line, want := range map[string]string{
		"":     "a command is missing, expected audit, ",
		"data": "a command is missing, expected import, ",
		"data impor": `"impor" is not a command of winnow data (did you mean "import"?), expected ` +
			"import, check",
		"trian --out x":           `"trian" is not a command of winnow (did you mean "train"?)`,
		"data chek --strict":      `"chek" is not a command of winnow data (did you mean "check"?)`,
		"noise --labels m":        "winnow noise is now: winnow audit --rate-only",
		"--nope":                  "flag provided but not defined: -nope\n",
		"--quite doctor":          "flag provided but not defined: -quite (did you mean --quiet?)",
		"train --lsos x":          "flag provided but not defined: -lsos (did you mean --loss?)",
		"doctor extra":            `winnow doctor: found the argument "extra", expected no arguments`,
		"--device tpu quickstart": `--device: found "tpu"`,
		"--threads -1 doctor":     "--threads: found -1",

		"extract --out x": "winnow extract: --manifest, --model missing",
		"extract --manifest m --model n --out f --views x": "--views: ",
		"extract --manifest m --model n --out f --batch 0": `--batch: found "0"`,
		"data corrupt list.csv": "winnow data corrupt: --out, " +
			"--noise-rate missing",
		"data corrupt m --noise-rate 0.1 --features f --out n":         "cannot be used with --noise symmetric",
		"data corrupt m --noise-rate 0.1 --noise nix --out n":          `--noise: found "nix"`,
		"data import a --by colour --out m.csv":                        `--by: found "colour"`,
		"data import --preset mnist --root r --format csv --out m.csv": "--format cannot be used with --preset",
		"data import a --format doc --out m.csv":                       `--format: found "doc"`,
		"data import a --split tset=1 --out m.csv":                     "--split: ",
		"models new n --arch nix":                                      `--arch: found "nix"`,
		"extract --manifest m --model n --out f --channels RBG":        `--channels: found "RBG"`,
		"extract --manifest m --model n --out f --interpolation near":  `--interpolation: found "near"`,
		"extract --manifest m --model n --out f --preset nix":          `--preset: found "nix"`,
		"train a --out o --augment nix":                                `--augment: found "nix"`,
		"audit a --finetune --augment nix":                             `--augment: found "nix"`,
		"audit a --finetune --minutes=-5":                              `--minutes: found -5`,
		"audit a --clean f/ --by teleport":                             `--by: found "teleport"`,
		"decisions export a --out f/ --by teleport":                    `--by: found "teleport"`,
		"check a --format doc":                                         `--format: found "doc"`,
		"data check":                                                   "one manifest",
		"data glyphs --out new --seed -1":                              "invalid value",

		"audit": "found no input, expected images (a folder, " +
			"a .zip file or a manifest), a run folder, or",
		"audit photos --last":                                "--last cannot be used with images: give a run folder",
		"audit photos --split tset":                          "--split: ",
		"audit photos --scorer proxysim":                     "cannot score stored features",
		"audit photos --out s.foo":                           "--out: ",
		"audit run --finetune all":                           "--finetune cannot be used with a run",
		"audit run --share 0.2":                              "needs --clean FILE",
		"audit run --clean c --drop --relabel":               "choose one",
		"audit run --clean c --share 1.5":                    "--share: found 1.5, expected a number from 0 to 1",
		"audit --rate-only --labels m --features f -o s.csv": "--out cannot be used with --rate-only",

		"train x y":                                       "expected at most one manifest or folder of images",
		"train --features f --out o":                      "--manifest is missing",
		"train --manifest m --features f":                 "--out is missing",
		"train --manifest m --out o --resume --overwrite": "cannot be used together",
		"train --manifest m --out o --epochs 1 --steps 2": "both give the length",
		"train --manifest m --out o --set nix=1":          "unknown key nix",
		"train --manifest m --out o --set solver.momentum=.5": "momentum: found 0.5, " +
			"expected 0: it is a setting of sgd and rmsprop",
		"sweep --manifest m --out o --draws 0 --vary lr=1": "--draws: found 0",
		"eval":                              "expected one run folder",
		"eval run --k none":                 "is not a number of neighbours",
		"eval run --set clustering":         "expected METRIC.SETTING=VALUE",
		"eval run --view left":              `--view: found "left"`,
		"embed":                             "found no arguments",
		"embed run":                         "found run and no images",
		"index photos":                      "winnow index: --out missing",
		"search photo.jpg":                  "winnow search: --index is missing",
		"cluster slurm --tasks 3 -- extrat": `(did you mean "extract"?)`,
		"reproduce nothing":                 `study "nothing" is unknown`,
		"list losses nix":                   "nix",
	} {
		fails(t, 2, want, strings.Fields(line)...)
	}
	fails(t, 1, "help: there is no such run folder", "audit", "help") // a run folder may be named "help"
}

func TestHelpIsData(t *testing.T) {
	for line, want := range map[string]string{
		"--help":              "--tf32",
		"help":                "Audit labels:",
		"help extract":        "feature store DIR to write; required",
		"help data import":    "winnow data import",
		"-q train -h":         "--backbone-lr",
		"train run --help":    "(default: 512)",
		"data corrupt --help": "required",
	} {
		text, stderr := mustCall(t, strings.Fields(line)...)
		if !strings.Contains(text, want) || stderr != "" || strings.Contains(text, "default: false") ||
			strings.Contains(text, "default: 0)") {
			t.Errorf("%s: %s, expected %q and no empty defaults in\n%s", line, stderr, want, text)
		}
	}
}
