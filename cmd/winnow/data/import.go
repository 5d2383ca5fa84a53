package data

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/datasets/importing"
	"winnow/datasets/location"
	"winnow/datasets/published"
	"winnow/internal/catalog"
	"winnow/internal/hint"
)

//go:embed import.txt
var importHelp string

func importCommand(call term.Call[importing.Job]) *cli.Command {
	return &cli.Command{
		Name: "import",
		Usage: "write a manifest from image folders (one per class), tables, shards or the files of a " +
			"known dataset",
		ArgsUsage:   "SOURCE[=SPLIT]...",
		Description: importHelp,
		Flags: append([]cli.Flag{
			term.Required(term.OutFlag("manifest `FILE` to write; .tar: WebDataset shards, where %06d is their " +
				"number and {split} the split")),
			&cli.StringFlag{Name: "shard-size", Value: "1GB", Usage: "at most `SIZE` bytes in a shard"},
			&cli.StringFlag{Name: "format", Value: "auto",
				Usage: "format `NAME` of SOURCE: auto, folders, classes, csv, tsv, jsonl, prism, coco, " +
					"labelstudio, webdataset, parquet"},
			&cli.StringFlag{Name: "encoding", DefaultText: "UTF-8, or what the table shows, which is printed",
				Usage: "`NAME` of the encoding of a table: utf-8, utf-16 or latin1"},
			&cli.StringFlag{Name: "strip-prefix", Usage: "remove `TEXT` from the beginning of every path"},
			&cli.StringFlag{Name: "split", Usage: "divide the images among splits: `SPLIT=SHARE,...`, where " +
				"shares sum to 1"},
			&cli.StringFlag{Name: "by", Value: "class",
				Usage: "`WHAT` --split divides: the classes (class) or the images of each class (image)"},
			&cli.Float64Flag{Name: "crop-margin",
				Usage: "boxes: enlarge each crop on every side by `SHARE` of the box's sides"},
			&cli.IntFlag{Name: "min-box", DefaultText: "1",
				Usage: "boxes: leave out boxes with a side below `N` pixels"},
			&cli.StringFlag{Name: "preset", Usage: "`DATASET` in --root: " + strings.Join(presetNames(), ", ")},
			&cli.StringFlag{Name: "root",
				Usage: "`DIR` with the files of --preset; glyphs: the new folder to draw into; lists and shards: " +
					"that the paths begin in. Paths that name no file there are counted"},
			&cli.StringFlag{Name: "protocol",
				Usage: "`SPLIT` of --preset, of those that the dataset has: official, half, prism, usual or coarse"},
			&cli.StringFlag{Name: "human",
				Usage: "`SET` of human labels of cifar10n: aggre (the default), worse, random1, random2 or random3"},
			&cli.StringFlag{Name: "human-labels", DefaultText: "found in --root",
				Usage: "`FILE` with the human labels of cifar10n or cifar100n: .pt as published, CSV, .npy"},
			&cli.StringFlag{Name: "corrected-labels",
				Usage: "`FILE` of the label-errors project, JSON or .npy, for the test images of mnist, CIFAR and " +
					"ImageNet (JSON)"},
			&cli.StringFlag{Name: "given",
				Usage: "with --preset: `FILE` of PRISM's released training list, whose noisy labels become the " +
					"labels; the true ones become true_label"},
			&cli.Float64Flag{Name: "validation",
				Usage: "with --preset: `SHARE` of each class of train that becomes validation"},
			term.SeedFlag("seed `N` of --split, and of glyphs"),
			term.JSONFlag(),
		}, term.ColumnFlags()...),
		Action: term.Action(readImport, call),
	}
}

// glyphsPreset is the embedded dataset's name among the presets.
const glyphsPreset = "glyphs"

// presetNames returns the datasets that data import knows: those of the catalog, and the embedded one.
func presetNames() []string {
	names := []string{glyphsPreset}
	for _, p := range published.Catalog() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// Flags of data import that need --preset, and flags that exclude it.
var (
	presetFlags    = []string{"root", "protocol", "validation", "human", "human-labels", "corrected-labels", "given"}
	notWithPresets = []string{"encoding", "path-column", "label-column", "split-column", "true-column",
		"format", "strip-prefix", "split", "by", "crop-margin", "min-box"}
)

func readImport(c *cli.Context) (o importing.Job, err error) {
	o = importing.Job{
		Out: c.String("out"), Seed: c.Uint64("seed"), ByImage: c.String("by") == "image",
		Preset: c.String("preset"), Root: location.At(c.String("root")), Protocol: c.String("protocol"),
		Human: c.String("human"), Labels: c.String("human-labels"), Corrected: c.String("corrected-labels"),
		Given: c.String("given"), Validation: c.Float64("validation"), JSON: c.Bool("json"),
	}
	if o.ShardSize, err = term.Size(c, "shard-size"); err != nil {
		return o, err
	}
	if tar := datasets.IsShardName(o.Out); c.IsSet("shard-size") && !tar || o.Preset == glyphsPreset && tar {
		return o, term.Misused("--out: found %s, expected shards (.tar) with --shard-size, and a manifest of %s", o.Out,
			glyphsPreset)
		// shards and glyphs make their folders
	} else if err := term.KeepInput(c, c.Args().Slice()...); err != nil && !tar && o.Preset != glyphsPreset {
		return o, err
	}
	if c.IsSet("preset") {
		return o, readPreset(c, o)
	}
	for _, name := range presetFlags {
		if c.IsSet(name) && name != "root" {
			return o, term.Misused("data import: --%s goes with --preset", name)
		}
	}
	if !c.Args().Present() {
		return o, term.Misused("a source is missing: winnow data import SOURCE... --out FILE")
	}
	if by := c.String("by"); by != "class" && by != "image" {
		return o, term.Misused("--by: %q is unknown, expected class or image", by)
	}
	names := term.Columns(c)
	for _, arg := range c.Args().Slice() {
		source, split := importing.SourceAndSplit(arg)
		o.Sources = append(o.Sources, importing.Source{Path: location.At(source), Read: datasets.ReadOptions{
			Format: datasets.Format(c.String("format")), Encoding: c.String("encoding"), Split: split,
			StripPrefix: c.String("strip-prefix"), Names: names,
			CropMargin: c.Float64("crop-margin"), MinBox: c.Int("min-box")}})
	}
	if o.Shares, err = datasets.ParseShares(c.String("split")); c.IsSet("split") && err != nil {
		return o, term.Misused("--split: %w", err)
	}
	return o, nil
}

// readPreset returns an error for flags that do not go with the preset.
func readPreset(c *cli.Context, o importing.Job) error {
	if err := term.NoArguments(c); err != nil {
		return err
	}
	if o.Preset == glyphsPreset {
		if o.JSON {
			return term.Misused("data import: --json says how sources were read: it does not go with %s", glyphsPreset)
		}
		for _, name := range append(presetFlags, notWithPresets...) {
			if name != "root" && name != "protocol" && c.IsSet(name) {
				return term.Misused("data import: --%s does not go with %s, whose splits are made with it", name,
					glyphsPreset)
			}
		}
		if o.Protocol != "" && o.Protocol != published.Official {
			return term.Misused("--protocol: %s has no %q, expected %s", glyphsPreset, o.Protocol, published.Official)
		}
		return nil
	}
	for _, name := range notWithPresets {
		if c.IsSet(name) {
			return term.Misused("data import: --%s does not go with --preset, which has splits of its own (--protocol)",
				name)
		}
	}
	if c.IsSet("given") && c.IsSet("validation") {
		return term.Misused("data import: --validation does not go with --given, whose labels are noisy")
	}
	preset, unknown := published.Find(o.Preset)
	_, known := preset.Protocols[o.Protocol]
	switch {
	case unknown != nil:
		return term.Misused("--preset: %q is unknown%s, expected one of %s", o.Preset,
			catalog.Ask(o.Preset, presetNames()), strings.Join(presetNames(), ", "))
	case o.Protocol != "" && !known:
		return term.Misused("--protocol: %s has no %q%s, expected one of %s", preset.Name, o.Protocol,
			catalog.Ask(o.Protocol, preset.ProtocolNames()), strings.Join(preset.ProtocolNames(), ", "))
	case c.IsSet("human") && !slices.Contains(preset.Human, o.Human):
		return term.Misused("--human: %s has no label set %q, expected one of: %s", preset.Name, o.Human,
			cmp.Or(strings.Join(preset.Human, ", "), "none"))
	case c.IsSet("human-labels") && preset.Human == nil:
		return term.Misused("data import: --human-labels does not go with %s, only with cifar10n and cifar100n",
			preset.Name)
	case c.IsSet("corrected-labels") && !preset.Corrects:
		return term.Misused("data import: --corrected-labels does not go with %s, only with mnist and CIFAR",
			preset.Name)
	case o.Root.IsZero():
		return term.Misused("data import: --preset needs --root, the folder with the dataset's files")
	case o.Validation < 0 || o.Validation >= 1:
		return term.Misused("--validation: found %v, expected a share from 0 to below 1", o.Validation)
	}
	return nil
}

func runImport(ctx context.Context, p *term.Program, o importing.Job) error {
	if o.Preset == glyphsPreset {
		root := cmp.Or(o.Root, location.At(o.Out).Parent())
		return writeGlyphs(ctx, p, glyphs.Config{Images: glyphs.DefaultImages, Seed: o.Seed}, root.Path(), o.Out)
	}
	o.Note = p.Note
	if datasets.IsShardName(o.Out) {
		progress, end := p.Watch("images")
		defer end()
		o.Progress = progress
	}
	out := p.Out
	if o.JSON {
		out = p.Data
	}
	err := o.Run(ctx, out, p.Err)
	if not := (*datasets.NotThere)(nil); errors.As(err, &not) {
		err = hint.With(err,
			"--root DIR names the folder; --strip-prefix TEXT removes what stands before the paths in it; "+
				"--format prism reads a list without a header wherever the pictures are")
	}
	return err
}
