// Package extract implements the "winnow extract" command, which computes feature vectors of the images of a manifest.
package extract

import (
	"context"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/cluster"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/models"
	"winnow/run/extraction"
)

// Options holds the parsed flags.
type Options struct {
	Manifest, Root  location.Source
	Model           string
	Settings        models.Settings
	Out, DType      string
	Shard           cluster.Shard
	Extract         backbone.ExtractConfig // newExtraction sets Preprocessing
	Overwrite, JSON bool
	DryRun          bool
}

// Command returns the "winnow extract" command.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "extract",
		Usage: "compute the feature vectors of images, for all later trainings and audits",
		Description: "Writes the folder --out: features.npy (float32, one row per image), paths.txt and\n" +
			"store.json. Labels are not used, so manifests that differ only in labels can share a store. After an\n" +
			"interrupt, run the same command again: it continues and writes the same bytes. A finished store is\n" +
			"not changed.\n\n" +
			"   winnow extract --manifest birds.csv --root birds/ --model mobilenetv2 --out birds.features\n\n" +
			"--shard I/N makes part I of N, a store of whole batches in OUT.parts. winnow join OUT joins the\n" +
			"parts to the same bytes that one machine writes (batch auto is then always 32).\n\n" +
			"--views stores several views of each image: center, flip (center mirrored) and N*RECIPE, which is N\n" +
			"random views made by a paper's augmentation. Combine views with +, as in center+flip or 4*prism.\n" +
			"center is always stored. Random views depend only on --seed, the path and the view. Training draws\n" +
			"one view at each visit of an image; eval, audit and export use center, or the mean of all views\n" +
			"(--view). Recipes: " + viewRecipes() + ".",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "manifest",
				Usage: "manifest `FILE`, or a folder with a folder for each class; required"},
			&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder",
				Usage: "`DIR` (or .zip file) that the manifest's paths start from"},
			&cli.StringFlag{Name: "model",
				Usage: "a backbone: `NAME` of winnow models list, or an ONNX file; required"},
			term.Required(term.OutFlag("feature store `DIR` to write")),
			&cli.StringFlag{Name: "views", Value: backbone.CenterName,
				Usage: "the `VIEWS` of each image: center, center+flip, N*RECIPE, …"},
			term.SeedFlag("seed `N` of random views"),
			term.OneOf(&cli.StringFlag{Name: "dtype", Value: features.Float32,
				Usage: "store numbers of `TYPE`, in half the space or not"}, features.Float32, features.Float16),
			&cli.StringFlag{Name: "batch", Value: autoBatch,
				Usage: "`N` images per network run; auto: as many as fit in memory, at most 32 (256 on a GPU)"},
			&cli.IntFlag{Name: "workers", DefaultText: "one per core", Usage: "`N` images decoded at the same time"},
			&cli.IntFlag{Name: "max-pixels", Value: backbone.DefaultMaxPixels,
				Usage: "treat images as unreadable if they have more than `N` pixels, or need more than 6·N bytes " +
					"(at least 1 GiB) to decode"},
			term.ShardFlag("images"),
			&cli.BoolFlag{Name: "strict", Usage: "stop at the first unreadable image"},
			&cli.BoolFlag{Name: "overwrite", Usage: "replace a store of another model, preprocessing or image list"},
			&cli.BoolFlag{Name: "dry-run",
				Usage: "estimate time and memory for all images from some of them; write no files"},
			term.JSONFlag(),
		}, term.PreprocessingFlags()...),
		Action: term.Action(readExtract, runExtract),
	}
}

// viewRecipes returns the names of the recipes that can draw views.
func viewRecipes() string {
	var names []string
	for _, r := range backbone.Recipes() {
		if _, err := backbone.ParseViews("1*"+r.Name, 0); err == nil {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}

func readExtract(c *cli.Context) (o Options, err error) {
	o = Options{
		Manifest: location.At(c.String("manifest")), Root: location.At(c.String("root")),
		Model: c.String("model"), Settings: term.ModelSettings(c),
		Out: c.String("out"), DType: c.String("dtype"), Overwrite: c.Bool("overwrite"), JSON: c.Bool("json"),
		DryRun: c.Bool("dry-run"), Extract: backbone.ExtractConfig{Workers: c.Int("workers"),
			MaxPixels: c.Int("max-pixels"), Strict: c.Bool("strict")},
	}
	if c.NArg() > 0 {
		return o, term.Misused("extract: unexpected argument %q: use flags", c.Args().First())
	}
	if o.Extract.Workers < 0 {
		return o, term.Misused("--workers: found %d, expected at least 0", o.Extract.Workers)
	}
	if o.Extract.MaxPixels < 1 {
		return o, term.Misused("--max-pixels: found %d, expected at least 1", o.Extract.MaxPixels)
	}
	if o.Shard, err = term.Shard(c); err != nil {
		return o, err
	}
	if text := c.String("batch"); text != autoBatch {
		if o.Extract.Batch, err = strconv.Atoi(text); err != nil || o.Extract.Batch < 1 {
			return o, term.Misused("--batch: found %q, expected a number of at least 1, or auto", text)
		}
	}
	if o.Extract.Views, err = backbone.ParseViews(c.String("views"), c.Uint64("seed")); err != nil {
		return o, term.Misused("--views: %w", err)
	}
	return o, nil
}

func runExtract(ctx context.Context, p *term.Program, o Options) error {
	e, err := o.newExtraction(ctx, p)
	if err != nil {
		return err
	}
	if o.DryRun {
		tried, err := e.DryRun(ctx, p.Host())
		return p.Result(tried, o.JSON, err)
	}
	result, err := e.Run(ctx, p.Host())
	if err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(result)
	}
	result.Write(p.Out, term.Listed)
	return nil
}

// newExtraction reads the manifest and the model, and returns an extraction of the images.
func (o Options) newExtraction(ctx context.Context, p *term.Program) (*extraction.Extraction, error) {
	d, err := datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Root: o.Root, Note: p.Note})
	if err != nil {
		return nil, err
	}
	from := imageroot.Resolve(o.Root, o.Manifest)
	root, err := imageroot.Open(ctx, from)
	if err != nil {
		return nil, err
	}
	e, err := extraction.New(o.Model, o.Settings, root, d.Paths(), p.Host())
	if err != nil {
		return nil, err
	}
	o.Extract.Preprocessing = e.Config.Preprocessing
	e.From, e.Out, e.Overwrite, e.Config = from, o.Out, o.Overwrite, o.Extract
	if o.DType != features.Float32 {
		e.DType = o.DType
	}
	if err := e.Fit(ctx, p.Host(), func() (*datasets.Dataset, error) { return d, nil }); err != nil {
		return nil, err
	}
	if err := e.TakeShard(o.Shard); err != nil {
		return nil, term.Misused("--shard: %w", err)
	}
	return e, nil
}

// autoBatch is the value of --batch for a batch size that is chosen by the available memory.
const autoBatch = "auto"
