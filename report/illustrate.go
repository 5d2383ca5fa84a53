package report

import (
	"context"
	"fmt"

	"winnow/datasets"
	"winnow/eval"
	"winnow/eval/tsne"
	"winnow/internal/hint"
	"winnow/internal/text"
	"winnow/report/page"
	"winnow/run/config"
	"winnow/run/measure"
)

// Numbers and sizes of the images on the page.
const (
	shownSuspects = 24
	shownQueries  = 8
	shownNearest  = 8
	shownSide     = 96 // pixels
	shownSeed     = 1  // seed of the map
	shownPoints   = 10_000
)

// Illustrate adds suspects, queries and the map to the page of a run. It reads no image if pictures is false.
func (r *Run) Illustrate(ctx context.Context, h Host, content *page.Report, pictures bool) (err error) {
	h = h.withDefaults()
	var examples measure.Examples
	if len(measure.Askers(r.now)) > 0 {
		examples, err = measure.ExamplesAmong(ctx, r.Manifest, r.Split, r.now, measure.ExampleOptions{
			Queries: shownQueries, K: shownNearest,
		})
		if err != nil {
			return err
		}
	}
	list := text.First(r.audited.Called(), shownSuspects)
	files := map[string][]byte{}
	if pictures {
		files, err = pictureFiles(ctx, h, r.Run, examples.Paths(), shownSide)
	}
	if err == nil {
		content.Suspects, err = newSuspectCards(ctx, h, r.ImageRoot(), r.For, r.names, list, pictures)
	}
	if err != nil {
		return hint.With(err, "give the folder of the images, or a .zip file of it, with %s, or leave the "+
			"images out: --no-pictures", config.Key("data.root"))
	}
	content.Queries = queryCards(examples, r.names, files)
	drawn, err := r.drawMap(ctx, h)
	if err == nil && drawn != nil {
		content.Sections = append(content.Sections, page.Section{Title: "Map of the embedding",
			Charts: []page.Drawing{drawn}})
	}
	return err
}

// drawMap returns a t-SNE map of the measured images, or nil if there are fewer than 5.
func (r *Run) drawMap(ctx context.Context, h Host) (page.Drawing, error) {
	splits := r.Split
	if r.now.Gallery != nil {
		splits = datasets.Query + "," + datasets.Gallery
	}
	scores := make(map[string]Score, len(r.audited.Images))
	for _, e := range r.audited.Images {
		scores[e.Path] = Score{e.Score, e.Flagged}
	}
	asked := MapOptions{
		Split: splits, Names: r.names, Colour: ColourLabel, Scores: scores, Max: shownPoints,
		TSNE: tsne.Options{Perplexity: 30, Iterations: 1000, Seed: shownSeed, MaxMem: eval.Bytes(MaxMem / 8)},
	}
	m, err := chooseMap(ctx, r.Run, asked)
	if err != nil {
		return nil, err
	}
	if m.set.Len() < 5 {
		return nil, nil
	}
	if err := m.computeMap(ctx, h, r.Run, asked); err != nil {
		return nil, err
	}
	drawn := m.withClassNames()
	drawn.Title = fmt.Sprintf("%d of %d images of %s by t-SNE, coloured by their given labels", m.Points, m.Of,
		r.SplitText())
	return drawn, nil
}
