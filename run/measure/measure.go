// Package measure evaluates an opened run: it embeds the images of a split and computes the chosen metrics, and the
// same metrics on frozen and on whitened features for comparison.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/folder"
)

// Options holds the split, the metrics and the limits of an evaluation.
type Options struct {
	Split   string // "": test, or query against gallery
	Fit     string // split for metrics that learn classes; "": train, or gallery for queries
	Metrics []Metric
	Skip    bool                             // leave out metrics that cannot be measured, instead of failing
	Seed    uint64                           // seed of random draws
	MaxMem  int64                            // memory limit in bytes; 0: [budget.Usual]
	Note    func(format string, args ...any) // receives notes for the user; may be nil
}

// Metric is a metric of the catalog with complete and checked settings.
type Metric struct {
	eval.Entry
	Values eval.Values
}

// NewMetric returns a metric of the catalog. Settings that are not given have their default values.
func NewMetric(name string, settings map[string]string) (m Metric, err error) {
	if m.Entry, err = eval.Find(name); err == nil {
		m.Values, err = m.Resolve(settings)
	}
	return m, err
}

// Measured is a metric's result for each row of the comparison.
type Measured struct {
	Settings eval.Values `json:"settings"`
	Seed     *uint64     `json:"seed,omitempty"`      // nil for metrics without random draws
	FittedOn string      `json:"fitted_on,omitempty"` // split; "" for metrics that learn no classes
	Frozen   eval.Result `json:"frozen"`
	Whitened eval.Result `json:"whitened"`
	Trained  eval.Result `json:"trained"`
}

// Result holds the metrics of a run: of the trained head (the embedded Retrieval), and of frozen and whitened features.
type Result struct {
	*eval.Retrieval
	Split     string          `json:"split"`
	Frozen    *eval.Retrieval `json:"frozen,omitempty"`
	Whitened  *eval.Retrieval `json:"whitened,omitempty"`
	FineTuned bool            `json:"finetuned,omitempty"`
	Backbone  string          `json:"backbone,omitempty"` // file of the fine-tuned network
	// View is center or mean, if the store has several views of each image.
	View    string `json:"view,omitempty"`
	Verdict string `json:"verdict,omitempty"`
	// InGallery is the number of queries that are also in the gallery, by path or bytes. They never match themselves.
	InGallery  int                 `json:"queries_in_gallery,omitempty"`
	Unlabelled int                 `json:"unlabelled"` // number of images left out because they have no label
	LeftOut    []lookup.LeftOut    `json:"left_out"`
	Metrics    map[string]Measured `json:"metrics,omitempty"`      // by name, all except retrieval
	Skipped    map[string]string   `json:"not_measured,omitempty"` // reasons by name of the metric

	metrics []Metric // in the order of printing
	known   string   // how the training used the images
}

// Splits returns the splits whose features are needed.
func (o Options) Splits() []string {
	splits := folder.AnyUsual()
	if o.Split != "" {
		splits = []string{o.Split}
	}
	if !o.needsFit() {
		return splits
	}
	if o.Fit != "" {
		return append(splits, o.Fit)
	}
	return append(splits, datasets.Train)
}

// needsFit reports whether a metric needs a split to fit on.
func (o Options) needsFit() bool {
	return slices.ContainsFunc(o.Metrics, func(m Metric) bool { return m.Train })
}

// Run evaluates a run, which must have been opened with the splits of the options.
func Run(ctx context.Context, r *folder.Run, o Options) (Result, error) {
	images, err := Read(ctx, r, o)
	if err != nil {
		return Result{}, err
	}
	left, err := images.Similarities(r, o.Metrics, o.MaxMem)
	if err != nil {
		return Result{}, err
	}
	result := newResult(r, images, o.Metrics)
	err = folder.EachRow(ctx, r.Head, images.Train, images.Was, images.Now,
		func(row string, of folder.Asked[features.Set]) error {
			in := eval.Input{Test: of.Query, Gallery: of.Gallery, Same: of.Same, Train: of.Fit, Seed: o.Seed,
				MaxMem: eval.Bytes(left)}
			for _, m := range o.Metrics {
				if m.Costly && o.Note != nil {
					o.Note("measuring %s of the %s embeddings", m.Name, row)
				}
				got, err := m.Measure(ctx, in, m.Values)
				if errors.Is(err, eval.ErrNoSharedClass) {
					if o.Skip {
						result.Skipped[m.Name] = fmt.Sprintf("no image of %s has a class of %s", images.Split,
							images.Fitted)
						continue
					}
					return hint.With(fmt.Errorf("%w: splits %s and %s", err, images.Fitted, images.Split),
						"fit on a split that has classes of the measured split, or omit the metric %s", m.Name)
				}
				if err != nil {
					return err
				}
				result.noteResult(m, row, got, o.Seed, images.Fitted)
			}
			return nil
		})
	if err != nil || result.Retrieval == nil {
		return result, err
	}
	return result, result.addVerdict()
}

func newResult(r *folder.Run, images Images, metrics []Metric) Result {
	return Result{
		Split: images.Split, View: r.Look(), FineTuned: r.Tuned != nil, Backbone: r.TunedFile(),
		InGallery: len(images.Now.Same), Unlabelled: images.Unlabelled, LeftOut: images.LeftOut,
		Metrics: map[string]Measured{}, Skipped: map[string]string{}, metrics: metrics,
		known: r.Known[images.Split],
	}
}

// addVerdict sets Verdict by comparing the retrieval of the trained head with frozen and whitened features.
func (r *Result) addVerdict() error {
	if r.N == 0 {
		return fmt.Errorf("eval: no image of the split %s has the same class as another image", r.Split)
	}
	r.Verdict = "on " + r.Split + ", " + r.compareRows().Verdict()
	return nil
}

func (r *Result) compareRows() folder.Comparison {
	return folder.Comparison{FineTuned: r.FineTuned, Known: r.known, Frozen: *r.Frozen, Whitened: *r.Whitened,
		Trained: *r.Retrieval}
}

// PrintRows writes the retrieval of the three embeddings with its intervals, and the verdict.
func (r *Result) PrintRows(w io.Writer) {
	r.compareRows().Print(w, r.Split)
	fmt.Fprintln(w, r.Verdict)
}

// noteResult stores the result of a metric for one row of the comparison.
func (r *Result) noteResult(m Metric, row string, got eval.Result, seed uint64, fitted string) {
	if found, ok := got.(eval.Retrieval); ok {
		*map[string]**eval.Retrieval{folder.FrozenRow: &r.Frozen, folder.WhitenedRow: &r.Whitened,
			folder.TrainedRow: &r.Retrieval}[row] = &found
		return
	}
	all := r.Metrics[m.Name]
	all.Settings = m.Values
	if m.Draws {
		all.Seed = &seed
	}
	if m.Train {
		all.FittedOn = fitted
	}
	*map[string]*eval.Result{folder.FrozenRow: &all.Frozen, folder.WhitenedRow: &all.Whitened,
		folder.TrainedRow: &all.Trained}[row] = got
	r.Metrics[m.Name] = all
}
