package embedding

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/seen"
	"winnow/search"
	"winnow/search/pgvector"
)

// Search says what is searched for, and where.
type Search struct {
	Options           // of queries that are images
	Index    string   // or a feature store; "": a database alone
	Database Database // is searched if it has a URL; an index as well measures its recall
	Queries  []string // images, paths of indexed images, .npy files
	K        int
	Manifest location.Source // the zero value: only the labels of the database
}

// manyQueries is from how many queries on loading ONNX Runtime pays: its products are several times as fast.
const manyQueries = 8

// searchExactly is the exact search.
func (s Search) searchExactly(ctx context.Context, h Host, g *search.Gallery, queries []search.Query) ([][]search.Hit,
	error) {
	if len(queries) >= manyQueries {
		if rt, err := h.Runtime(); err == nil { // without it the search is slower
			defer rt.Close()
		}
	}
	return g.Nearest(ctx, queries, s.K)
}

// embedQueries turns images into queries. It also returns those that have no vector.
func (s Search) embedQueries(ctx context.Context, h Host, e *Embedder, dim int, list *imageroot.List) ([]search.Query,
	[]features.Bad, error) {
	net, err := e.Load(h, 0, true)
	if err != nil {
		return nil, nil, err
	}
	defer net.Close()
	if net.Dim() != dim {
		return nil, nil, fmt.Errorf("search: %s embeds into %d values, expected %d", e.Source, net.Dim(), dim)
	}
	return net.Queries(ctx, list, list.Paths(), s.Options)
}

// askDatabase searches a database for the neighbours. g, which may be nil, holds the same vectors.
func (s Search) askDatabase(
	ctx context.Context,
	h Host,
	g *search.Gallery,
	labels map[string]string,
) (r Answers, err error) {
	store, err := s.Database.Dial(s.Index)
	if err != nil {
		return r, err
	}
	defer store.Close()
	if store.Collection() == "" {
		return r, hint.Misused("--to: found no name of a collection or table, expected one: --collection NAME")
	}
	store.Notify(func(text string) { h.Note("%s", text) })
	defer func() {
		err = s.Database.adviseOnDatabase(
			err,
			"ask again",
			"name another --collection, or write this one: winnow export --to",
		)
	}()
	about, err := store.Look(ctx)
	if err != nil {
		return r, err
	}
	var queries []search.Query
	var left []features.Bad
	stored := map[string]pgvector.Point{}
	if g == nil {
		if stored, err = store.Fetch(ctx, s.Queries); err != nil {
			return r, err
		}
		queries, left, err = search.Queries(s.Queries, about.Dim, func(name string) (search.Query, bool, error) {
			p, known := stored[name]
			return search.Query{Name: name, Vector: p.Vector, Row: 0}, known, nil // any row: it is there
		}, func(images []string) ([]search.Query, []features.Bad, error) {
			return s.imagesFor(ctx, h, store, about, images)
		})
	} else if g.Width() != about.Dim || g.Model() != about.Model {
		return r, &pgvector.OtherCollection{Store: store.String(),
			Why: fmt.Sprintf("found vectors of %d values made by %.12s, expected those of %s: %d, by %.12s",
				about.Dim, about.Model, s.Index, g.Width(), g.Model())}
	} else {
		queries, left, err = s.readQueries(ctx, h, g)
	}
	if err != nil {
		return r, err
	}
	r = newAnswers(store.Address()+" "+store.Collection(), about.Points, about.Dim, queries, left)
	for i, q := range queries {
		k := s.K
		if q.Row >= 0 {
			k++
		}
		hits, err := store.Nearest(ctx, q.Vector, k)
		if err != nil {
			return r, err
		}
		hits = slices.DeleteFunc(hits, func(h pgvector.Hit) bool { return q.Row >= 0 && h.Path == q.Name })
		a := Answer{q.Name, cmp.Or(labels[q.Name], stored[q.Name].Payload["label"]), seen.Same, []Hit{}}
		for j, h := range hits[:min(s.K, len(hits))] {
			row := -1
			if g != nil {
				if at, here := g.Lookup(h.Path); here {
					row = at
				}
			}
			a.Nearest = append(a.Nearest, Hit{j + 1, row, h.Path, cmp.Or(labels[h.Path], h.Payload["label"]),
				h.Similarity, seen.Same})
		}
		r.Queries[i] = a
	}
	if g == nil {
		return r, nil
	}
	if err := r.checkGalleryFiles(g, queries); err != nil {
		return r, err
	}
	exact, err := s.searchExactly(ctx, h, g, queries)
	r.Recall = compareRecall(g, r.Queries, exact, s.Index)
	return r, err
}

// imagesFor turns images into queries to a database, by the model whose vectors it holds.
func (s Search) imagesFor(ctx context.Context, h Host, store *pgvector.Server, about pgvector.About,
	images []string) ([]search.Query, []features.Bad, error) {
	if s.Model == "" {
		return nil, nil, hint.Misused("%s is not in %s, and an image needs what made the vectors there: name the "+
			"run or the model with --model, or an index of the same with --index", images[0], store.Collection())
	}
	e, err := Open(s.Model, s.Backbone, h.Note)
	if err != nil {
		return nil, nil, err
	}
	if made := cmp.Or(e.Head, e.Embedder.Model); made != about.Model {
		return nil, nil, &pgvector.OtherCollection{Store: store.String(),
			Why: fmt.Sprintf("found vectors made by %.12s, expected by %.12s, which is %s", about.Model, made, s.Model)}
	}
	list, err := imageroot.OpenList(ctx, location.All(images), s.Root, s.Stdin, h.Note)
	if err != nil {
		return nil, nil, err
	}
	return s.embedQueries(ctx, h, e, about.Dim, list)
}

// Recall says how many of the neighbours of an exact search a database found.
type Recall struct {
	Of       string  `json:"of"` // the index that was searched exactly
	Found    int     `json:"found"`
	Expected int     `json:"expected"`
	Value    float64 `json:"recall"`
}

// tied is how much similarities of the same vectors differ when two programs compute them.
const tied = 1e-6

// compareRecall compares answers with those of the exact search. An image as similar as the last exact one counts as
// found, too.
func compareRecall(g *search.Gallery, answers []Answer, exact [][]search.Hit, of string) *Recall {
	r := &Recall{Of: of, Value: 1}
	for i, list := range exact {
		r.Expected += len(list)
		right := 0
		for _, h := range answers[i].Nearest {
			if len(list) > 0 && (h.Similarity >= list[len(list)-1].Similarity-tied ||
				slices.ContainsFunc(list, func(e search.Hit) bool { return g.Paths[e.Row] == h.Path })) {
				right++
			}
		}
		r.Found += min(right, len(list))
	}
	if r.Expected > 0 {
		r.Value = float64(r.Found) / float64(r.Expected)
	}
	return r
}
