package dealt

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"

	"winnow/cluster"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/internal/hint"
	"winnow/run/folder"
)

// Job judges rows in two passes. Options are what is asked for, which parts keep for the join, and which enter their headers as JSON does; Fit is
// what rows are judged by, Said what is said of a block of them.
type Job[Options, Fit, Said any] struct {
	Name    string // the command
	Options Options
	Rows    *Rows
	Drawn   int // rows that are fitted to
	Seed    uint64
	Winnow  string // version of the program

	Fit      func(ctx context.Context, sums *leaveout.Sums, sample features.Set) (Fit, error)
	Judge    func(ctx context.Context, f Fit, block features.Set) (Said, error)
	Progress func(done, total int) // of rows, in each pass
}

// kept is what a part holds.
type kept[Options, Value any] struct {
	Options Options
	Value   Value
}

// fitted is what the sums of a job lead to.
const fitted = ".fit"

// Run does both passes on one machine.
func (j Job[Options, Fit, Said]) Run(ctx context.Context) (f Fit, said []Said, err error) {
	sums, err := j.Rows.Sums(ctx, 0, j.Rows.Len(), func(done int) { j.Progress(done, j.Rows.Len()) })
	if err != nil {
		return f, nil, err
	}
	if f, err = j.fit(ctx, sums); err != nil {
		return f, nil, err
	}
	said, err = j.judge(ctx, f, 0, j.Rows.Len())
	return f, said, err
}

func (j Job[Options, Fit, Said]) fit(ctx context.Context, sums *leaveout.Sums) (f Fit, err error) {
	if j.Rows.Store != nil {
		if err := j.Rows.Store.Verify(ctx); err != nil {
			return f, hint.With(err, "make the features again: winnow extract --overwrite")
		}
	}
	sample, err := j.Rows.Sample(ctx, j.Drawn, j.Seed)
	if err != nil {
		return f, err
	}
	return j.Fit(ctx, sums, sample)
}

func (j Job[Options, Fit, Said]) judge(ctx context.Context, f Fit, first, end int) (said []Said, err error) {
	err = j.Rows.Each(ctx, first, end, func(block features.Set) error {
		one, err := j.Judge(ctx, f, block)
		said = append(said, one)
		j.Progress(block.IDs[len(block.IDs)-1]+1-first, end-first)
		return err
	})
	return said, err
}

// header says what a part of a pass is of.
func (j Job[Options, Fit, Said]) header(pass string, s cluster.Shard, more map[string]string) (cluster.Header, error) {
	inputs := map[string]string{"manifest": j.Rows.Manifest.Digest(), "features": j.Rows.Store.Sum}
	maps.Copy(inputs, more)
	text, err := json.Marshal(j.Options)
	if err != nil {
		return cluster.Header{}, err
	}
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil {
		return cluster.Header{}, err
	}
	settings := map[string]string{}
	for name, v := range values {
		settings[name] = fmt.Sprint(v)
	}
	return cluster.NewHeader(pass, s, j.Rows.Len(), j.Rows.block(), "images", inputs, settings, j.Winnow)
}

// sumsJob and fitJob name the parts of what comes before the judging.
func sumsJob(job string) string { return job + " sums" }
func fitJob(job string) string  { return job + " fit" }

// whole is the one part of what a join fits.
var whole = cluster.Shard{Index: 1, Of: 1}

// Part makes a shard's part of the output out: of the sums, until these are joined, then of what is said of the rows.
func (j Job[Options, Fit, Said]) Part(ctx context.Context, out string, s cluster.Shard) (cluster.Made, error) {
	at := cluster.Out(out)
	h, err := j.header(fitJob(j.Name), whole, nil)
	if err != nil {
		return cluster.Made{}, err
	}
	done, err := cluster.Done(ctx, at+fitted, h)
	if err != nil {
		return cluster.Made{}, err
	}
	if !done {
		if h, err = j.header(sumsJob(j.Name), s, nil); err != nil {
			return cluster.Made{}, err
		}
		made, err := cluster.Make(ctx, cluster.First(at), h, cluster.MakeValue(func() (kept[Options, *leaveout.Sums], error) {
			sums, err := j.Rows.Sums(ctx, h.First, h.End, func(done int) { j.Progress(done, h.End-h.First) })
			return kept[Options, *leaveout.Sums]{j.Options, sums}, err
		}))
		made.Out, made.Then = at, "these are sums: then run the same command again, on all machines"
		return made, err
	}
	f, sum, err := j.readFit(ctx, at)
	if err != nil {
		return cluster.Made{}, err
	}
	if h, err = j.header(j.Name, s, map[string]string{"fit": sum}); err != nil {
		return cluster.Made{}, err
	}
	return cluster.Make(ctx, at, h, cluster.MakeValue(func() (kept[Options, []Said], error) {
		said, err := j.judge(ctx, f, h.First, h.End)
		return kept[Options, []Said]{j.Options, said}, err
	}))
}

// readFit reads what was fitted, and its sum.
func (j Job[Options, Fit, Said]) readFit(ctx context.Context, out string) (f Fit, sum string, err error) {
	w, err := cluster.Look(ctx, out+fitted)
	if err != nil {
		return f, "", err
	}
	list, err := cluster.Values[kept[Options, Fit]](w)
	if err != nil {
		return f, "", err
	}
	sum, err = folder.FileSum(w.Parts[0].Path)
	return list[0].Value, sum, err
}

// OptionsOf returns what the parts of w were asked for: of the sums, or of what was said.
func OptionsOf[Options any](w *cluster.Whole) (Options, error) {
	some, err := cluster.Value[struct{ Options Options }](&w.Parts[0])
	return some.Options, err
}

// JoinSums fits to the sums of all parts what rows are judged by.
func (j Job[Options, Fit, Said]) JoinSums(ctx context.Context, w *cluster.Whole) (cluster.Result, error) {
	if err := j.unchanged(w); err != nil {
		return nil, err
	}
	out := strings.TrimSuffix(w.Out, cluster.First(""))
	h, err := j.header(fitJob(j.Name), whole, nil)
	if err != nil {
		return nil, err
	}
	made, err := cluster.Make(ctx, out+fitted, h, cluster.MakeValue(func() (all kept[Options, Fit], err error) {
		list, err := cluster.Values[kept[Options, *leaveout.Sums]](w)
		if err != nil {
			return all, err
		}
		sums := list[0].Value
		for _, p := range list[1:] {
			if err := sums.Join(p.Value); err != nil {
				return all, err
			}
		}
		all.Options = list[0].Options
		all.Value, err = j.fit(ctx, sums)
		return all, err
	}))
	return Fitted{made.Part, w.Of, w.Total, made.Complete, out}, err
}

// Joined reads what was said of all rows, in their order, and by what.
func (j Job[Options, Fit, Said]) Joined(ctx context.Context, w *cluster.Whole) (f Fit, said []Said, err error) {
	if err := j.unchanged(w); err != nil {
		return f, nil, err
	}
	f, sum, err := j.readFit(ctx, w.Out)
	if err != nil {
		return f, nil, err
	}
	if sum != w.Inputs["fit"] {
		return f, nil, fmt.Errorf("%s: found another fit (%.12s…) than the parts were made by (%.12s…): remove %s and run the command again", w.Out+fitted, sum, w.Inputs["fit"], cluster.Dir(w.Out))
	}
	list, err := cluster.Values[kept[Options, []Said]](w)
	for _, p := range list {
		said = append(said, p.Value...)
	}
	return f, said, err
}

// unchanged refuses parts of other inputs than those that are there now.
func (j Job[Options, Fit, Said]) unchanged(w *cluster.Whole) error {
	for name, now := range map[string]string{"manifest": j.Rows.Manifest.Digest(), "features": j.Rows.Store.Sum} {
		if was := w.Inputs[name]; was != now {
			return fmt.Errorf("%s: %s changed since the parts of %s were made: found %.12s…, expected %.12s…", j.Name, name, w.Out, now, was)
		}
	}
	return nil
}

// Fitted is what the join of sums came to.
type Fitted struct {
	Fit      string `json:"fit"`
	Parts    int    `json:"parts"`
	Total    int    `json:"total"`
	Complete bool   `json:"complete"` // it was there already
	Out      string `json:"out"`
}

// Write implements [cluster.Result].
func (f Fitted) Write(w io.Writer) error {
	how := "fitted to the sums"
	if f.Complete {
		how = "was fitted already to the sums"
	}
	_, err := fmt.Fprintf(w, "%s: %s of %d images, joined of %d parts\nnow run the same command again, on all machines: it judges the images. Then again: winnow join %s\n", f.Fit, how, f.Total, f.Parts, f.Out)
	return err
}
