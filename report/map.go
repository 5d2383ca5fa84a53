package report

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/eval/tsne"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/lookup"
	"winnow/report/page"
	"winnow/run/folder"
)

// MapOptions selects the images of a map and how they are drawn.
type MapOptions struct {
	Split  string // splits of the manifest; "": test, or query and gallery
	Names  classnames.Names
	Colour string
	Scores map[string]Score // scores of an audit by image path; may be nil
	Max    int              // maximum number of images, sampled with the seed of TSNE
	TSNE   tsne.Options
}

// Map is a t-SNE map of a run's images, as printed by "winnow map --json".
type Map struct {
	Files   []string         `json:"files"`
	Points  int              `json:"points"`
	Of      int              `json:"of"` // number of images in the splits
	Split   string           `json:"split"`
	View    string           `json:"view,omitempty"` // center or mean; "" if the store has one view per image
	TSNE    tsne.Report      `json:"tsne"`
	Seed    uint64           `json:"seed"`
	LeftOut []lookup.LeftOut `json:"left_out"`
	Seconds float64          `json:"seconds"`
	Took    time.Duration    `json:"-"` // duration of t-SNE

	names classnames.Names
	set   features.Set
	drawn page.Map
}

// DrawMap returns a t-SNE map of the images of a run or of a feature store.
func DrawMap(ctx context.Context, h Host, run *folder.Run, o MapOptions) (*Map, error) {
	h = h.withDefaults()
	m, err := chooseMap(ctx, run, o)
	if err != nil {
		return nil, err
	}
	if n := len(m.LeftOut); n > 0 {
		h.Note("%d images are left out, the first is %s: %s", n, m.LeftOut[0].Path, m.LeftOut[0].Reason)
	}
	return m, m.computeMap(ctx, h, run, o)
}

// chooseMap selects and embeds the images of a map.
func chooseMap(ctx context.Context, run *folder.Run, o MapOptions) (m *Map, err error) {
	m = &Map{
		names: o.Names, Split: o.Split, View: run.Look(), Seed: o.TSNE.Seed,
		LeftOut: []lookup.LeftOut{}, Files: []string{},
	}
	if m.Split == "" {
		usual, err := folder.UsualSplits(run.Manifest)
		if err != nil {
			return nil, err
		}
		m.Split = strings.Join(usual, ",")
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

// computeMap computes the positions and the colour groups of the points.
func (m *Map) computeMap(ctx context.Context, h Host, run *folder.Run, o MapOptions) (err error) {
	plane, err := m.flattenVectors(ctx, h, o.TSNE)
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
	m.drawn = page.Map{Title: m.describeMap(run)}
	for i, id := range m.set.IDs {
		s := d.Samples[id]
		p := page.Point{
			X: plane[i].X, Y: plane[i].Y, Path: s.Path,
			Label: class(s.Label), True: class(s.True), Split: s.Split, Score: math.NaN(),
		}
		if v, ok := o.Scores[s.Path]; ok {
			p.Score = v.Value
		}
		m.drawn.Points = append(m.drawn.Points, p)
	}
	return groupPoints(&m.drawn, o, d)
}

// flattenVectors maps the embeddings to the plane by t-SNE.
func (m *Map) flattenVectors(ctx context.Context, h Host, o tsne.Options) ([]tsne.Point, error) {
	start := time.Now()
	defer func() { m.Took = time.Since(start) }()
	at, end := h.Watch("iterations")
	defer end()
	o.Stepped = func(iteration int) { at(iteration, o.Iterations) }
	plane, report, err := tsne.Embed(ctx, m.set.X, o)
	m.TSNE = report
	if report.Perplexity < o.Perplexity && err == nil {
		h.Note("perplexity %g is too large for %d images: using %.3g", o.Perplexity, m.set.Len(), report.Perplexity)
	}
	return plane, err
}

// describeMap returns the title of the map.
func (m *Map) describeMap(run *folder.Run) string {
	what := "Features of " + filepath.Base(run.Dir)
	if run.Head != nil {
		what = "Embedding of the run " + filepath.Base(run.Dir)
	}
	return what + ": " + m.Split
}

// Write writes the map to a file: as a table of coordinates if the extension is .csv, otherwise as an SVG drawing.
func (m *Map) Write(path string) error {
	write := m.withClassNames().WriteSVG
	if filepath.Ext(path) == ".csv" {
		write = m.drawn.WriteTable
	}
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("map: %s: %w", path, err)
	}
	m.Files = append(m.Files, path)
	return nil
}

// withClassNames returns the drawing with class names in place of labels.
func (all *Map) withClassNames() page.Map {
	m, names := all.drawn, all.names
	m.Points, m.Groups = slices.Clone(m.Points), slices.Clone(m.Groups)
	for i := range m.Groups {
		m.Groups[i] = names.Of(m.Groups[i])
	}
	for i := range m.Points {
		p := &m.Points[i]
		p.Label, p.True = names.Of(p.Label), names.Of(p.True)
	}
	return m
}

// Print writes a summary of the map.
func (m *Map) Print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d of %d images of %s, t-SNE: perplexity %.3g, %d iterations, KL %.3f, %.1f s\n%s\n",
		m.Points, m.Of, m.Split, m.TSNE.Perplexity, m.TSNE.Iterations, m.TSNE.KL, m.Took.Seconds(),
		strings.Join(m.Files, ", "))
	return err
}
