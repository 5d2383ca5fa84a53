package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/eval/tsne"
	"winnow/features"
	"winnow/report/atlas"
)

// drawnMap gives the points their names and colours.
func drawnMap(c *cli.Context, r *openedRun, set features.Set, plane []tsne.Point, scores map[string]float64, result *mapResult) (atlas.Map, error) {
	d := r.Manifest
	class := func(id int) string {
		if id == datasets.Unlabelled {
			return ""
		}
		return d.Classes[id]
	}
	m := atlas.Map{Title: mapTitle(r, result), Facts: mapFacts(r, result)}
	for i, id := range set.IDs {
		s := d.Samples[id]
		p := atlas.Point{X: plane[i].X, Y: plane[i].Y, Path: s.Path, Label: class(s.Label), True: class(s.True), Split: s.Split, Score: math.NaN()}
		if v, ok := scores[s.Path]; ok {
			p.Score = v
		}
		m.Points = append(m.Points, p)
	}
	if c.String("color") == colourScore {
		return m, scaleByScore(&m, c.String("scores"))
	}
	return m, groupPoints(&m, c.String("color"), d)
}

// groupPoints colours the points by what they have in common.
func groupPoints(m *atlas.Map, by string, d *datasets.Dataset) error {
	names := d.Classes
	name := func(p atlas.Point) string { return p.Label }
	switch by {
	case colourTrue:
		name = func(p atlas.Point) string { return p.True }
	case colourSplit:
		names = nil
		for _, s := range d.Count() {
			names = append(names, s.Split)
		}
		name = func(p atlas.Point) string { return p.Split }
	}
	there := map[string]bool{}
	for _, p := range m.Points {
		there[name(p)] = true
	}
	numbers := map[string]int{}
	for _, n := range names {
		if there[n] && n != "" {
			numbers[n], m.Groups = len(m.Groups), append(m.Groups, n)
		}
	}
	for i, p := range m.Points {
		n, ok := numbers[name(p)]
		if m.Points[i].Group = n; !ok {
			m.Points[i].Group = -1
		}
	}
	if len(m.Groups) == 0 {
		return fmt.Errorf("map: --color %s: of none of the %d images it is known", by, len(m.Points))
	}
	return nil
}

// scaleByScore colours the points by their scores: from 0 to 1 where all lie within, else from the least to the most.
func scaleByScore(m *atlas.Map, file string) error {
	low, high, n := math.Inf(1), math.Inf(-1), 0
	for _, p := range m.Points {
		if !math.IsNaN(p.Score) {
			low, high, n = min(low, p.Score), max(high, p.Score), n+1
		}
	}
	if n == 0 {
		return withHint(fmt.Errorf("map: --color score: %s has a score of none of the %d images", file, len(m.Points)), "winnow audit judges the train split: --split train")
	}
	if low >= 0 && high <= 1 {
		low, high = 0, 1
	}
	if low == high {
		high = low + 1
	}
	m.Scale = &atlas.Scale{Name: "score of the label (low: looks wrong)", Low: low, High: high}
	return nil
}

// readScores reads the scores of an audit's CSV by path; none where no file is named.
func readScores(path string) (map[string]float64, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--scores: %w", err)
	}
	defer f.Close()
	in := csv.NewReader(f)
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("--scores: %s: %w", path, err)
	}
	at, score := slices.Index(header, "path"), slices.Index(header, "score")
	if at < 0 || score < 0 {
		return nil, withHint(fmt.Errorf("--scores: %s: found the columns %q, expected path and score among them", path, header), "make the file: winnow audit RUN --out suspects.csv")
	}
	scores := map[string]float64{}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return scores, nil
		}
		if err != nil {
			return nil, fmt.Errorf("--scores: %s: %w", path, err)
		}
		v, err := strconv.ParseFloat(record[score], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			line, _ := in.FieldPos(score)
			return nil, fmt.Errorf("--scores: %s:%d: score %q is not a number", path, line, record[score])
		}
		scores[record[at]] = v
	}
}

// mapTitle says what is drawn.
func mapTitle(r *openedRun, result *mapResult) string {
	what := "Features of " + filepath.Base(r.Dir)
	if r.Head != nil {
		what = "Embedding of the run " + filepath.Base(r.Dir)
	}
	return what + ": " + result.Split
}

// mapFacts is the page's small print.
func mapFacts(r *openedRun, result *mapResult) []atlas.Fact {
	facts := []atlas.Fact{{Name: "images", Value: fmt.Sprintf("%d of the %d of %s", result.Points, result.Of, result.Split)}}
	if n := len(result.LeftOut); n > 0 {
		facts = append(facts, atlas.Fact{Name: "left out", Value: fmt.Sprintf("%d images that could not be read or have no direction", n)})
	}
	if t := result.TSNE; t != nil {
		facts = append(facts, atlas.Fact{Name: "method", Value: fmt.Sprintf("t-SNE (van der Maaten 2014): perplexity %.3g, %d iterations, KL divergence %.3f, learning rate %.0f, seed %d", t.Perplexity, t.Iterations, t.KL, t.LearningRate, result.Seed)})
	}
	if s := result.Shares; s != nil {
		facts = append(facts, atlas.Fact{Name: "method", Value: fmt.Sprintf("the two first principal components: %.1f %% and %.1f %% of the variance", 100*s[0], 100*s[1])})
	}
	if r.Head != nil {
		facts = append(facts, atlas.Fact{Name: "head", Value: filepath.Join(r.Dir, r.HeadFile)})
	}
	return append(facts, atlas.Fact{Name: "features", Value: r.Store.Dir}, atlas.Fact{Name: "manifest", Value: r.ManifestFile}, atlas.Fact{Name: "winnow", Value: version()})
}

// readable is a map whose drawn characters have readable names.
func readable(m atlas.Map) atlas.Map {
	m.Points, m.Groups = slices.Clone(m.Points), slices.Clone(m.Groups)
	for i := range m.Groups {
		m.Groups[i] = glyphs.Readable(m.Groups[i])
	}
	for i := range m.Points {
		p := &m.Points[i]
		p.Label, p.True = glyphs.Readable(p.Label), glyphs.Readable(p.True)
	}
	return m
}
