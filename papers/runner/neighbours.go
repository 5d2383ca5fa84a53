package runner

import (
	"cmp"
	"context"
	"io/fs"
	"slices"

	"winnow/datasets"
	"winnow/datasets/glyphs/names"
	"winnow/datasets/location"
	"winnow/eval"
	"winnow/features"
	"winnow/papers/studies"
	"winnow/report"
	"winnow/run/comparison"
	"winnow/run/evaluation"
)

// What is shown of neighbours: as much as the adapted triplet's Fig. 7.
const (
	shownQueries = 4
	shownNearest = 10
	shownSide    = 128 // pixels of a picture at most
)

// showsNeighbours reports whether the study shows what images find.
func (r *reproduction) showsNeighbours() bool {
	return r.Study.Chart != nil && r.Study.Chart.Kind == studies.Neighbours
}

// countsHits reports whether the study looks at what images find.
func (r *reproduction) countsHits() bool {
	return r.showsNeighbours() || slices.Contains(r.Study.Measures, studies.Hits10)
}

// neighbours counts the hits among the nearest images of all that have another of their class to find, and keeps what some of them find
// where the study shows it.
func (r *reproduction) neighbours(ctx context.Context, o *studies.Outcome, d *datasets.Dataset, of comparison.Asked[features.Set]) error {
	if !r.countsHits() {
		return nil
	}
	split := datasets.Test
	if of.Gallery != nil {
		split = datasets.Query
	}
	asked := evaluation.ExampleOptions{Choice: evaluation.ChooseAll, Queries: shownQueries, K: shownNearest, MaxMem: eval.DefaultMaxMem / 4}
	all, err := evaluation.ExamplesAmong(ctx, d, split, of, asked)
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
	asked.Choice = evaluation.ChooseSpread
	some, err := evaluation.ExamplesAmong(ctx, d, split, of, asked)
	for _, q := range some.Queries {
		shown := studies.Query{Path: q.Path, Class: names.Readable(q.Label)}
		for _, n := range q.Nearest {
			shown.Nearest = append(shown.Nearest, studies.Near{Path: n.Path, Class: names.Readable(n.Label), Similarity: n.Similarity, Hit: n.Hit})
		}
		o.Queries = append(o.Queries, shown)
	}
	return err
}

// openPictures opens the images of the data whose neighbours are shown, where a root is named: before anything is trained, so that a
// wrong one is known.
func (r *reproduction) openPictures(ctx context.Context) error {
	if !r.showsNeighbours() {
		return nil
	}
	for _, d := range r.used() {
		if d.pictures.Root != nil || d.from.Root == "" {
			continue
		}
		var err error
		if d.pictures, err = report.OpenPictures(ctx, location.At(d.from.Root), "reproduce"); err != nil {
			return err
		}
	}
	return nil
}

// drawnPictures are those of the embedded dataset.
func drawnPictures(images fs.FS) report.Pictures {
	return report.Pictures{Root: images, Where: "the drawn characters", For: "reproduce"}
}

// readPictures reads what the page shows of each column; what cannot be read is noted, and its path stands for it.
func (r *reproduction) readPictures(ctx context.Context) {
	if !r.showsNeighbours() {
		return
	}
	r.results.Pictures = make([]map[string][]byte, len(r.Study.Columns))
	for j, column := range r.Study.Columns {
		paths := r.results.Shown(j)
		d := r.first(column)
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
