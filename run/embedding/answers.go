package embedding

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/internal/seen"
	"winnow/internal/text"
	"winnow/run/extraction"
	"winnow/search"
)

// Answers are what was found for some queries.
type Answers struct {
	Index   string           `json:"index"`
	Rows    int              `json:"rows"`
	Dim     int              `json:"dim"`
	Queries []Answer         `json:"queries"`
	LeftOut []lookup.LeftOut `json:"left_out"`         // queries that could not be read
	Recall  *Recall          `json:"recall,omitempty"` // of a database, if an index is given to compare it with

	FromStore bool `json:"-"` // the index is a feature store
}

// Answer is what was found for one query.
type Answer struct {
	Query   string     `json:"query"`
	Label   string     `json:"label,omitempty"`
	File    seen.State `json:"file,omitempty"` // of the query if it is an image of the index
	Nearest []Hit      `json:"nearest"`
}

// Hit is an image found.
type Hit struct {
	Rank       int        `json:"rank"` // from 1
	Row        int        `json:"row"`  // from 0
	Path       string     `json:"path"`
	Label      string     `json:"label,omitempty"`
	Similarity float64    `json:"similarity"`
	File       seen.State `json:"file,omitempty"`
}

// NewAnswers adds labels to what a gallery found for queries, and what became of the images' files. left are the
// queries that could not be read.
func NewAnswers(index string, g *search.Gallery, queries []search.Query, found [][]search.Hit,
	labels map[string]string, left []features.Bad) (Answers, error) {
	r := newAnswers(index, g.Len(), g.Width(), queries, left)
	for i, list := range found {
		q := Answer{queries[i].Name, labels[queries[i].Name], seen.Same, []Hit{}}
		for j, h := range list {
			path := g.Paths[h.Row]
			q.Nearest = append(q.Nearest, Hit{j + 1, h.Row, path, labels[path], h.Similarity, seen.Same})
		}
		r.Queries[i] = q
	}
	err := r.checkGalleryFiles(g, queries)
	return r, err
}

// checkGalleryFiles compares the files of a gallery's images with those that its vectors were made from.
func (r *Answers) checkGalleryFiles(g *search.Gallery, queries []search.Query) error {
	r.FromStore = g.Index == nil
	state, err := statesOf(g)
	if err != nil {
		return err
	}
	for i, q := range r.Queries {
		if queries[i].Row >= 0 {
			r.Queries[i].File = state(queries[i].Row)
		}
		for j, h := range q.Nearest {
			if h.Row >= 0 {
				q.Nearest[j].File = state(h.Row)
			}
		}
	}
	return nil
}

// statesOf returns a function that reports the state of a row's file since its vector was made.
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

// Stale says which images found, or asked for by their names, are gone or changed since their vectors were made, or "".
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

func newAnswers(index string, rows, dim int, queries []search.Query, left []features.Bad) Answers {
	return Answers{Index: index, Rows: rows, Dim: dim, Queries: make([]Answer, len(queries)),
		LeftOut: lookup.Unreadable(left)}
}

// readLabels returns the labels of a manifest by path. The zero source has no labels.
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

// Write writes the result for people.
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
			file := h.Path // at the end, where a long one widens no column
			if h.File != seen.Same {
				file += "  (" + string(h.File) + ")"
			}
			table.Row(append(cells, file)...)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if c := r.Recall; c != nil {
		_, err := fmt.Fprintf(w, "\nrecall      %.4f: %d of the %d that the exact search of %s finds\n", c.Value,
			c.Found, c.Expected, c.Of)
		return err
	}
	return nil
}
