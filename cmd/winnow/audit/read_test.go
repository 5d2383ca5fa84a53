package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
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
	usual := inspect.Options{Seed: 1, MaxMem: 1 << 30}
	precise, crossfit := usual, usual
	precise.Scorer, precise.Rate, precise.Seed = "vmf", &rate, 3
	crossfit.Scorer, crossfit.Rate, crossfit.MaxMem = "crossfit", &none, 1<<20
	stored := inspect.Input{Manifest: location.At("m.csv"), Features: "f", View: "center"}
	run := folder.Options{View: "center", Splits: []string{"train", "validation"}, For: "audit"}
	for line, want := range map[string]Options{
		"--labels m.csv --features f": {Files: inspect.Files{Top: 3}, Audit: usual, In: stored},
		"run":                         {Files: inspect.Files{Top: 3}, Audit: usual, Run: "run", Open: run},
		"--labels m.csv --probs p.npy": {Files: inspect.Files{Top: 3}, Audit: usual,
			In: inspect.Input{Manifest: location.At("m.csv"), Probs: "p.npy", View: "center"}},
		"run --last --root r --manifest m --clean c.csv --drop --precision 0.9 --scorer vmf --noise-rate 0.25 --seed 3 " +
			"--json": {
			Files: inspect.Files{Clean: "c.csv", Top: 3, Cut: audit.Cut{By: audit.Precision, At: 0.9}}, Audit: precise,
			Run: "run", JSON: true, Open: folder.Options{Last: true, Root: location.At("r"), Manifest: location.At("m"),
				View: "center", Splits: []string{"train", "validation"}, For: "audit"}},
		"--manifest m.csv --features f --view mean --scorer crossfit --noise-rate 0 --max-mem 1MiB -o s.csv --top 0 " +
			"--clean c.csv --relabel --share 0.5": {
			Files: inspect.Files{Out: "s.csv", Clean: "c.csv", Relabel: true, Cut: audit.Cut{By: audit.Share, At: 0.5}},
			Audit: crossfit, In: inspect.Input{Manifest: location.At("m.csv"), Features: "f", View: "mean"}},
		"photos": {Files: inspect.Files{Out: "suspects.csv", Top: 3}, Audit: usual,
			Page: "suspects.html", In: inspect.Input{Images: location.At("photos"), Features: "suspects.features"}},
		"list.csv --root photos --model m.onnx --split test,val -o out/s.json --top 4 --noise-rate 0 --max-mem 1MiB " +
			"--scorer crossfit": {Files: inspect.Files{Out: "out/s.json", Top: 4}, Audit: crossfit, Page: "out/s.html",
			In: inspect.Input{Images: location.At("list.csv"), Root: location.At("photos"), Model: "m.onnx",
				Splits: []string{"test", "validation"}, Features: "out/s.features"}},
		"--rate-only --labels m.csv --features f --json": {Files: inspect.Files{Top: 3}, Audit: usual, In: stored,
			JSON: true, RateOnly: true},
		"photos --finetune stage3 --augment flip": {Files: inspect.Files{Out: "suspects.csv", Top: 3}, Audit: usual,
			Page: "suspects.html", In: inspect.Input{Images: location.At("photos"), Features: "suspects.features",
				Tuning: inspect.Tuning{Weights: "stage3", Augment: "flip", Kept: "suspects.finetune"}}},
		"run --decisions d.db": {Files: inspect.Files{Top: 3}, Audit: usual, Run: "run", Decisions: "d.db", Open: run},
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
		"photos --features f":                                   "--features does not go with images",
		"photos --rate-only":                                    "--rate-only does not go with images",
		"--rate-only --labels m --features f -o s.csv":          "--out does not go with --rate-only",
		"--rate-only --labels m --features f --scorer combined": "--scorer does not go with --rate-only",
		"photos --last":                                         "--last does not go with images: name a run",
		"photos --split tset":                                   "--split: ",
		"photos --scorer proxysim":                              "cannot judge stored features",
		"photos more":                                           "takes one run folder, found 2 arguments",
		"photos --out s.foo":                                    "--out: ",
		"photos --augment digits":                               "needs --finetune",
		"run --finetune all":                                    "--finetune does not go with a run",
		"--labels m --features f --root r":                      "--root does not go with stored data",
		"run --model m":                                         "--model does not go with a run",
		"--labels m --probs p --scorer vmf":                     "--scorer does not go with --probs",
		"run --view x":                                          `--view: found "x"`,
		"run --share 0.2":                                       "needs --clean FILE",
		"run --clean c.csv --drop --relabel":                    "choose one",
		"run --clean c.csv --drop --share 1.5":                  "--share: found 1.5, expected a share from 0 to 1",
		"run --max-mem 0":                                       "--max-mem: ",
		"run --noise-rate 1":                                    "--noise-rate: found 1",
		"run --top -1":                                          "--top: found -1",
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
