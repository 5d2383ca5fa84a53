package data

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/importing"
	"winnow/datasets/location"
	"winnow/internal/hint"
)

//go:embed import.txt
var importHelp string

func importCommand() *cli.Command {
	return &cli.Command{
		Name: "import",
		Usage: "write a manifest from image folders (one per class), tables, shards or the files of a " +
			"known dataset",
		ArgsUsage:   "SOURCE[=SPLIT]...",
		Description: importHelp,
		Flags: append([]cli.Flag{
			term.Required(term.OutFlag("manifest `FILE` to write")),
			term.OneOf(&cli.StringFlag{Name: "format", Value: "auto", Usage: "format `NAME` of SOURCE"}, "auto",
				"folders", "classes", "csv", "tsv", "jsonl", "prism", "coco", "labelstudio", "webdataset", "parquet"),
			&cli.StringFlag{Name: "strip-prefix", Usage: "remove `TEXT` from the start of every path"},
			&cli.StringFlag{Name: "split", Usage: "divide the images among splits: `SPLIT=SHARE,...`, where " +
				"shares sum to 1"},
			term.OneOf(&cli.StringFlag{Name: "by", Value: "class",
				Usage: "`UNIT` that --split divides, the classes or the images of each class"}, "class", "image"),
			&cli.Float64Flag{Name: "crop-margin",
				Usage: "boxes: enlarge each crop on every side by `SHARE` of the box's sides"},
			&cli.IntFlag{Name: "min-box", DefaultText: "1",
				Usage: "boxes: leave out boxes with a side below `N` pixels"},
			&cli.StringFlag{Name: "preset", Usage: "`DATASET` in --root: " + strings.Join(presetNames(), ", ")},
			&cli.StringFlag{Name: "root",
				Usage: "`DIR` with the files of --preset; for lists and shards, the folder of the paths: " +
					"missing files are counted"},
			&cli.StringFlag{Name: "protocol",
				Usage: "`SPLIT` of --preset, if the dataset has it: official, half, prism or usual"},
			&cli.StringFlag{Name: "human",
				Usage: "`SET` of human labels of cifar10n: aggre (the default), worse, random1, random2 or random3"},
			&cli.StringFlag{Name: "human-labels", DefaultText: "found in --root",
				Usage: "CSV `FILE` with the human labels of cifar10n or cifar100n; may be gzipped"},
			&cli.StringFlag{Name: "corrected-labels",
				Usage: "`FILE` of the label-errors project (JSON) for the test images of mnist, CIFAR and ImageNet"},
			&cli.StringFlag{Name: "given",
				Usage: "with --preset: `FILE` of PRISM's released training list, whose noisy labels become the given " +
					"labels; the dataset's labels become true_label"},
			&cli.Float64Flag{Name: "validation",
				Usage: "with --preset: move this `SHARE` of each class from train to validation"},
			term.SeedFlag("seed `N` of --split"),
			term.JSONFlag(),
		}, term.ColumnFlags()...),
		Action: term.Action(readImport, runImport),
	}
}

// presetNames returns the names of the datasets for --preset.
func presetNames() (names []string) {
	for _, p := range importing.Catalog() {
		names = append(names, p.Name)
	}
	return names
}

// Flags that require --preset, and flags that cannot be used with it.
var (
	presetFlags    = []string{"protocol", "validation", "human", "human-labels", "corrected-labels", "given"}
	notWithPresets = []string{"path-column", "label-column", "split-column", "true-column",
		"format", "strip-prefix", "split", "by", "crop-margin", "min-box"}
)

func readImport(c *cli.Context) (o importing.Job, err error) {
	o = importing.Job{
		Out: c.String("out"), Seed: c.Uint64("seed"), ByImage: c.String("by") == "image",
		Preset: c.String("preset"), Root: location.At(c.String("root")), Protocol: c.String("protocol"),
		Human: c.String("human"), Labels: c.String("human-labels"), Corrected: c.String("corrected-labels"),
		Given: c.String("given"), Validation: c.Float64("validation"), JSON: c.Bool("json"),
	}
	if err := term.KeepInput(c, c.Args().Slice()...); err != nil {
		return o, err
	}
	if c.IsSet("preset") {
		return o, readPreset(c, o)
	}
	for _, name := range presetFlags {
		if c.IsSet(name) {
			return o, term.Misused("data import: --%s requires --preset", name)
		}
	}
	if !c.Args().Present() {
		return o, term.Misused("a source is missing: winnow data import SOURCE... --out FILE")
	}
	names := term.Columns(c)
	for _, arg := range c.Args().Slice() {
		source, split := importing.SourceAndSplit(arg)
		o.Sources = append(o.Sources, importing.Source{Path: location.At(source), Read: datasets.ReadOptions{
			Format: datasets.Format(c.String("format")), Split: split,
			StripPrefix: c.String("strip-prefix"), Names: names,
			CropMargin: c.Float64("crop-margin"), MinBox: c.Int("min-box")}})
	}
	if o.Shares, err = datasets.ParseShares(c.String("split")); c.IsSet("split") && err != nil {
		return o, term.Misused("--split: %w", err)
	}
	return o, nil
}

// readPreset returns an error for flags that cannot be used with the preset.
func readPreset(c *cli.Context, o importing.Job) error {
	if err := term.NoArguments(c); err != nil {
		return err
	}
	for _, name := range notWithPresets {
		if c.IsSet(name) {
			return term.Misused("data import: --%s cannot be used with --preset, which has its own splits (--protocol)",
				name)
		}
	}
	preset, err := importing.Find(o.Preset)
	_, known := preset.Protocols[o.Protocol]
	switch {
	case err != nil:
		return term.AsMisuse(err)
	case o.Protocol != "" && !known:
		return term.Misused("--protocol: found %q, expected a protocol of %s: %s", o.Protocol, preset.Name,
			strings.Join(preset.ProtocolNames(), ", "))
	case c.IsSet("human") && !slices.Contains(preset.Human, o.Human), c.IsSet("human-labels") && preset.Human == nil,
		c.IsSet("corrected-labels") && !preset.Corrects:
		return term.Misused("data import: the preset %s does not have these labels: its sets of human labels are "+
			"[%s]; corrected labels: %v", preset.Name, strings.Join(preset.Human, ", "), preset.Corrects)
	case c.IsSet("given") && c.IsSet("validation"):
		return term.Misused("data import: --validation cannot be used with --given, whose labels are noisy")
	case o.Root.IsZero():
		return term.Misused("data import: --preset needs --root, the folder with the dataset's files")
	case o.Validation < 0 || o.Validation >= 1:
		return term.Misused("--validation: found %v, expected a number from 0 to below 1", o.Validation)
	}
	return nil
}

func runImport(ctx context.Context, p *term.Program, o importing.Job) error {
	o.Note = p.Note
	out := p.Out
	if o.JSON {
		out = p.Data
	}
	err := o.Run(ctx, out, p.Err)
	if not := (*datasets.NotThere)(nil); errors.As(err, &not) {
		err = hint.With(err, "give the images' folder with --root DIR; --strip-prefix TEXT removes the start of the "+
			"paths; --format prism reads a list without a header without looking for the images")
	}
	return err
}
