package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit"
	"winnow/cluster"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
	"winnow/filters/noiserate"
	"winnow/run/folder"
	"winnow/run/inspect"
)

// hereIsARun makes a run folder named run in a new working folder, and a folder of photos.
func hereIsARun(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, dir := range []string{"run", "photos"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("run/run.json", nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFlagsBecomeOptions(t *testing.T) {
	hereIsARun(t)
	rate, none := 0.25, 0.0
	usual := inspect.Options{Options: audit.Options{Neighbours: 10, Rounds: 1, Seed: 1,
		MaxMem: 1 << 30}}
	precise := usual
	precise.Scorer, precise.Rate, precise.IncludeEval, precise.Seed = "vmf", &rate, true, 3
	old := usual
	old.Scorer = "probe" // the name that self-confidence had
	few := usual
	few.Rate, few.MaxMem, few.Folds, few.Neighbours, few.Copies, few.Scorer, few.Together = &none, 1<<20, 3, 4, 0.5,
		"crossfit", true
	tuned := usual
	tuned.Rounds, tuned.Tuning = 3, inspect.Tuning{Weights: "layer4", Augment: "digits", Kept: "s.finetune"}
	allWays := usual
	allWays.Scorer = "all"
	sampled := usual
	sampled.FitSample = 1000
	together := usual
	together.Together = true
	for line, want := range map[string]Options{
		"--labels m.csv --features f --root r --model m --finetune layer4 --augment digits --seeds 3 -o " +
			"s.csv": {Files: inspect.Files{Out: "s.csv", Top: 20}, Audit: tuned,
			In: inspect.Input{Manifest: location.At("m.csv"), Features: "f", View: "center", Root: location.At("r"),
				Model: "m"}},
		"--rate-only --labels m.csv --features f --json": {Files: inspect.Files{Top: 5}, Audit: usual, JSON: true,
			RateOnly: true, Methods: []string{"likelihood"},
			In: inspect.Input{Manifest: location.At("m.csv"), Features: "f", View: "center"}},
		"--rate-only --labels m.csv --features f --scorer all --top 2": {Files: inspect.Files{Top: 2}, Audit: allWays,
			RateOnly: true, Methods: noiserate.Methods(),
			In: inspect.Input{Manifest: location.At("m.csv"), Features: "f", View: "center"}},
		"--labels m.csv --features f": {Files: inspect.Files{Top: 20}, Audit: usual,
			In: inspect.Input{Manifest: location.At("m.csv"), Features: "f", View: "center"}},
		"--labels m.csv --features f --scorer probe": {Files: inspect.Files{Top: 20}, Audit: old,
			In: inspect.Input{Manifest: location.At("m.csv"), Features: "f", View: "center"}},
		"run": {Files: inspect.Files{Top: 20}, Audit: usual, Run: "run",
			Open: folder.Options{View: "center", Splits: []string{"train", "validation"}, For: "audit"}},
		"--labels m.csv --probs p.npy": {Files: inspect.Files{Top: 20}, Audit: usual,
			In: inspect.Input{Manifest: location.At("m.csv"), Probs: "p.npy", View: "center"}},
		"--labels m --probs p.csv --clean c.csv --drop": {Files: inspect.Files{Clean: "c.csv", Top: 20}, Audit: usual,
			In: inspect.Input{Manifest: location.At("m"), Probs: "p.csv", View: "center"}},
		"run --last --root r --manifest m --clean c.csv --drop --precision 0.9 --include-eval --scorer vmf " +
			"--noise-rate 0.25 --seed 3 --json": {
			Files: inspect.Files{Clean: "c.csv", Top: 20, Cut: audit.Cut{By: audit.Precision, At: 0.9}}, Audit: precise,
			Run: "run", JSON: true, Open: folder.Options{Last: true, Root: location.At("r"),
				Manifest: location.At("m"), View: "center", For: "audit"}},
		"--manifest m --features f --view mean --scorer crossfit --noise-rate 0 --max-mem 1MiB --folds 3 " +
			"--neighbours 4 --copies 0.5 -o s.csv --classes k.csv --top 0 --clean c.csv --relabel --below -2": {
			Files: inspect.Files{Out: "s.csv", Classes: "k.csv", Clean: "c.csv", Relabel: true,
				Cut: audit.Cut{By: audit.Below, At: -2}}, Audit: few, In: inspect.Input{Manifest: location.At("m"),
				Features: "f", View: "mean"}},
		"photos --fit-sample 1000": {Files: inspect.Files{Out: "suspects.csv", Top: 3}, Audit: sampled,
			Page: "suspects.html", In: inspect.Input{Images: location.At("photos"), Features: "suspects.features"}},
		"photos": {Files: inspect.Files{Out: "suspects.csv", Top: 3}, Audit: usual,
			Page: "suspects.html", In: inspect.Input{Images: location.At("photos"), Features: "suspects.features"}},
		"list.csv --root photos --model m.onnx --split test,val -o out/s.json --top 3 --noise-rate 0 --max-mem 1MiB " +
			"--folds 3 --neighbours 4 --copies 0.5 --scorer crossfit": {Files: inspect.Files{Out: "out/s.json", Top: 3},
			Audit: few, Page: "out/s.html", In: inspect.Input{Images: location.At("list.csv"),
				Root: location.At("photos"), Model: "m.onnx", Splits: []string{"test", "validation"},
				Features: "out/s.features"}},
		"--labels m.csv --features f --fit-sample 1000 --shard 2/3 -o " +
			"s.csv": {Files: inspect.Files{Out: "s.csv", Top: 20}, Audit: sampled, Shard: cluster.Shard{Index: 2,
			Of: 3}, In: inspect.Input{Manifest: location.At("m.csv"), Features: "f", View: "center"}},
		"--labels m.csv --features f --fit-sample " +
			"0": {Files: inspect.Files{Top: 20}, Audit: together, In: inspect.Input{Manifest: location.At("m.csv"),
			Features: "f", View: "center"}},
		"run --decisions d.db": {Files: inspect.Files{Top: 20}, Audit: usual, Run: "run", Decisions: "d.db",
			Open: folder.Options{View: "center", Splits: []string{"train", "validation"}, For: "audit"}},
		"run --out s.csv --spreadsheet": {Files: inspect.Files{Out: "s.csv", Sheet: true, Top: 20}, Audit: usual,
			Run: "run", Open: folder.Options{View: "center", Splits: []string{"train", "validation"}, For: "audit"}},
		"run --clean c.csv --drop": {Files: inspect.Files{Top: 20, Clean: "c.csv"}, Audit: usual, Run: "run",
			Open: folder.Options{View: "center", Splits: []string{"train", "validation"}, For: "audit"}},
	} {
		got, err := termtest.Asked(t, newAuditCommand, strings.Fields(line)...)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if diff := cmp.Diff(&want, got, termtest.Sources, cmp.FilterPath(func(p cmp.Path) bool {
			name := p.Last().String()
			return name == ".Host" || name == ".watch" || name == ".Note" || name == ".Told"
		}, cmp.Ignore())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestMisuse(t *testing.T) {
	hereIsARun(t)
	for line, want := range map[string]string{
		"": "images (a folder, a .zip file or a manifest) or one run " +
			"folder, or --labels FILE and --features DIR",
		"photos --features f":      "--features does not go with images",
		"photos --labels l.csv":    "--manifest does not go with images",
		"photos --view mean":       "--view does not go with images",
		"photos --last":            "--last does not go with images: name a run",
		"photos --split tset":      "--split: ",
		"photos --split=":          "--split: ",
		"photos --scorer proxysim": "cannot judge stored features",
		"photos more":              "takes one run folder, found 2 arguments",
		"photos --out s.foo":       "--out: ",
		"run --finetune all":       "--finetune does not go with a run",
		"photos --decisions=":      "the file that winnow review keeps",
		"--labels m --features f --fit-sample 9 --shard 1/2 -o s.csv --decisions d.db": "with --shard",
		"photos --seeds 0":                                      "--seeds: found 0",
		"--labels m --features f --root r":                      "--root does not go with stored data",
		"run --model m":                                         "--model does not go with a run",
		"--labels m --features f --split test":                  "--split does not go with stored data",
		"photos --shard 1/2 -o s.csv":                           "--shard does not go with images",
		"photos --fit-sample 9 --neighbours 9":                  "--neighbours does not go with --fit-sample",
		"photos --copies 0":                                     "--copies: found 0",
		"run --fit-sample 9":                                    "give --labels FILE and --features DIR",
		"run --shard 1/2 -o s.csv":                              "give --labels FILE and --features DIR",
		"--labels m --features f --shard 1/2":                   "--shard: --out missing",
		"--labels m --features f --shard 3/2 -o s.csv":          `--shard: found "3/2"`,
		"--labels m --features f --fit-sample 9 --neighbours 9": "--neighbours does not go with --fit-sample",
		"--labels m --features f --fit-sample 9 --neighbours 3": "--neighbours does not go with --fit-sample",
		"--labels m --features f --fit-sample=-1":               "--fit-sample: found -1",
		"run --probs p.npy":                                     "--probs does not go with a run",
		"--labels m --probs p --scorer vmf":                     "--scorer does not go with --probs",
		"a b":                                                   "takes one run folder, found 2 arguments",
		"run --view x":                                          `--view: found "x"`,
		"run --scorer crossfit":                                 "judges stored features",
		"run --share 0.2":                                       "needs --clean FILE",
		"run --include-eval":                                    "needs --clean FILE",
		"run --clean c.csv --drop --relabel":                    "choose one",
		"run --clean c.csv --drop --share 0.1 --below 2":        "--share does not go with --below",
		"run --clean c.csv --drop --share 1.5":                  "--share: found 1.5, expected 0 to 1",
		"run --out x.foo":                                       "--out: ",
		"run --out x.json --spreadsheet":                        "--spreadsheet: found --out x.json",
		"run --max-mem 0":                                       "--max-mem: ",
		"run --noise-rate 1":                                    "--noise-rate: found 1",
		"--labels m --features f --last":                        "--last does not go with stored data",
		"photos --rate-only":                                    "--rate-only does not go with images",
		"run --rate-only":                                       "--rate-only does not go with a run",
		"--rate-only --labels m":                                "--labels FILE and --features DIR",
		"--rate-only --labels m --features f -o s.csv":          "--out does not go with --rate-only",
		"--rate-only --labels m --features f --fit-sample 9":    "--fit-sample does not go with --rate-only",
		"--rate-only --labels m --features f --scorer combined": "expected likelihood, ranks, confident or all",
		"--labels m --features f --scorer proxysim":             `"proxysim" cannot judge stored features`,
	} {
		_, err := termtest.Asked(t, newAuditCommand, strings.Fields(line)...)
		if _, misuse := err.(term.UsageError); !misuse || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", line, err, want)
		}
	}
}

func TestReviewCommand(t *testing.T) {
	dir := t.TempDir()
	list := filepath.Join(dir, "a b.jsonl")
	if err := os.WriteFile(list, []byte(`{"path":"x.png","label":"a"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := inspect.Input{Images: location.At(list), Root: location.At("photos")}
	o := Options{In: in, Files: inspect.Files{Out: "out/s.csv"}}
	want := "winnow review out/s.csv --manifest '" + list +
		`' --root photos --features 'out/it'\''s.features' --out out/fixed.jsonl`
	if got := o.reviewCommand("out/it's.features"); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	o = Options{In: inspect.Input{Images: location.At(dir)}, Files: inspect.Files{Out: "s.csv"}, Decisions: "d.db"}
	want = "winnow review s.csv --manifest " + dir + " --decisions d.db --features s.features --out fixed.csv"
	if got := o.reviewCommand("s.features"); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}
