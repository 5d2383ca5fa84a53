package term

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/datasets/location"
	"winnow/eval"
	"winnow/internal/lookup"
	"winnow/internal/text"
	"winnow/run/embedding"
	"winnow/run/extraction"
)

// DataFlags are the flags for the state of a run to use, and for data that were moved or differ from the training's.
var DataFlags = []cli.Flag{
	&cli.BoolFlag{Name: "last", Usage: "use the last state of the training instead of the best on validation"},
	&cli.StringFlag{Name: "manifest", DefaultText: "the run's", Usage: "manifest `FILE`"},
	&cli.StringFlag{Name: "features", DefaultText: "the run's", Usage: "feature store `DIR`"},
	&cli.StringFlag{Name: "view", Value: backbone.CenterName,
		Usage: "if the store has several views of each image, use the `VIEW` center, or the mean of all views"},
	&cli.StringFlag{Name: "root", DefaultText: "the run's",
		Usage: "`DIR` (or .zip file) that the manifest's paths start from; used by fine-tuned runs and other " +
			"commands that read images"},
}

// RunArgument returns the only argument of a command, a run folder.
func RunArgument(c *cli.Context) (string, error) {
	if c.NArg() != 1 {
		return "", Misused("winnow %s: found %d arguments, expected one run folder",
			c.Command.Name, c.NArg())
	}
	return c.Args().First(), nil
}

// RunOrStore returns the run folder of a command, or "" if --features and --manifest are given instead.
func RunOrStore(c *cli.Context) (string, error) {
	if c.NArg() > 0 {
		return RunArgument(c)
	}
	if !c.IsSet("features") || !c.IsSet("manifest") {
		return "", Misused("winnow %s: found no input, expected a run folder, or --features DIR with --manifest FILE",
			c.Command.Name)
	}
	return "", nil
}

// RetrievalOptions returns the values of --k, --max-mem and --count-lonely.
func RetrievalOptions(c *cli.Context) (eval.RetrievalOptions, error) {
	opts := eval.RetrievalOptions{CountLonely: c.Bool("count-lonely")}
	for _, text := range strings.Split(c.String("k"), ",") {
		k, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || k < 1 {
			return opts, Misused("--k: %q is not a number of neighbours, expected 1 or more", text)
		}
		if !slices.Contains(opts.K, k) {
			opts.K = append(opts.K, k)
		}
	}
	memory, err := parseSize(c.String("max-mem"))
	if err != nil {
		return opts, Misused("--max-mem: %v", err)
	}
	opts.MaxMem = eval.Bytes(memory)
	return opts, nil
}

// EmbedFlags are the flags of all commands that embed images.
var EmbedFlags = []cli.Flag{
	&cli.StringFlag{Name: "backbone", DefaultText: "found by its sha256",
		Usage: "the run's backbone, an ONNX `FILE`, if it was moved"},
	&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder",
		Usage: "`DIR` (or .zip file) that the paths of a manifest, or on standard input, start from"},
	&cli.IntFlag{Name: "batch", Value: extraction.UsualBatch, Usage: "`N` images per network run"},
	&cli.IntFlag{Name: "workers", DefaultText: "one per core", Usage: "`N` images decoded at the same time"},
	JSONFlag(),
}

// EmbedOptions returns the values of [EmbedFlags] and --model.
func EmbedOptions(c *cli.Context) (embedding.Options, error) {
	for _, flag := range []struct {
		name  string
		least int
	}{{"batch", 1}, {"workers", 0}} {
		if n := c.Int(flag.name); n < flag.least {
			return embedding.Options{}, Misused("--%s: found %d, expected at least %d", flag.name, n, flag.least)
		}
	}
	return embedding.Options{Model: c.String("model"), Backbone: c.String("backbone"),
		Root: location.At(c.String("root")), Stdin: c.App.Reader, Batch: c.Int("batch"), Workers: c.Int("workers")}, nil
}

// Unreadable prints the images that were left out, at most [Listed] of them.
func (p *Program) Unreadable(bad []lookup.LeftOut) {
	if len(bad) == 0 {
		return
	}
	fmt.Fprintf(p.Err, "winnow: %d unreadable images are left out:\n", len(bad))
	for _, b := range text.First(bad, Listed) {
		fmt.Fprintf(p.Err, "  %s: %s\n", text.Line(b.Path), text.Line(b.Reason))
	}
	if len(bad) > Listed {
		fmt.Fprintln(p.Err, "  … --json lists all of them")
	}
}

// Listed is the maximum number of entries printed of a list; --json prints all.
const Listed = 10

// Given returns the value of a flag, or nil if the flag is not given. value is a method of c, such as c.Int.
func Given[T any](c *cli.Context, flag string, value func(name string) T) *T {
	if !c.IsSet(flag) {
		return nil
	}
	return new(value(flag))
}

// Numbers returns the value of a flag that is a comma-separated list of numbers.
func Numbers(c *cli.Context, flag string) ([]float64, error) {
	var list []float64
	for _, word := range strings.Split(c.String(flag), ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil {
			return nil, Misused("--%s: %q is not a number, expected numbers separated by commas", flag, word)
		}
		list = append(list, v)
	}
	return list, nil
}

// JSONFlag returns --json.
func JSONFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print the result as JSON"} }

// OutFlag returns --out, the file or folder to write.
func OutFlag(usage string) *cli.StringFlag {
	return &cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: usage}
}

// SeedFlag returns --seed, 1 by default.
func SeedFlag(usage string) cli.Flag { return &cli.Uint64Flag{Name: "seed", Value: 1, Usage: usage} }
