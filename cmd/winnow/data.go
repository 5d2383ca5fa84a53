package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/internal/atomicfile"
)

func dataCommand() *cli.Command {
	return &cli.Command{
		Name:  "data",
		Usage: "make, check and corrupt manifests: which images there are and how they are labelled",
		Subcommands: []*cli.Command{
			dataImportCommand(),
			dataCheckCommand(),
			dataCorruptCommand(),
			dataToplineCommand(),
			dataJoinCommand(),
			glyphsCommand(),
		},
	}
}

func dataImportCommand() *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "write a manifest from image folders (one per class), CSV, JSONL, PRISM's lists or a known dataset's files",
		ArgsUsage: "SOURCE[=SPLIT]...",
		Description: "A SOURCE is a folder of class folders (perhaps below train/, val/, test/), or a file. =SPLIT names the\n" +
			"split of rows that say none. With --split the images are dealt out anew, whole classes by default:\n\n" +
			"   winnow data import photos --split train=0.6,validation=0.2,test=0.2 --out manifest.csv\n" +
			"   winnow data import --format prism --strip-prefix /data/ CUB_train.csv=train CUB_test.csv=test --out cub.csv\n\n" +
			"A source may be a .zip file with such folders. --preset reads the files in which a dataset is published, in the\n" +
			"folder --root, split as --protocol says: official, half (half the classes train, the others test) or prism (training,\n" +
			"validation and test classes); what differs from the published counts is told. Other commands find the images with\n" +
			"the same --root:\n\n" +
			"   winnow data import --preset mnist --root mnist/ --validation 0.1 --out mnist.csv\n" +
			"   winnow data import --preset cub200 --root CUB_200_2011/ --protocol half --out cub.csv\n" +
			"   winnow data import --preset cub200 --root CUB_200_2011/ --protocol prism --given CUB_0.2noised_train.csv --out noisy.csv\n\n" +
			"In-Shop's test images are the splits query and gallery. cifar10n and cifar100n are CIFAR's binary version with the\n" +
			"human labels beside it, CIFAR's own becoming the true ones. --corrected-labels gives test images the label that most\n" +
			"people saw, and none where they agreed on no single one; the published label stays in a column. glyphs, winnow's own\n" +
			"dataset, is drawn into --root (or beside the manifest), as winnow data glyphs does it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Required: true, Usage: "manifest `FILE` to write"},
			&cli.StringFlag{Name: "format", Value: "auto", Usage: "auto, folders, csv, jsonl, prism"},
			&cli.StringFlag{Name: "strip-prefix", Usage: "`TEXT` removed from the front of every path of a file"},
			&cli.StringFlag{Name: "split", Usage: "deal the images out: `SPLIT=SHARE,...` with shares that sum to 1"},
			&cli.StringFlag{Name: "by", Value: "class", Usage: "deal out whole classes (class) or images of each class (image)"},
			&cli.StringFlag{Name: "preset", Usage: "`DATASET` in --root: " + strings.Join(presetNames(), ", ")},
			&cli.StringFlag{Name: "root", Usage: "`DIR` with the files of --preset, for glyphs the new one that they are drawn into"},
			&cli.StringFlag{Name: "protocol", Usage: "`SPLIT` of --preset: official, half or prism, as the dataset has them"},
			&cli.StringFlag{Name: "human", Usage: "`SET` of human labels of cifar10n: aggre (the default), worse, random1, random2 or random3"},
			&cli.StringFlag{Name: "human-labels", DefaultText: "looked for in --root", Usage: "`FILE` with the human labels of cifar10n or cifar100n: .pt as published, CSV, .npy"},
			&cli.StringFlag{Name: "corrected-labels", Usage: "`FILE` of the label-errors project, JSON or .npy, for mnist's and CIFAR's test images"},
			&cli.StringFlag{Name: "given", Usage: "with --preset: PRISM's released training list `FILE`, whose noisy labels become the given ones, beside true_label"},
			&cli.Float64Flag{Name: "validation", Usage: "with --preset: `SHARE` of each class of train that becomes validation"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of the deal, and of the drawing of glyphs"},
		},
		Action: dataImport,
	}
}

func dataImport(c *cli.Context) error {
	if c.IsSet("preset") {
		return dataPreset(c)
	}
	for _, name := range presetFlags() {
		if c.IsSet(name) {
			return misused("data import: --%s goes with --preset", name)
		}
	}
	if !c.Args().Present() {
		return misused("a source is missing: winnow data import SOURCE... --out FILE")
	}
	if by := c.String("by"); by != "class" && by != "image" {
		return misused("--by: %q is unknown, expected class or image", by)
	}
	var parts []*datasets.Dataset
	for _, arg := range c.Args().Slice() {
		source, split := sourceAndSplit(arg)
		d, err := readSource(source, datasets.ReadOptions{
			Format: datasets.Format(c.String("format")), Split: split, StripPrefix: c.String("strip-prefix"),
		})
		if err != nil {
			return err
		}
		parts = append(parts, d)
	}
	d := datasets.Merge(parts...)
	if text := c.String("split"); text != "" {
		if err := deal(d, text, c.String("by"), c.Uint64("seed")); err != nil {
			return err
		}
	}
	if err := writeManifest(c.String("out"), d); err != nil {
		return err
	}
	printCounts(c.App.Writer, d)
	return nil
}

// sourceAndSplit takes SOURCE=SPLIT apart; what is there under its whole name is a source with a = in it.
func sourceAndSplit(arg string) (source, split string) {
	i := strings.LastIndexByte(arg, '=')
	if _, err := os.Stat(arg); err == nil || i <= 0 {
		return arg, ""
	}
	return arg[:i], arg[i+1:]
}

// deal splits d anew as the flags, which are checked, say.
func deal(d *datasets.Dataset, text, by string, seed uint64) error {
	var shares []datasets.Share
	for _, part := range strings.Split(text, ",") {
		split, number, _ := strings.Cut(part, "=")
		share, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return misused("--split: %q is not SPLIT=SHARE, for example train=0.5,test=0.5", part)
		}
		shares = append(shares, datasets.Share{Split: split, Share: share})
	}
	rng := rand.New(rand.NewPCG(seed, 0x73706c6974)) // "split"
	if by == "image" {
		return d.SplitByImage(shares, rng)
	}
	return d.SplitByClass(shares, rng)
}

func writeManifest(path string, d *datasets.Dataset) error {
	return atomicfile.Write(path, func(w io.Writer) error { return datasets.WriteCSV(w, d) })
}

func printCounts(w io.Writer, d *datasets.Dataset) {
	for _, s := range d.Count() {
		fmt.Fprintf(w, "%-10s %7d images  %6d classes of %d to %d images", s.Split, s.Samples, s.Classes, s.Smallest, s.Largest)
		if s.Unlabelled > 0 {
			fmt.Fprintf(w, "  %d unlabelled", s.Unlabelled)
		}
		if n := len(s.Singletons); n > 0 {
			fmt.Fprintf(w, "  %d class(es) with one image", n)
		}
		fmt.Fprintln(w)
	}
}

// readManifestArg reads the one manifest (or image folder) a command is given.
func readManifestArg(c *cli.Context) (*datasets.Dataset, error) {
	name, err := oneArgument(c, "one manifest")
	if err != nil {
		return nil, err
	}
	return datasets.Read(name, datasets.ReadOptions{})
}
