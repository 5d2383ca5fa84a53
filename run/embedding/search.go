package embedding

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/lookup"
	"winnow/internal/seen"
	"winnow/internal/text"
	"winnow/run/extraction"
	"winnow/search"
)

// Search holds the queries and the index of a search.
type Search struct {
	Options           // for embedding queries that are images
	Index    string   // folder of an index or of a feature store
	Queries  []string // images, paths of indexed images, or .npy files
	K        int
	Manifest location.Source // source of labels; the zero value: none
}

// Answers holds the results of a search, as printed by winnow search --json.
type Answers struct {
	Index   string           `json:"index"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	Queries []Answer         `json:"queries"`
	LeftOut []lookup.LeftOut `json:"left_out"` // queries that could not be read

	FromStore bool `json:"-"` // the index is a feature store
}

// Answer holds the results for one query.
type Answer struct {
	Query   string     `json:"query"`
	Label   string     `json:"label,omitempty"`
	File    seen.State `json:"file,omitempty"` // state of the query's file if the query is in the index
	Nearest []Hit      `json:"nearest"`
}

// Hit is one of the nearest images.
type Hit struct {
	Rank       int        `json:"rank"` // from 1
	Row        int        `json:"row"`  // from 0
	Path       string     `json:"path"`
	Label      string     `json:"label,omitempty"`
	Similarity float64    `json:"similarity"`
	File       seen.State `json:"file,omitempty"`
}

// manyQueries is the number of queries from which loading ONNX Runtime is worthwhile: its matrix products are faster.
const manyQueries = 8

// Run searches the gallery for all queries, and saves the answers in the file out unless it is "".
func (s Search) Run(ctx context.Context, h Host, out string) (r Answers, err error) {
	h = h.Complete()
	labels, err := readLabels(s.Manifest)
	if err != nil {
		return r, err
	}
	g, err := search.OpenGallery(s.Index)
	if err != nil {
		return r, err
	}
	defer g.Close()
	if g.Index != nil && g.Index.Unfinished {
		h.Note("%s: this index is unfinished: only its %d images are searched; run the same winnow index command "+
			"again to finish it", s.Index, g.Len())
	}
	queries, left, err := g.Queries(s.Queries, func(images []string) ([]search.Query, []features.Bad, error) {
		return s.embedQueries(ctx, h, g, images)
	})
	if err != nil {
		return r, err
	}
	if len(queries) >= manyQueries {
		if rt, err := h.Runtime(); err == nil { // without a runtime, the search is slower
			defer rt.Close()
		}
	}
	found, err := g.Nearest(ctx, queries, s.K)
	if err != nil {
		return r, err
	}
	r, err = newAnswers(s.Index, g, queries, found, labels)
	if r.LeftOut = lookup.Unreadable(left); err != nil || out == "" {
		return r, err
	}
	return r, atomicfile.Write(out, func(w io.Writer) error { return text.JSON(w, r) })
}

// embedQueries embeds images as queries, with the model of the gallery. It also returns the images without a vector.
func (s Search) embedQueries(ctx context.Context, h Host, g *search.Gallery, images []string) ([]search.Query,
	[]features.Bad, error) {
	list, err := imageroot.OpenList(ctx, location.All(images), s.Root, s.Stdin, h.Note)
	if err != nil {
		return nil, nil, err
	}
	e, err := OpenMaker(g, s.Options, h.Note)
	if err != nil {
		return nil, nil, err
	}
	net, err := e.Load(h, 0, true)
	if err != nil {
		return nil, nil, err
	}
	defer net.Close()
	if net.Dim() != g.Width() {
		return nil, nil, fmt.Errorf("search: %s embeds into %d values, expected %d", e.Source, net.Dim(), g.Width())
	}
	return net.Queries(ctx, list, list.Paths(), s.Options)
}

// newAnswers makes the answers from the hits of a gallery, and adds labels and the states of the image files.
func newAnswers(index string, g *search.Gallery, queries []search.Query, found [][]search.Hit,
	labels map[string]string) (Answers, error) {
	r := Answers{Index: index, Rows: g.Len(), Dim: g.Width(), FromStore: g.Index == nil}
	state, err := statesOf(g)
	if err != nil {
		return r, err
	}
	for i, list := range found {
		q := Answer{queries[i].Name, labels[queries[i].Name], seen.Same, []Hit{}}
		if queries[i].Row >= 0 {
			q.File = state(queries[i].Row)
		}
		for j, h := range list {
			path := g.Paths[h.Row]
			q.Nearest = append(q.Nearest, Hit{j + 1, h.Row, path, labels[path], h.Similarity, state(h.Row)})
		}
		r.Queries = append(r.Queries, q)
	}
	return r, nil
}

// statesOf returns a function that compares the image file of a row with the file that its vector was computed from.
func statesOf(g *search.Gallery) (func(row int) seen.State, error) {
	if g.Index == nil {
		return extraction.Changes(g.Store)
	}
	files, err := g.Index.Files()
	if err != nil {
		return nil, err
	}
	return files.State, nil
}

// Stale returns a text on how many hits and indexed queries have missing or changed files, "" if there are none.
func (r Answers) Stale() string {
	var t seen.Tally
	for _, q := range r.Queries {
		t.Add(q.Query, q.File)
		for _, h := range q.Nearest {
			t.Add(h.Path, h.File)
		}
	}
	words := t.Words()
	switch {
	case words == "":
		return ""
	case r.FromStore:
		return fmt.Sprintf("%s since the features were made, the first is %s", words, text.Line(t.First))
	default:
		return fmt.Sprintf("%s since the index was made, the first is %s", words, text.Line(t.First))
	}
}

// readLabels returns the labels of a manifest by path; none for the zero source.
func readLabels(manifest location.Source) (labels map[string]string, err error) {
	if manifest.IsZero() {
		return nil, nil
	}
	d, err := datasets.Read(manifest, datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	labels = make(map[string]string, len(d.Samples))
	for _, s := range d.Samples {
		if s.Label != datasets.Unlabelled {
			labels[s.Path] = d.Classes[s.Label]
		}
	}
	return labels, nil
}

// Write writes the answers as text.
func (r Answers) Write(w io.Writer) error {
	for i, q := range r.Queries {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, text.Line(strings.TrimSpace(q.Query+"  "+q.Label)))
		table := text.NewTable(w)
		labelled := slices.ContainsFunc(q.Nearest, func(h Hit) bool { return h.Label != "" })
		for _, h := range q.Nearest {
			cells := []string{fmt.Sprintf("%4d", h.Rank), fmt.Sprintf("%.4f", h.Similarity)}
			if labelled {
				cells = append(cells, h.Label)
			}
			file := h.Path // the last column, so that a long path widens no other column
			if h.File != seen.Same {
				file += "  (" + string(h.File) + ")"
			}
			table.Row(append(cells, file)...)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}
