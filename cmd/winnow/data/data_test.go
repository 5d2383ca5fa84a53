package data

import (
	"testing"

	"winnow/backbone/checking"
	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/datasets/importing"
	"winnow/datasets/location"
	"winnow/run"
)

// The flags become these options.
func TestOptions(t *testing.T) {
	t.Chdir(t.TempDir())
	termtest.Check(t, importCommand, map[string]importing.Job{"a=train b --split train=0.5,test=0.5 --by image --seed 3 -o m.csv": {
		Out: "m.csv", ShardSize: 1e9, Seed: 3, ByImage: true,
		Sources: []importing.Source{{Path: location.At("a"), Read: datasets.ReadOptions{Format: "auto", Split: "train"}}, {Path: location.At("b"), Read: datasets.ReadOptions{Format: "auto"}}},
		Shares:  []datasets.Share{{Split: "train", Share: 0.5}, {Split: "test", Share: 0.5}},
	}}, nil)
	termtest.Check(t, importCommand, map[string]importing.Job{"t.csv --path-column p --label-column l --split-column s --true-column c -o m.csv": {
		Out: "m.csv", ShardSize: 1e9, Seed: 1, Sources: []importing.Source{{Path: location.At("t.csv"), Read: datasets.ReadOptions{Format: "auto", Names: datasets.Names{Path: "p", Label: "l", Split: "s", True: "c"}}}},
	}}, nil)
	termtest.Check(t, importCommand, map[string]importing.Job{"--preset mnist --root r --validation 0.1 --out m.csv": {Out: "m.csv", ShardSize: 1e9, Seed: 1, Preset: "mnist", Root: location.At("r"), Validation: 0.1}}, nil)
	termtest.Check(t, importCommand, map[string]importing.Job{"a --root r --shard-size 2MB -o {split}-%03d.tar": {
		Out: "{split}-%03d.tar", ShardSize: 2e6, Seed: 1, Root: location.At("r"), Sources: []importing.Source{{Path: location.At("a"), Read: datasets.ReadOptions{Format: "auto"}}},
	}}, nil)
	termtest.Check(t, checkCommand, map[string]CheckOptions{"m.csv --strict --json": {Options: checking.Options{Manifest: location.At("m.csv"), Strict: true}, JSON: true}}, nil)
	termtest.Check(t, corruptCommand, map[string]CorruptOptions{"m.csv --noise-rate 0.2 --noise human-like --features f --nearest --out n.csv": {
		Manifest: location.At("m.csv"), Out: "n.csv", Split: "train", Features: "f", Seed: 1,
		Noise: run.NoiseSpec{Model: "human-like", Rate: 0.2, Count: datasets.Independent, Similar: 3, Nearest: true},
	}}, nil)
	termtest.Check(t, toplineCommand, map[string]ToplineOptions{"m.csv --rate 0.3 --split test --out t.csv": {Manifest: location.At("m.csv"), Out: "t.csv", Split: "test", Rate: 0.3, Seed: 1}}, nil)
	termtest.Check(t, joinCommand, map[string]JoinOptions{"m.csv list.csv --out j.csv --json": {Manifest: location.At("m.csv"), List: "list.csv", Out: "j.csv", JSON: true}}, nil)
	termtest.Check(t, glyphsCommand, map[string]GlyphsOptions{"--out g --classes 12": {Out: "g", Config: glyphs.Config{Classes: 12, Images: glyphs.DefaultImages, Seed: glyphs.DemoSeed}}}, nil)
}

// Misuse never reaches the call.
func TestMisuse(t *testing.T) {
	t.Chdir(t.TempDir())
	termtest.Check(t, importCommand, nil, []string{
		"--out m.csv", "a --by colour --out m.csv", "a --root r --out m.csv", "a --shard-size 1MB --out m.csv", "a --shard-size x --out m.tar", "--preset glyphs --out m.tar", "--preset mnist --root r --label-column l --out m.csv", "a --split train --out m.csv",
		"--preset nix --root r --out m.csv", "--preset mnist --out m.csv", "--preset glyphs --human aggre --out m.csv",
		"--preset mnist --root r --validation 1 --out m.csv", "--preset mnist --root r --protocol prism --out m.csv",
	})
	termtest.Check(t, corruptCommand, nil, []string{
		"m.csv --noise-rate 1 --out n.csv", "m.csv --noise-rate 0.1 --noise nix --out n.csv", "--noise-rate 0.1 --out n.csv",
		"m.csv --noise-rate 0.1 --features f --out n.csv", "m.csv --noise-rate 0.1 --noise human-like --out n.csv",
		"m.csv --noise-rate 0.1 --split nix! --out n.csv", "m.csv --noise-rate 0.1 --count some --out n.csv",
	})
}
