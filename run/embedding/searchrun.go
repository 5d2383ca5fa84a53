package embedding

import (
	"context"
	"io"

	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/text"
	"winnow/search"
)

// Run searches the gallery, or the database, for all queries, and saves the answers in the file out, unless it is "".
func (s Search) Run(ctx context.Context, h Host, out string) (r Answers, err error) {
	h = h.Complete()
	labels, err := readLabels(s.Manifest)
	if err != nil {
		return r, err
	}
	var g *search.Gallery
	if s.Index != "" {
		if g, err = search.OpenGallery(s.Index); err != nil {
			return r, err
		}
		defer g.Close()
		if g.Index != nil && g.Index.Unfinished {
			h.Note("%s: making this index did not come to its end: only the %d images that it has are searched; run "+
				"the same winnow index again", s.Index, g.Len())
		}
	}
	if s.Database.URL != "" {
		r, err = s.askDatabase(ctx, h, g, labels)
	} else {
		r, err = s.findIn(ctx, h, g, labels)
	}
	if err != nil || out == "" {
		return r, err
	}
	return r, atomicfile.Write(out, func(w io.Writer) error { return text.JSON(w, r) })
}

// findIn searches the whole gallery.
func (s Search) findIn(ctx context.Context, h Host, g *search.Gallery, labels map[string]string) (Answers, error) {
	queries, left, err := s.readQueries(ctx, h, g)
	if err != nil {
		return Answers{}, err
	}
	found, err := s.searchExactly(ctx, h, g, queries)
	if err != nil {
		return Answers{}, err
	}
	return NewAnswers(s.Index, g, queries, found, labels, left)
}

// readQueries returns the queries with their vectors, and the images that have none.
func (s Search) readQueries(ctx context.Context, h Host, g *search.Gallery) ([]search.Query, []features.Bad, error) {
	return g.Queries(s.Queries, func(images []string) ([]search.Query, []features.Bad, error) {
		list, err := imageroot.OpenList(ctx, location.All(images), s.Root, s.Stdin, h.Note)
		if err != nil {
			return nil, nil, err
		}
		e, err := OpenMaker(g, s.Options, h.Note)
		if err != nil {
			return nil, nil, err
		}
		return s.embedQueries(ctx, h, e, g.Width(), list)
	})
}
