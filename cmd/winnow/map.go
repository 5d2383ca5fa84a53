package main

import (
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval/tsne"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/catalog"
	"winnow/internal/lookup"
	"winnow/report/atlas"
)

func mapCommand() *cli.Command {
	return &cli.Command{
		Name:      "map",
		Usage:     "draw an embedding in the plane by t-SNE: a page to explore, SVG, a table",
		ArgsUsage: "[RUN]",
		Description: "Images that the run embeds near each other lie near each other on the map (t-SNE, van der Maaten 2014, started\n" +
			"from the principal components). Without a run it draws the features of a store as they are: --features DIR\n" +
			"--manifest FILE. The page names each image under the pointer and shows a small picture of it, which --root says\n" +
			"where to find. --color score takes the scores of winnow audit: --scores suspects.csv.\n\n" +
			"   winnow map run --out map.html --out map.svg --out map.csv",
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "out", Aliases: []string{"o"}, Usage: "write `FILE`.html (a page to explore), .svg (a drawing), .csv or .tsv (coordinates); may be repeated"},
			&cli.StringFlag{Name: "projector", Usage: "write the vectors to `DIR` as TensorBoard's projector reads them: tensors.tsv, metadata.tsv"},
			&cli.StringFlag{Name: "split", DefaultText: "test, or query and gallery", Usage: "`SPLIT,...` to draw, or all"},
			&cli.StringFlag{Name: "color", Value: colourLabel, Usage: "what colours show, `WHAT`: " + strings.Join(colourings, ", ")},
			&cli.StringFlag{Name: "scores", Usage: "`FILE`.csv of winnow audit, for --color score and the page"},
			&cli.IntFlag{Name: "max", Value: 10_000, Usage: "draw at most `N` images, chosen by --seed"},
			&cli.StringFlag{Name: "method", Value: methodTSNE, Usage: "`METHOD`: tsne, or pca, the two first principal components"},
			&cli.Float64Flag{Name: "perplexity", Value: 30, Usage: "how many neighbours an image has, softly, `P`"},
			&cli.IntFlag{Name: "iterations", Value: 1000, Usage: "`N` steps"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` that images and the start are drawn by"},
			&cli.BoolFlag{Name: "no-pictures", Usage: "no pictures on the page"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		}, dataFlags...),
		Action: mapRun,
	}
}

// What colours show.
const (
	colourLabel = "label"
	colourTrue  = "true"
	colourSplit = "split"
	colourScore = "score"
)

var colourings = []string{colourLabel, colourTrue, colourSplit, colourScore}

// Ways to the plane.
const (
	methodTSNE = "tsne"
	methodPCA  = "pca"
)

// mapResult is what winnow map --json prints.
type mapResult struct {
	Files   []string         `json:"files"`
	Points  int              `json:"points"`
	Of      int              `json:"of"` // images of the splits
	Split   string           `json:"split"`
	View    string           `json:"view,omitempty"` // center or mean, where the store has several views of each image
	Method  string           `json:"method"`
	TSNE    *tsne.Report     `json:"tsne,omitempty"`
	Shares  *[2]float64      `json:"variance_shares,omitempty"` // of the two components
	Seed    uint64           `json:"seed"`
	LeftOut []lookup.LeftOut `json:"left_out"`
	Seconds float64          `json:"seconds"`
	took    time.Duration    // of the method alone
}

func mapRun(c *cli.Context) error {
	start := time.Now()
	if err := checkMap(c); err != nil {
		return err
	}
	scores, err := readScores(c.String("scores"))
	if err != nil {
		return err
	}
	r, err := openEmbedding(c, splitsToLookAt(c)...)
	if err != nil {
		return err
	}
	var files []exportFile
	for _, path := range c.StringSlice("out") {
		files = append(files, exportFile{Flag: "out", Path: path})
	}
	if err := checkTargets(files, append(r.inputs(), c.String("scores"))); err != nil {
		return err
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	defer rt.Close()
	result := mapResult{Split: c.String("split"), Method: c.String("method"), View: r.Look(), Seed: c.Uint64("seed"), LeftOut: []lookup.LeftOut{}, Files: []string{}}
	if result.Split == "" {
		if result.Split, err = usualSplits(r.Manifest); err != nil {
			return err
		}
	}
	at, err := chooseSplits(r.Manifest, result.Split)
	if err != nil {
		return err
	}
	result.Of = len(at)
	set, left, err := r.samplesAt(drawSome(at, c.Int("max"), result.Seed, "map"))
	if err != nil {
		return err
	}
	result.Points, result.LeftOut = set.Len(), append(result.LeftOut, left...)
	if len(left) > 0 {
		note(c, "%d images are left out, the first is %s: %s", len(left), left[0].Path, left[0].Reason)
	}
	pictures, err := mapPictures(c, r, set) // before the minutes that the map takes: their folder may be missing
	if err != nil {
		return err
	}
	plane, err := result.flatten(c, set, tsne.Options{Perplexity: c.Float64("perplexity"), Iterations: c.Int("iterations"), Seed: result.Seed})
	if err != nil {
		return err
	}
	m, err := drawnMap(c, r, set, plane, scores, &result)
	if err != nil {
		return err
	}
	if err := result.write(c, m, set, pictures); err != nil {
		return err
	}
	result.Seconds = time.Since(start).Seconds()
	if c.Bool("json") {
		return printJSON(c.App.Writer, result)
	}
	result.print(c.App.Writer)
	return nil
}

// checkMap refuses what has no meaning before anything is read.
func checkMap(c *cli.Context) error {
	if len(c.StringSlice("out")) == 0 && c.String("projector") == "" {
		return misused("winnow map: found neither --out nor --projector, expected a file to write: --out map.html")
	}
	for _, path := range c.StringSlice("out") {
		if !slices.Contains([]string{".html", ".svg", ".csv", ".tsv"}, filepath.Ext(path)) {
			return misused("--out: %q ends in none of .html, .svg, .csv, .tsv", path)
		}
	}
	switch by := c.String("color"); {
	case !slices.Contains(colourings, by):
		return misused("--color: found %q%s, expected one of %s", by, catalog.Ask(by, colourings), strings.Join(colourings, ", "))
	case by == colourScore && c.String("scores") == "":
		return withHint(misused("--color score: found no --scores, expected the file of an audit"), "make it: winnow audit RUN --out suspects.csv")
	case c.String("method") != methodTSNE && c.String("method") != methodPCA:
		return misused("--method: found %q, expected %s or %s", c.String("method"), methodTSNE, methodPCA)
	case c.Int("max") < 5:
		return misused("--max: found %d images, expected at least 5", c.Int("max"))
	case c.Int("iterations") < 1:
		return misused("--iterations: found %d, expected at least 1", c.Int("iterations"))
	case !(c.Float64("perplexity") >= 1) || math.IsInf(c.Float64("perplexity"), 0):
		return misused("--perplexity: found %v, expected at least 1", c.Float64("perplexity"))
	}
	return nil
}

// splitsToLookAt are those whose features are needed; none where all are.
func splitsToLookAt(c *cli.Context) []string {
	switch split := c.String("split"); split {
	case "":
		return []string{datasets.Test, datasets.Query, datasets.Gallery}
	case everySplit:
		return nil
	default:
		names := strings.Split(split, ",")
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		if slices.Contains(names, everySplit) {
			return nil
		}
		return names
	}
}

// flatten brings the vectors into the plane.
func (r *mapResult) flatten(c *cli.Context, set features.Set, o tsne.Options) ([]tsne.Point, error) {
	start := time.Now()
	defer func() { r.took = time.Since(start) }()
	if r.Method == methodPCA {
		components, err := tsne.PCA(set.X)
		r.Shares = &components.Share
		return components.Points, err
	}
	if !c.Bool("quiet") {
		line := newProgressLine(c.App.ErrWriter, "iterations", time.Now)
		defer line.End()
		o.Stepped = func(t int) { line.At(t, o.Iterations, 0, "") }
	}
	plane, report, err := tsne.Embed(c.Context, set.X, o)
	r.TSNE = &report
	if report.Perplexity < o.Perplexity && err == nil {
		note(c, "perplexity %g is too much for %d images: using %.3g", o.Perplexity, set.Len(), report.Perplexity)
	}
	return plane, err
}

// write writes every file asked for.
func (r *mapResult) write(c *cli.Context, m atlas.Map, set features.Set, pictures []image.Image) error {
	put := func(path string, write func(io.Writer) error) error {
		if err := atomicfile.Write(path, write); err != nil {
			return fmt.Errorf("map: %s: %w", path, err)
		}
		r.Files = append(r.Files, path)
		return nil
	}
	for _, path := range c.StringSlice("out") {
		write := readable(m).WriteSVG
		switch filepath.Ext(path) {
		case ".csv":
			write = func(w io.Writer) error { return m.WriteTable(w, ',') }
		case ".tsv":
			write = func(w io.Writer) error { return m.WriteTable(w, '\t') }
		case ".html":
			write = func(w io.Writer) error { return readable(m).WritePage(w, pictures) }
		}
		if err := put(path, write); err != nil {
			return err
		}
	}
	if dir := c.String("projector"); dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("map: %w", err)
		}
		if err := put(filepath.Join(dir, "tensors.tsv"), func(w io.Writer) error { return atlas.WriteTensors(w, set.X) }); err != nil {
			return err
		}
		return put(filepath.Join(dir, "metadata.tsv"), m.WriteMetadata)
	}
	return nil
}

// mapPictures are the points' thumbnails; nil where no page is written, or none on it.
func mapPictures(c *cli.Context, run *openedRun, set features.Set) ([]image.Image, error) {
	if !slices.ContainsFunc(c.StringSlice("out"), func(path string) bool { return filepath.Ext(path) == ".html" }) {
		return nil, nil
	}
	return pagePictures(c, run, set)
}

// pagePictures are the thumbnails of a map on a page, nil for none at all.
func pagePictures(c *cli.Context, run *openedRun, set features.Set) ([]image.Image, error) {
	if c.Bool("no-pictures") {
		return nil, nil
	}
	paths := make([]string, set.Len())
	for i, id := range set.IDs {
		paths[i] = run.Manifest.Samples[id].Path
	}
	return thumbnails(c, run, paths, atlas.ThumbnailSide(len(paths)))
}

// print writes the result for people.
func (r mapResult) print(w io.Writer) {
	fmt.Fprintf(w, "%d of %d images of %s", r.Points, r.Of, r.Split)
	if t := r.TSNE; t != nil {
		fmt.Fprintf(w, ", t-SNE: perplexity %.3g, %d iterations, KL %.3f, %.1f s", t.Perplexity, t.Iterations, t.KL, r.took.Seconds())
	}
	if s := r.Shares; s != nil {
		fmt.Fprintf(w, ", principal components: %.1f %% and %.1f %% of the variance", 100*s[0], 100*s[1])
	}
	fmt.Fprintf(w, "\n%s\n", strings.Join(r.Files, ", "))
}
