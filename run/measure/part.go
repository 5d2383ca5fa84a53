package measure

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"

	"winnow/cluster"
	"winnow/datasets/location"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/folder"
)

// Job divides the queries of the metric retrieval.
var Job = cluster.Job[part]{Name: "eval", Unit: "queries", Merge: mergeMeasures}

// part holds the answers of some of the queries, for each row of the comparison.
type part struct {
	Result  Result // all but its numbers
	Options eval.RetrievalOptions
	Rows    []answers // no map, so that a part made twice has the same bytes
}

// answers are the answers for one row of the comparison.
type answers struct {
	Row   string
	Found eval.Answers
}

// RunPart searches the whole gallery for a shard of the queries, into a part of the file out, unless the part exists.
func RunPart(ctx context.Context, r *folder.Run, o Options, out string, s cluster.Shard,
	winnow string) (cluster.Result, error) {
	if len(o.Metrics) != 1 || o.Metrics[0].Name != retrievalMetric {
		return nil, hint.Unfit("shard", "only the queries of the metric retrieval can be divided: measure other "+
			"metrics on one machine")
	}
	images, err := Read(ctx, r, o)
	if err != nil {
		return nil, err
	}
	settings := o.Metrics[0].Values
	ask := eval.Input{Seed: o.Seed}.Retrieval(settings)
	head, err := folder.FileSum(filepath.Join(r.Dir, r.HeadFile))
	if err != nil {
		return nil, err
	}
	frozen, err := r.FrozenStore()
	if err != nil {
		return nil, err
	}
	rows := cluster.Rows{Total: ask.Asking(images.Now.Query.Len()), Batch: 1,
		Inputs: map[string]string{"head": head, "features": r.Store.Sum, "frozen features": frozen.Sum,
			"manifest": r.Manifest.Digest()},
		Settings: map[string]string{"split": images.Split, "view": r.Look(), "k": fmt.Sprint(ask.K),
			"count-lonely": fmt.Sprint(ask.CountLonely),
			"queries":      fmt.Sprint(ask.Queries), "seed": fmt.Sprint(ask.Seed)}, Winnow: winnow}
	return Job.Do(ctx, location.At(out), s, rows, func(first, end int, put func(part) error) error {
		left, err := images.Similarities(r, o.Metrics, o.MaxMem, 0)
		if err != nil {
			return err
		}
		p := part{Result: newResult(r, images, nil), Options: ask}
		err = folder.EachRow(ctx, r.Head, images.Train, images.Was, images.Now,
			func(row string, of folder.Asked[features.Set]) error {
				in := eval.Input{Test: of.Query, Gallery: of.Gallery, Same: of.Same, Seed: o.Seed,
					MaxMem: eval.Bytes(left)}
				query, gallery := in.Labelled()
				found, err := eval.Ask(ctx, query, gallery, in.Retrieval(settings), first, end)
				p.Rows = append(p.Rows, answers{row, found})
				return err
			})
		if err != nil {
			return err
		}
		return put(p)
	})
}

// mergeMeasures computes the measures from the answers of all queries, as one machine does.
func mergeMeasures(
	_ context.Context,
	w *cluster.Whole,
	values iter.Seq2[part, error],
	_ cluster.JoinOptions,
) (cluster.Result,
	error) {
	list, err := cluster.All(values)
	if err != nil {
		return nil, err
	}
	r := list[0].Result
	r.LeftOut = append([]lookup.LeftOut{}, r.LeftOut...) // none, not null
	r.metrics = []Metric{{Entry: eval.Entry{Name: retrievalMetric}}}
	for i, row := range list[0].Rows {
		var all []eval.Answers
		for _, p := range list {
			if i >= len(p.Rows) || p.Rows[i].Row != row.Row {
				return nil, fmt.Errorf("eval: a part has other rows than %s: was it made by another version of "+
					"winnow?", row.Row)
			}
			all = append(all, p.Rows[i].Found)
		}
		r.noteResult(Metric{}, row.Row, eval.Summarise(list[0].Options, all...), 0, "")
	}
	if err := r.addVerdict(); err != nil {
		return nil, err
	}
	return r, cluster.Save(w.Out.Path(), r)
}
