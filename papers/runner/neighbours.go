package runner

import (
	"cmp"
	"context"
	"slices"

	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/eval"
	"winnow/features"
	"winnow/papers/studies"
	"winnow/report"
	"winnow/run/comparison"
	"winnow/run/measure"
)

// The neighbours shown: as many as in Fig. 7 of the adapted triplet's paper.
const (
	shownQueries = 4
	shownNearest = 10
	shownSide    = 128 // pixels of a picture at most
)

// showsNeighbours reports whether the study shows the nearest images of some.
func (r *reproduction) showsNeighbours() bool {
	return r.Study.Chart != nil && r.Study.Chart.Kind == studies.Neighbours
}

// countsHits reports whether the study looks at the nearest images.
func (r *reproduction) countsHits() bool {
	return r.showsNeighbours() || slices.Contains(r.Study.Measures, studies.Hits10)
}

// countNeighbourHits counts the hits among the nearest images of all images that are not alone in their class. If the
// study shows neighbours, it keeps those of some images.
func (r *reproduction) countNeighbourHits(ctx context.Context, o *studies.Outcome, d *datasets.Dataset,
	of comparison.Asked[features.Set]) error {
	if !r.countsHits() {
		return nil
	}
	split := datasets.Test
	if of.Gallery != nil {
		split = datasets.Query
	}
	asked := measure.ExampleOptions{K: shownNearest, MaxMem: eval.DefaultMaxMem / 4}
	all, err := measure.ExamplesAmong(ctx, d, split, of, asked)
	if err != nil {
		return err
	}
	hits := 0
	for _, q := range all.Queries {
		hits += q.Hits
	}
	o.Measures[studies.Hits10] = float64(hits) / float64(len(all.Queries))
	if !r.showsNeighbours() {
		return nil
	}
	asked.Queries = shownQueries
	some, err := measure.ExamplesAmong(ctx, d, split, of, asked)
	for _, q := range some.Queries {
		shown := studies.Query{Path: q.Path, Class: classnames.Readable(q.Label)}
		for _, n := range q.Nearest {
			shown.Nearest = append(shown.Nearest, studies.Near{
				Path: n.Path, Class: classnames.Readable(n.Label), Similarity: n.Similarity, Hit: n.Hit,
			})
		}
		o.Queries = append(o.Queries, shown)
	}
	return err
}

// openPictures opens the images of the data whose neighbours are shown, if a root is named. It does so before anything
// is trained, so that a wrong root is found first.
func (r *reproduction) openPictures(ctx context.Context) error {
	if !r.showsNeighbours() {
		return nil
	}
	for _, d := range r.listUsedData() {
		if d.pictures.Root != nil || d.from.Root.IsZero() {
			continue
		}
		var err error
		if d.pictures, err = report.OpenPictures(ctx, d.from.Root, "reproduce"); err != nil {
			return err
		}
	}
	return nil
}

// readPictures reads the pictures that the page shows of each column. If they cannot be read, a note says so and the
// page shows their paths.
func (r *reproduction) readPictures(ctx context.Context) {
	if !r.showsNeighbours() {
		return
	}
	r.results.Pictures = make([]map[string][]byte, len(r.Study.Columns))
	for j, column := range r.Study.Columns {
		paths := r.results.Shown(j)
		d := r.findFirstData(column)
		if len(paths) == 0 || d == nil || d.pictures.Root == nil {
			continue
		}
		files, err := d.pictures.Files(ctx, report.Host{Note: r.Host.Note, Watch: r.Watch}, paths, shownSide)
		if err != nil {
			r.Host.Note("%s: its pictures are left out: %v", column.Name, cmp.Or(ctx.Err(), err))
			continue
		}
		r.results.Pictures[j] = files
	}
}
