package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/eval/tsne"
	"winnow/report"
	"winnow/report/page"
)

// How much is shown in pictures.
const (
	reportSuspects = 24
	reportQueries  = 8
	reportNearest  = 8
	reportSide     = 96 // pixels
	reportSeed     = 1  // of what is drawn: queries, images of the map
)

// mapDrawer writes a map of so many bytes at most; nil where there is none.
type mapDrawer = func(w io.Writer, most int) error

// illustrate adds suspects and queries, and says how to draw the map.
func (r *reported) illustrate(c *cli.Context, content *page.Report, mem int64) (mapDrawer, error) {
	asking := retrieveResult{Choice: chooseRandom, Seed: reportSeed, Split: r.split, k: reportNearest, of: r.page.Embedded()}
	if len(notLonely(asking.of)) > 0 {
		if err := asking.ask(c, r.openedRun, reportQueries, mem); err != nil {
			return nil, err
		}
	}
	suspects := first(r.judged, reportSuspects)
	files := map[string][]byte{}
	if !c.Bool("no-pictures") {
		paths := asking.paths()
		for _, e := range suspects {
			paths = append(paths, e.Path)
			for _, n := range slices.Concat(e.SupportGiven, e.SupportSuggested) {
				paths = append(paths, n.Path)
			}
		}
		var err error
		if files, err = pictureFiles(c, r.openedRun, paths, reportSide); err != nil {
			return nil, withHint(err, "name the folder of the images, or a .zip file of it, with --root; or leave them out: --no-pictures")
		}
	}
	content.Queries = asking.cards(files)
	picture := func(path, caption string) (page.Picture, error) {
		return page.Picture{Data: files[path], Caption: caption, File: path}, nil
	}
	var err error
	if content.Suspects, err = report.SuspectCards(suspects, allRows(len(suspects)), picture); err != nil || c.Bool("no-map") {
		return nil, err
	}
	return r.drawMap(c)
}

// drawMap brings the images measured into the plane; nil where there are too few.
func (r *reported) drawMap(c *cli.Context) (mapDrawer, error) {
	splits := r.split
	if r.page.Embedded().Gallery != nil {
		splits = datasets.Query + "," + datasets.Gallery
	}
	at, err := chooseSplits(r.Manifest, splits)
	if err != nil {
		return nil, err
	}
	result := mapResult{Split: splits, Method: methodTSNE, View: r.Look(), Seed: reportSeed, Of: len(at)}
	set, left, err := r.samplesAt(drawSome(at, c.Int("max"), reportSeed, "map"))
	if err != nil {
		return nil, err
	}
	if set.Len() < 5 {
		return nil, nil
	}
	result.Points, result.LeftOut = set.Len(), left
	pictures, err := pagePictures(c, r.openedRun, set)
	if err != nil {
		return nil, err
	}
	plane, err := result.flatten(c, set, tsne.Options{Perplexity: 30, Iterations: 1000, Seed: reportSeed})
	if err != nil {
		return nil, err
	}
	m, err := drawnMap(c, r.openedRun, set, plane, r.scores(), &result)
	if err != nil {
		return nil, err
	}
	m = readable(m)
	m.Notes = []string{fmt.Sprintf("%d of %d images of %s by t-SNE, coloured by their given labels.", result.Points, result.Of, r.page.SplitText())}
	return func(w io.Writer, most int) error { return m.WritePart(w, pictures, most) }, nil
}

// scores are the audit's, by path.
func (r *reported) scores() map[string]float64 {
	scores := make(map[string]float64, len(r.judged))
	for _, e := range r.judged {
		scores[e.Path] = e.Score
	}
	return scores
}

func allRows(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
