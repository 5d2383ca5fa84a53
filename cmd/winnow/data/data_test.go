package data

import (
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/datasets/importing"
	"winnow/datasets/location"
	"winnow/run"
)

// becomes checks the options of a line.
func becomes[O any](t *testing.T, command func(term.Call[O]) *cli.Command, line string, want O) {
	t.Helper()
	termtest.Check(t, command, map[string]O{line: want}, nil)
}

// The flags become options.
func TestOptions(t *testing.T) {
	t.Chdir(t.TempDir())
	auto := func(path string, names datasets.Names) importing.Source {
		return importing.Source{Path: location.At(path), Read: datasets.ReadOptions{Format: "auto", Names: names}}
	}
	train := auto("a", datasets.Names{})
	train.Read.Split = "train"
	becomes(t, importCommand, "a=train b --split train=0.5,test=0.5 --by image --seed 3 -o m.csv", importing.Job{
		Out: "m.csv", ShardSize: 1e9, Seed: 3, ByImage: true,
		Sources: []importing.Source{train, auto("b", datasets.Names{})},
		Shares:  []datasets.Share{{Split: "train", Share: 0.5}, {Split: "test", Share: 0.5}},
	})
	becomes(t, importCommand, "t.csv --path-column p --label-column l --split-column s --true-column c -o m.csv",
		importing.Job{Out: "m.csv", ShardSize: 1e9, Seed: 1, Sources: []importing.Source{
			auto("t.csv", datasets.Names{Path: "p", Label: "l", Split: "s", True: "c"})}})
	becomes(t, importCommand, "--preset mnist --root r --validation 0.1 --out m.csv", importing.Job{Out: "m.csv",
		ShardSize: 1e9, Seed: 1, Preset: "mnist", Root: location.At("r"), Validation: 0.1})
	becomes(t, importCommand, "a --root r --shard-size 2MB -o {split}-%03d.tar", importing.Job{
		Out: "{split}-%03d.tar", ShardSize: 2e6, Seed: 1, Root: location.At("r"),
		Sources: []importing.Source{auto("a", datasets.Names{})}})
	becomes(t, checkCommand, "m.csv --strict --json", CheckOptions{JSON: true,
		Manifest: location.At("m.csv"), Strict: true})
	becomes(t, corruptCommand, "m.csv --noise-rate 0.2 --noise human-like --features f --nearest --out n.csv",
		CorruptOptions{Manifest: location.At("m.csv"), Out: "n.csv", Split: "train", Features: "f", Seed: 1,
			Noise: run.NoiseSpec{Model: "human-like", Rate: 0.2, Count: datasets.Independent, Similar: 3,
				Nearest: true}})
	becomes(t, toplineCommand, "m.csv --noise-rate 0.3 --split test --out t.csv", ToplineOptions{
		Manifest: location.At("m.csv"), Out: "t.csv", Split: "test", Rate: 0.3, Seed: 1})
	becomes(t, glyphsCommand, "--out g --classes 12", GlyphsOptions{Out: "g",
		Config: glyphs.Config{Classes: 12, Images: glyphs.DefaultImages, Seed: glyphs.DemoSeed}})
}

// Misuse never reaches the call.
func TestMisuse(t *testing.T) {
	t.Chdir(t.TempDir())
	termtest.Check(t, importCommand, nil, []string{
		"--out m.csv", "a --by colour --out m.csv", "a --shard-size 1MB --out m.csv",
		"a --shard-size x --out m.tar", "a --split train --out m.csv",
		"--preset mnist --root r --label-column l --out m.csv",
		"--preset nix --root r --out m.csv", "--preset mnist --out m.csv", "--preset mnist --root r --human aggre --out m.csv",
		"--preset mnist --root r --validation 1 --out m.csv", "--preset mnist --root r --protocol prism --out m.csv",
	})
	termtest.Check(t, corruptCommand, nil, []string{
		"m.csv --noise-rate 1 --out n.csv", "m.csv --noise-rate 0.1 --noise nix --out n.csv",
		"--noise-rate 0.1 --out n.csv", "m.csv --noise-rate 0.1 --features f --out n.csv",
		"m.csv --noise-rate 0.1 --noise human-like --out n.csv", "m.csv --noise-rate 0.1 --split nix! --out n.csv",
		"m.csv --noise-rate 0.1 --count some --out n.csv",
	})
}
