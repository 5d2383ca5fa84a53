package data

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/run"
)

// options runs a command whose call only keeps its options.
func options[O any](t *testing.T, command func(term.Call[O]) *cli.Command, line string) (got O, code int) {
	t.Helper()
	c := command(func(_ context.Context, _ *term.Program, o O) error { got = o; return nil })
	code = term.Execute(t.Context(), []term.Group{{Commands: []*cli.Command{c}}}, strings.Fields("winnow "+line), io.Discard, io.Discard)
	return got, code
}

func check[O any](t *testing.T, command func(term.Call[O]) *cli.Command, line string, want O) {
	t.Helper()
	got, code := options(t, command, line)
	if d := cmp.Diff(want, got); code != 0 || d != "" {
		t.Errorf("%s: exit code %d, options (-want +got):\n%s", line, code, d)
	}
}

// The flags become these options.
func TestOptions(t *testing.T) {
	t.Chdir(t.TempDir())
	check(t, importCommand, "import a=train b --split train=0.5,test=0.5 --by image --seed 3 -o m.csv", ImportOptions{
		Out: "m.csv", Seed: 3, ByImage: true,
		Sources: []Source{{"a", datasets.ReadOptions{Format: "auto", Split: "train"}}, {"b", datasets.ReadOptions{Format: "auto"}}},
		Shares:  []datasets.Share{{Split: "train", Share: 0.5}, {Split: "test", Share: 0.5}},
	})
	check(t, importCommand, "import --preset mnist --root r --validation 0.1 --out m.csv", ImportOptions{Out: "m.csv", Seed: 1, Preset: "mnist", Root: "r", Validation: 0.1})
	check(t, checkCommand, "check m.csv --strict --json", CheckOptions{Manifest: "m.csv", Strict: true, JSON: true})
	check(t, corruptCommand, "corrupt m.csv --rate 0.2 --noise human-like --features f --nearest --out n.csv", CorruptOptions{
		Manifest: "m.csv", Out: "n.csv", Split: "train", Features: "f", Seed: 1,
		Noise: run.NoiseSpec{Model: "human-like", Rate: 0.2, Count: datasets.Independent, Similar: 3, Nearest: true},
	})
	check(t, toplineCommand, "topline m.csv --rate 0.3 --split test --out t.csv", ToplineOptions{Manifest: "m.csv", Out: "t.csv", Split: "test", Rate: 0.3, Seed: 1})
	check(t, joinCommand, "join m.csv list.csv --out j.csv --json", JoinOptions{Manifest: "m.csv", List: "list.csv", Out: "j.csv", JSON: true})
	check(t, glyphsCommand, "glyphs --out g --classes 12", GlyphsOptions{Out: "g", Config: glyphs.Config{Classes: 12, Images: glyphs.DefaultImages, Seed: glyphs.DemoSeed}})
}

// Misuse never reaches the call.
func TestMisuse(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{
		"import --out m.csv", "import a --by colour --out m.csv", "import a --root r --out m.csv", "import a --split train --out m.csv",
		"import --preset nix --root r --out m.csv", "import --preset mnist --out m.csv", "import --preset glyphs --human aggre --out m.csv",
		"import --preset mnist --root r --validation 1 --out m.csv", "import --preset mnist --root r --protocol prism --out m.csv",
	} {
		if _, code := options(t, importCommand, line); code != 2 {
			t.Errorf("%s: exit code %d, expected 2", line, code)
		}
	}
	for _, line := range []string{
		"corrupt m.csv --rate 1 --out n.csv", "corrupt m.csv --rate 0.1 --model nix --out n.csv", "corrupt --rate 0.1 --out n.csv",
		"corrupt m.csv --rate 0.1 --features f --out n.csv", "corrupt m.csv --rate 0.1 --model human-like --out n.csv",
		"corrupt m.csv --rate 0.1 --split nix! --out n.csv", "corrupt m.csv --rate 0.1 --count some --out n.csv",
	} {
		if _, code := options(t, corruptCommand, line); code != 2 {
			t.Errorf("%s: exit code %d, expected 2", line, code)
		}
	}
}
