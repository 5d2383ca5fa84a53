package embedding

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"winnow/cluster"
	"winnow/datasets/imagelist"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/search"
)

// SearchJob divides the queries of an exact search.
var SearchJob = cluster.Job[Answers]{Name: "search", Unit: "queries", Merge: mergeAnswers}

// asked holds the queries to a gallery. Images have no vector until they are embedded.
type asked struct {
	queries []search.Query
	images  []group
}

// group holds images that are embedded together: the queries from first on.
type group struct {
	*imagelist.List
	first int
}

// open lists the queries in their order, without opening an image.
func (s Search) open(ctx context.Context, g *search.Gallery) (a asked, err error) {
	a.queries, _, err = g.Queries(s.Queries, func(names []string) ([]search.Query, []features.Bad, error) {
		list, err := imagelist.Open(ctx, location.All(names), s.Root, s.Stdin)
		if err != nil {
			return nil, nil, err
		}
		a.images = append(a.images, group{List: list})
		queries := make([]search.Query, len(list.Images))
		for i, path := range list.Paths() {
			queries[i] = search.Query{Name: path, Row: -1}
		}
		return queries, nil, nil
	})
	at := 0
	for i := range a.images {
		for at < len(a.queries) && a.queries[at].Vector != nil {
			at++
		}
		a.images[i].first = at
		at += len(a.images[i].Images)
	}
	return a, err
}

// sum returns the sha256 of all queries: the names of images, and vectors.
func (a asked) sum() string {
	sum := sha256.New()
	for _, q := range a.queries {
		fmt.Fprintf(sum, "%q\n", q.Name)
		_ = binary.Write(sum, binary.LittleEndian, q.Vector) // a hash takes all
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Run searches the whole gallery for all queries, or for those of a shard. All answers are saved in the file out; those
// of a shard are a part of it, which is made unless it exists. Images are embedded in the same batches on one machine
// and on several.
func (s Search) Run(ctx context.Context, h Host, out string, shard cluster.Shard) (cluster.Result, error) {
	if s.Database.URL != "" && !shard.Whole() {
		return nil, hint.Misused("--shard deals the queries of an exact search: leave --to out, or --shard")
	}
	h = h.Complete()
	labels, digest, err := labelsOf(s.Manifest)
	if err != nil {
		return nil, err
	}
	var g *search.Gallery
	if s.Index != "" {
		if g, err = search.OpenGallery(s.Index); err != nil {
			return nil, err
		}
		defer g.Close()
		if g.Index != nil && g.Index.Unfinished {
			h.Note("%s: making this index did not come to its end: only the %d images that it has are searched; run "+
				"the same winnow index again", s.Index, g.Len())
		}
	}
	save := func(r Answers, err error) (cluster.Result, error) {
		if err == nil {
			err = cluster.Save(out, r)
		}
		return r, err
	}
	if s.Database.URL != "" {
		return save(s.ask(ctx, h, g, labels))
	}
	a, err := s.open(ctx, g)
	if err != nil {
		return nil, err
	}
	find := func(first, end int) (Answers, error) {
		queries, left, err := s.some(ctx, h, g, a, first, end)
		if err != nil {
			return Answers{}, err
		}
		found, err := s.nearest(ctx, h, g, queries)
		if err != nil {
			return Answers{}, err
		}
		return NewAnswers(s.Index, g, queries, found, labels, left)
	}
	if shard.Whole() {
		return save(find(0, len(a.queries)))
	}
	rows := cluster.Rows{Total: len(a.queries), Batch: 1,
		Inputs: map[string]string{"vectors": g.Sum(), "queries": a.sum(), "labels": digest},
		Settings: map[string]string{"k": strconv.Itoa(s.K), "batch": strconv.Itoa(s.Batch),
			"root": s.Root.String()}, Winnow: h.Winnow}
	return SearchJob.Do(ctx, location.At(out), shard, rows, func(first, end int, put func(Answers) error) error {
		r, err := find(first, end)
		if err != nil {
			return err
		}
		return put(r)
	})
}

// some returns the queries from first to before end with their vectors, and the images that have none. Images are
// embedded in the same batches as on one machine.
func (s Search) some(ctx context.Context, h Host, g *search.Gallery, a asked, first, end int) (queries []search.Query,
	left []features.Bad, err error) {
	at := first
	for _, of := range a.images {
		from, to := max(first-of.first, 0), min(end-of.first, len(of.Images))
		if from >= to {
			continue
		}
		queries = append(queries, a.queries[at:of.first+from]...)
		at = of.first + to
		e, err := OpenMaker(g, s.Options, h.Note)
		if err != nil {
			return nil, nil, err
		}
		begin := from / s.Batch * s.Batch
		mine := *of.List
		mine.Images = slices.Clone(mine.Images[begin:min((to+s.Batch-1)/s.Batch*s.Batch, len(of.Images))])
		more, bad, err := s.embed(ctx, h, e, g.Width(), &mine)
		if err != nil {
			return nil, nil, err
		}
		gone := map[int]bool{}
		for _, b := range bad {
			gone[b.Row] = true
			if row := begin + b.Row; row >= from && row < to {
				left = append(left, b)
			}
		}
		next := 0
		for row := range mine.Images {
			if gone[row] {
				continue
			}
			if begin+row >= from && begin+row < to {
				queries = append(queries, more[next])
			}
			next++
		}
	}
	return append(queries, a.queries[at:end]...), left, nil
}

// mergeAnswers writes the answers of all parts, as one machine does.
func mergeAnswers(_ context.Context, w *cluster.Whole, values iter.Seq2[Answers, error],
	_ cluster.JoinOptions) (cluster.Result, error) {
	list, err := cluster.All(values)
	if err != nil {
		return nil, err
	}
	all := list[0]
	all.LeftOut, all.Queries = []lookup.LeftOut{}, []Answer{} // none, not null
	for _, p := range list {
		all.LeftOut, all.Queries = append(all.LeftOut, p.LeftOut...), append(all.Queries, p.Queries...)
	}
	for i := range all.Queries {
		all.Queries[i].Nearest = append([]Hit{}, all.Queries[i].Nearest...)
	}
	return all, cluster.Save(w.Out.Path(), all)
}
