package dealt

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"winnow/cluster"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/internal/hint"
)

// Job judges rows apart from each other, by a Fit that one machine makes from sums of all rows and a
// sample of them. Parts keep the Options for the join; parts whose options differ as JSON are not
// joined. Said is the judgement of a block of rows.
type Job[Options, Fit, Said any] struct {
	Options Options
	Rows    *Rows
	Drawn   int // rows of the sample
	Seed    uint64
	Winnow  string // version of the program

	Fit      func(ctx context.Context, sums *leaveout.Sums, sample features.Set) (Fit, error)
	Judge    func(ctx context.Context, f Fit, block features.Set) (Said, error)
	Progress func(done, total int) // counts rows: all that are summed, then those that are judged
}

// Part is the judgement of a shard, block by block, for the join.
type Part[Options, Said any] struct {
	Options Options
	Said    []Said
}

// Run judges all rows on one machine.
func (j Job[Options, Fit, Said]) Run(ctx context.Context) (f Fit, said []Said, err error) {
	if f, err = j.computeFit(ctx); err == nil {
		said, err = j.judgeBlocks(ctx, f, 0, j.Rows.Len())
	}
	return f, said, err
}

func (j Job[Options, Fit, Said]) computeFit(ctx context.Context) (f Fit, err error) {
	sums, err := j.Rows.addUpRows(ctx, func(done int) { j.Progress(done, j.Rows.Len()) })
	if err != nil {
		return f, err
	}
	if j.Rows.Store != nil {
		if err := j.Rows.Store.Verify(ctx); err != nil {
			return f, hint.With(err, "extract the features again")
		}
	}
	sample, err := j.Rows.sampleRows(ctx, j.Drawn, j.Seed)
	if err != nil {
		return f, err
	}
	return j.Fit(ctx, sums, sample)
}

func (j Job[Options, Fit, Said]) judgeBlocks(ctx context.Context, f Fit, first, end int) (said []Said, err error) {
	err = j.Rows.visitBlocks(ctx, first, end, func(block features.Set) error {
		one, err := j.Judge(ctx, f, block)
		said = append(said, one)
		j.Progress(block.IDs[len(block.IDs)-1]+1-first, end-first)
		return err
	})
	return said, err
}

// newFitJob returns the job that keeps the fit, and its file beside the output out.
func newFitJob[Fit any](name string, out location.Source) (cluster.Job[Fit], location.Source) {
	out = cluster.Out(out)
	return cluster.Job[Fit]{Name: name + " fit", Unit: "images"}, out.With(out.Path() + ".fit")
}

// Part makes a shard's part of the output out, by the fit that the first machine makes for all.
func (j Job[Options, Fit, Said]) Part(ctx context.Context, shared cluster.Job[Part[Options, Said]],
	out location.Source, s cluster.Shard) (cluster.Made, error) {
	text, err := json.Marshal(j.Options)
	if err != nil {
		return cluster.Made{}, err
	}
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil {
		return cluster.Made{}, err
	}
	rows := cluster.Rows{Total: j.Rows.Len(), Batch: j.Rows.countBlockRows(), Inputs: j.listInputSums(),
		Settings: map[string]string{}, Winnow: j.Winnow}
	for name, v := range values {
		rows.Settings[name] = fmt.Sprint(v)
	}
	fit, at := newFitJob[Fit](shared.Name, out)
	f, sum, err := fit.Once(ctx, at, rows, func() (Fit, error) { return j.computeFit(ctx) })
	if err != nil {
		return cluster.Made{}, err
	}
	rows.Inputs = j.listInputSums()
	rows.Inputs["fit"] = sum
	return shared.Do(ctx, out, s, rows, func(first, end int, put func(Part[Options, Said]) error) error {
		said, err := j.judgeBlocks(ctx, f, first, end)
		if err != nil {
			return err
		}
		return put(Part[Options, Said]{j.Options, said})
	})
}

func (j Job[Options, Fit, Said]) listInputSums() map[string]string {
	return map[string]string{"manifest": j.Rows.Manifest.Digest(), "features": j.Rows.Store.Sum}
}

// Join returns what all rows were judged by, and the judgements of the parts, in order. open returns the job of the
// options of the parts.
func Join[Options, Fit, Said any](ctx context.Context, w *cluster.Whole, values iter.Seq2[Part[Options, Said], error],
	open func(Options) (Job[Options, Fit, Said], error)) (f Fit, said []Said, err error) {
	list, err := cluster.All(values)
	if err != nil {
		return f, nil, err
	}
	j, err := open(list[0].Options)
	if err != nil {
		return f, nil, err
	}
	if err := w.Unchanged(j.listInputSums()); err != nil {
		return f, nil, err
	}
	fit, at := newFitJob[Fit](w.Job, w.Out)
	f, sum, err := fit.Made(ctx, at)
	if err != nil {
		return f, nil, err
	}
	if err := w.Unchanged(map[string]string{"fit": sum}); err != nil {
		return f, nil, hint.With(err, "remove %s and run the command again", cluster.Dir(w.Out))
	}
	for _, p := range list {
		said = append(said, p.Said...)
	}
	return f, said, nil
}
