package embedding

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"

	"winnow/datasets/imagelist"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/internal/text"
	"winnow/parts"
	"winnow/search"
)

// SearchJob names the parts of [Search.RunPart].
const SearchJob = "search"

// group is some of the queries: images that are still to be embedded, or vectors.
type group struct {
	images  *imagelist.List
	queries []search.Query
}

func (g group) len() int {
	if g.images != nil {
		return len(g.images.Images)
	}
	return len(g.queries)
}

// groups lists the queries in their order, without looking at an image.
func (s Search) groups(ctx context.Context, g *search.Gallery) (list []group, err error) {
	var pending []string
	flush := func() error {
		if len(pending) == 0 {
			return nil
		}
		images, err := imagelist.Open(ctx, location.All(pending), s.Root, s.Stdin)
		list, pending = append(list, group{images: images}), nil
		return err
	}
	for _, name := range s.Queries {
		image := false
		queries, _, err := g.Queries([]string{name}, func([]string) ([]search.Query, []features.Bad, error) {
			image = true
			return nil, nil, nil
		})
		if err != nil {
			return nil, err
		}
		if image {
			pending = append(pending, name)
			continue
		}
		if err := flush(); err != nil {
			return nil, err
		}
		list = append(list, group{queries: queries})
	}
	return list, flush()
}

// sumOf returns the sha256 of all queries: the names of images, and vectors.
func sumOf(list []group) string {
	sum := sha256.New()
	for _, g := range list {
		if g.images != nil {
			fmt.Fprintln(sum, "images", features.HashPaths(g.images.Paths()))
		}
		for _, q := range g.queries {
			fmt.Fprintf(sum, "%q\n", q.Name)
			_ = binary.Write(sum, binary.LittleEndian, q.Vector) // a hash takes all
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// RunPart lets a shard of the queries ask the whole gallery, into a part of the file out, unless it is there. Images are embedded beside the
// same others as on one machine.
func (s Search) RunPart(ctx context.Context, h Host, out string, shard parts.Shard) (parts.Made, error) {
	if s.Database.URL != "" {
		return parts.Made{}, hint.Misused("--shard deals the queries of an exact search: leave --to out, or --shard")
	}
	h = h.Complete()
	labels, digest, err := labelsOf(s.Manifest)
	if err != nil {
		return parts.Made{}, err
	}
	g, err := search.OpenGallery(s.Index)
	if err != nil {
		return parts.Made{}, err
	}
	defer g.Close()
	list, err := s.groups(ctx, g)
	if err != nil {
		return parts.Made{}, err
	}
	total := 0
	for _, of := range list {
		total += of.len()
	}
	header, err := parts.NewHeader(SearchJob, shard, total, 1, "queries",
		map[string]string{"vectors": g.Sum(), "queries": sumOf(list), "labels": digest},
		map[string]string{"k": strconv.Itoa(s.K), "batch": strconv.Itoa(s.Batch), "root": s.Root.String()}, h.Winnow)
	if err != nil {
		return parts.Made{}, err
	}
	return parts.Make(ctx, out, header, parts.MakeValue(func() (Answers, error) {
		queries, left, err := s.some(ctx, h, g, list, header.First, header.End)
		if err != nil {
			return Answers{}, err
		}
		found, err := s.nearest(ctx, h, g, queries)
		return NewAnswers(s.Index, g, queries, found, labels, left), err
	}))
}

// some makes the queries from first to before end.
func (s Search) some(ctx context.Context, h Host, g *search.Gallery, list []group, first, end int) (queries []search.Query, left []features.Bad, err error) {
	at := 0
	for _, of := range list {
		from, to := max(first-at, 0), min(end-at, of.len())
		at += of.len()
		if from >= to {
			continue
		}
		if of.images == nil {
			queries = append(queries, of.queries[from:to]...)
			continue
		}
		e, err := OpenMaker(g, s.Options, h.Note)
		if err != nil {
			return nil, nil, err
		}
		begin := from / s.Batch * s.Batch
		mine := *of.images
		mine.Images = slices.Clone(mine.Images[begin:min((to+s.Batch-1)/s.Batch*s.Batch, of.len())])
		more, bad, err := s.embedListed(ctx, h, e, g.Width(), &mine)
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
	return queries, left, nil
}

// JoinSearch writes what all parts found, as one machine does.
func JoinSearch(_ context.Context, w *parts.Whole, _ parts.JoinOptions) (parts.Result, error) {
	list, err := parts.Values[Answers](w)
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
	return all, all.Save(w.Out)
}

// Save writes the answers into a file of JSON; "" is none.
func (r Answers) Save(file string) error {
	if file == "" {
		return nil
	}
	return atomicfile.Write(file, func(w io.Writer) error { return text.JSON(w, r) })
}
