package evaluation

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"winnow/eval"
	"winnow/features"
	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/internal/text"
	"winnow/parts"
	"winnow/run/comparison"
	"winnow/run/folder"
)

// Job names the parts of [RunPart].
const Job = "eval"

// part is what some of the queries found, of each row of the comparison.
type part struct {
	Result  Result // all but its numbers
	Options eval.RetrievalOptions
	Rows    []answers // no map: a part that is made again has the same bytes
}

// answers are those of one row of the comparison.
type answers struct {
	Row   string
	Found eval.Answers
}

// RunPart lets a shard of the queries ask the whole gallery, into a part of the file out, unless it is there. Of the metrics it is
// retrieval that can be dealt.
func RunPart(ctx context.Context, r *folder.Run, o Options, out string, s parts.Shard, winnow string) (parts.Made, error) {
	if len(o.Metrics) != 1 || o.Metrics[0].Name != retrievalMetric {
		return parts.Made{}, hint.Misused("--shard deals the queries of --metrics retrieval: measure the others on one machine")
	}
	images, err := Read(r, o)
	if err != nil {
		return parts.Made{}, err
	}
	settings := o.Metrics[0].Values
	ask := eval.Input{Seed: o.Seed}.Retrieval(settings)
	header, err := headerOf(r, images, ask, s, winnow)
	if err != nil {
		return parts.Made{}, err
	}
	return parts.Make(ctx, out, header, parts.MakeValue(func() (part, error) {
		left, err := images.Similarities(r, o.Metrics, o.MaxMem, 0)
		if err != nil {
			return part{}, err
		}
		p := part{Result: newResult(r, images), Options: ask}
		err = comparison.Each(ctx, r.Head, images.Train, images.Was, images.Now, func(row string, of comparison.Asked[features.Set]) error {
			in := eval.Input{Test: of.Query, Gallery: of.Gallery, Seed: o.Seed, MaxMem: eval.Bytes(left)}
			query, gallery := in.Labelled()
			found, err := eval.Ask(ctx, query, gallery, in.Retrieval(settings), header.First, header.End)
			p.Rows = append(p.Rows, answers{row, found})
			return err
		})
		return p, err
	}))
}

// headerOf says what a part is of.
func headerOf(r *folder.Run, images Images, ask eval.RetrievalOptions, s parts.Shard, winnow string) (parts.Header, error) {
	head, err := folder.FileSum(filepath.Join(r.Dir, r.HeadFile))
	if err != nil {
		return parts.Header{}, err
	}
	frozen, err := r.FrozenStore()
	if err != nil {
		return parts.Header{}, err
	}
	return parts.NewHeader(Job, s, ask.Asking(images.Now.Query.Len()), 1, "queries",
		map[string]string{"head": head, "features": r.Store.Sum, "frozen features": frozen.Sum, "manifest": r.Manifest.Digest()},
		map[string]string{"split": images.Split, "view": r.Look(), "k": fmt.Sprint(ask.K), "count-lonely": fmt.Sprint(ask.CountLonely), "queries": fmt.Sprint(ask.Queries), "seed": fmt.Sprint(ask.Seed)}, winnow)
}

// Joined is a result of parts.
type Joined struct{ Result }

// Write writes the result for people.
func (j Joined) Write(w io.Writer) error {
	j.Result.Write(w, []Metric{{Entry: eval.Entry{Name: retrievalMetric}}})
	return nil
}

// JoinParts makes the numbers of what all queries found: the same that one machine makes of the same answers.
func JoinParts(_ context.Context, w *parts.Whole, _ parts.JoinOptions) (parts.Result, error) {
	list, err := parts.Values[part](w)
	if err != nil {
		return nil, err
	}
	j := Joined{list[0].Result}
	j.LeftOut = append([]lookup.LeftOut{}, j.LeftOut...) // none, not null
	for i, row := range list[0].Rows {
		var all []eval.Answers
		for _, p := range list {
			if i >= len(p.Rows) || p.Rows[i].Row != row.Row {
				return nil, fmt.Errorf("eval: a part has other rows than %s: was it made by another version of winnow?", row.Row)
			}
			all = append(all, p.Rows[i].Found)
		}
		j.note(Metric{}, row.Row, eval.Summarise(list[0].Options, all...), 0, "")
	}
	if err := j.conclude(); err != nil {
		return nil, err
	}
	return j, j.Save(w.Out)
}

// Save writes the result into a file of JSON; "" is none.
func (r Result) Save(file string) error {
	if file == "" {
		return nil
	}
	return atomicfile.Write(file, func(w io.Writer) error { return text.JSON(w, r) })
}
