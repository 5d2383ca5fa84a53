package report

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/eval/tsne"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/internal/regular"
	"winnow/report/atlas"
	"winnow/run/folder"
)

// What the colours of a map show.
const (
	ColourLabel   = "label"
	ColourTrue    = "true"
	ColourSplit   = "split"
	ColourScore   = "score"
	ColourSuspect = "suspect" // called wrong by an audit, or not
	ColourClass   = "class="  // and a label: that class against all others
)

// Ways to the plane.
const (
	MethodTSNE = "tsne"
	MethodPCA  = "pca"
)

// MapOptions say what a map shows.
type MapOptions struct {
	Split      string // splits of the manifest; "": test, or query and gallery
	Colour     string
	Scores     map[string]Score // of an audit, by path; may be nil
	ScoresFile string           // where they are from
	Max        int              // images, drawn by the seed of TSNE
	Method     string
	TSNE       tsne.Options
	Pictures   bool
	Sheet      bool // tables are for spreadsheets: none of their texts is taken for a formula
}

// Score is what an audit said of a label.
type Score struct {
	Value float64
	Wrong bool // called wrong
}

// Map is points of a plane that stand for a run's images, as winnow map --json prints it.
type Map struct {
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
	Took    time.Duration    `json:"-"` // of the method alone

	set      features.Set
	drawn    atlas.Map
	sheet    bool
	pictures []image.Image
}

// DrawMap brings images of a run, or of a store, into the plane.
func DrawMap(ctx context.Context, h Host, run *folder.Run, o MapOptions) (*Map, error) {
	h = h.complete()
	m, err := chooseMap(ctx, run, o)
	if err != nil {
		return nil, err
	}
	if n := len(m.LeftOut); n > 0 {
		h.Note("%d images are left out, the first is %s: %s", n, m.LeftOut[0].Path, m.LeftOut[0].Reason)
	}
	return m, m.draw(ctx, h, run, o)
}

// chooseMap embeds the images of a map.
func chooseMap(ctx context.Context, run *folder.Run, o MapOptions) (m *Map, err error) {
	m = &Map{sheet: o.Sheet, Split: o.Split, Method: o.Method, View: run.Look(), Seed: o.TSNE.Seed, LeftOut: []lookup.LeftOut{}, Files: []string{}}
	if m.Split == "" {
		if m.Split, err = folder.UsualSplits(run.Manifest); err != nil {
			return nil, err
		}
	}
	at, err := run.Manifest.Choose(m.Split)
	if err != nil {
		return nil, err
	}
	var left []lookup.LeftOut
	if m.set, left, err = run.Samples(ctx, folder.Draw(at, o.Max, m.Seed, "map")); err != nil {
		return nil, err
	}
	m.Of, m.Points, m.LeftOut = len(at), m.set.Len(), append(m.LeftOut, left...)
	return m, nil
}

// draw makes the pictures, then the places, which take longer: the pictures' folder may be missing.
func (m *Map) draw(ctx context.Context, h Host, run *folder.Run, o MapOptions) (err error) {
	if o.Pictures {
		paths := make([]string, m.set.Len())
		for i, id := range m.set.IDs {
			paths[i] = run.Manifest.Samples[id].Path
		}
		if m.pictures, err = Thumbnails(ctx, h, run, paths, atlas.ThumbnailSide(len(paths))); err != nil {
			return err
		}
	}
	plane, err := m.flatten(ctx, h, o.TSNE)
	if err != nil {
		return err
	}
	d := run.Manifest
	class := func(id int) string {
		if id == datasets.Unlabelled {
			return ""
		}
		return d.Classes[id]
	}
	m.drawn = atlas.Map{Title: m.title(run), Notes: []string{"Each point is an image; its colour is " + colourText(o.Colour) + "."}, Facts: m.facts(h, run)}
	for i, id := range m.set.IDs {
		s := d.Samples[id]
		p := atlas.Point{X: plane[i].X, Y: plane[i].Y, Path: s.Path, Label: class(s.Label), True: class(s.True), Split: s.Split, Score: math.NaN()}
		if v, ok := o.Scores[s.Path]; ok {
			p.Score = v.Value
		}
		m.drawn.Points = append(m.drawn.Points, p)
	}
	if o.Colour == ColourScore {
		return scaleByScore(&m.drawn, o.ScoresFile)
	}
	return groupPoints(&m.drawn, o, d)
}

// flatten brings the vectors into the plane.
func (m *Map) flatten(ctx context.Context, h Host, o tsne.Options) ([]tsne.Point, error) {
	start := time.Now()
	defer func() { m.Took = time.Since(start) }()
	if m.Method == MethodPCA {
		components, err := tsne.PCA(m.set.X)
		m.Shares = &components.Share
		return components.Points, err
	}
	at, end := h.Watch("iterations")
	defer end()
	o.Stepped = func(t int) { at(t, o.Iterations) }
	plane, report, err := tsne.Embed(ctx, m.set.X, o)
	m.TSNE = &report
	if report.Perplexity < o.Perplexity && err == nil {
		h.Note("perplexity %g is too much for %d images: using %.3g", o.Perplexity, m.set.Len(), report.Perplexity)
	}
	return plane, err
}

// colourText says for people what colours show.
func colourText(colour string) string {
	if class, ok := strings.CutPrefix(colour, ColourClass); ok {
		return "whether its given label is " + glyphs.Readable(class)
	}
	return map[string]string{ColourLabel: "its given label", ColourTrue: "its true label", ColourSplit: "its split",
		ColourScore: "how right its given label looks to the audit", ColourSuspect: "whether the audit calls its given label wrong"}[colour]
}

// groupPoints colours the points by what they have in common.
func groupPoints(m *atlas.Map, o MapOptions, d *datasets.Dataset) error {
	names := d.Classes
	name := func(p atlas.Point) string { return p.Label }
	if class, ok := strings.CutPrefix(o.Colour, ColourClass); ok {
		if !slices.Contains(d.Classes, class) {
			return fmt.Errorf("map: --color %s: the manifest has no label %q, expected one of its %d", o.Colour, class, len(d.Classes))
		}
		const others = "all others"
		names = []string{class, others}
		name = func(p atlas.Point) string {
			if p.Label != class && p.Label != "" {
				return others
			}
			return p.Label
		}
	}
	switch o.Colour {
	case ColourSuspect:
		names = []string{"called wrong", "not called wrong"}
		name = func(p atlas.Point) string {
			s, judged := o.Scores[p.Path]
			switch {
			case !judged:
				return ""
			case s.Wrong:
				return names[0]
			}
			return names[1]
		}
	case ColourTrue:
		name = func(p atlas.Point) string { return p.True }
	case ColourSplit:
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
		return fmt.Errorf("map: --color %s: of none of the %d images it is known", o.Colour, len(m.Points))
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
		return hint.With(fmt.Errorf("map: --color score: %s has a score of none of the %d images", file, len(m.Points)), "winnow audit judges the train split: --split train")
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

// ReadScores reads the scores of an audit's CSV by path; none where no file is named.
func ReadScores(path string) (map[string]Score, error) {
	if path == "" {
		return nil, nil
	}
	f, err := regular.Open(path)
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
		return nil, hint.With(fmt.Errorf("--scores: %s: found the columns %.200q, expected path and score among them", path, strings.Join(header, ",")), "make the file: winnow audit RUN --out suspects.csv")
	}
	scores, unjudged, wrong := map[string]Score{}, slices.Index(header, "unjudged"), slices.Index(header, "dropped")
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return scores, nil
		}
		if err != nil {
			return nil, fmt.Errorf("--scores: %s: %w", path, err)
		}
		if unjudged >= 0 && record[unjudged] == "true" { // its score says nothing
			continue
		}
		v, err := strconv.ParseFloat(record[score], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			line, _ := in.FieldPos(score)
			return nil, fmt.Errorf("--scores: %s:%d: score %q is not a number", path, line, record[score])
		}
		scores[suspects.Unquoted(header, record, at)] = Score{Value: v, Wrong: wrong >= 0 && record[wrong] == "true"}
	}
}

// title says what is drawn.
func (m *Map) title(run *folder.Run) string {
	what := "Features of " + filepath.Base(run.Dir)
	if run.Head != nil {
		what = "Embedding of the run " + filepath.Base(run.Dir)
	}
	return what + ": " + m.Split
}

// facts are the page's small print.
func (m *Map) facts(h Host, run *folder.Run) []atlas.Fact {
	facts := []atlas.Fact{{Name: "images", Value: fmt.Sprintf("%d of the %d of %s", m.Points, m.Of, m.Split)}}
	add := func(name, value string) { facts = append(facts, atlas.Fact{Name: name, Value: value}) }
	if n := len(m.LeftOut); n > 0 {
		add("left out", fmt.Sprintf("%d images that could not be read or have no direction", n))
	}
	if t := m.TSNE; t != nil {
		add("method", fmt.Sprintf("t-SNE (van der Maaten 2014): perplexity %.3g, %d iterations, KL divergence %.3f, learning rate %.0f, seed %d", t.Perplexity, t.Iterations, t.KL, t.LearningRate, m.Seed))
	}
	if s := m.Shares; s != nil {
		add("method", fmt.Sprintf("the two first principal components: %.1f %% and %.1f %% of the variance", 100*s[0], 100*s[1]))
	}
	if run.Head != nil {
		add("head", filepath.Join(run.Dir, run.HeadFile))
	}
	add("features", run.Store.Dir)
	add("manifest", run.ManifestFile)
	add("winnow", h.Winnow)
	return facts
}

// Write writes the map in the form that the file's ending says: .html (a page to explore), .svg (a drawing), .csv or .tsv
// (coordinates).
func (m *Map) Write(path string) error {
	write := readable(m.drawn).WriteSVG
	switch filepath.Ext(path) {
	case ".csv":
		write = func(w io.Writer) error { return m.drawn.WriteTable(w, ',', m.cell()) }
	case ".tsv":
		write = func(w io.Writer) error { return m.drawn.WriteTable(w, '\t', m.cell()) }
	case ".html":
		write = func(w io.Writer) error { return readable(m.drawn).WritePage(w, m.pictures) }
	}
	return m.put(path, write)
}

// cell returns how a text stands in a table.
func (m *Map) cell() func(string) string {
	if m.sheet {
		return suspects.Cell
	}
	return func(s string) string { return s }
}

// WriteProjector writes the vectors into a folder as TensorBoard's projector reads them.
func (m *Map) WriteProjector(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("map: %w", err)
	}
	if err := m.put(filepath.Join(dir, "tensors.tsv"), func(w io.Writer) error { return atlas.WriteTensors(w, m.set.X) }); err != nil {
		return err
	}
	return m.put(filepath.Join(dir, "metadata.tsv"), m.drawn.WriteMetadata)
}

func (m *Map) put(path string, write func(io.Writer) error) error {
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("map: %s: %w", path, err)
	}
	m.Files = append(m.Files, path)
	return nil
}

// readable returns a map whose drawn characters have readable names.
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
