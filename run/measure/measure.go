// Package measure measures an opened run: it finds and embeds the images and measures the chosen metrics, beside
// the same images as frozen and as whitened features.
package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/folder"
)

// Options say what to measure, and by which metrics.
type Options struct {
	Split   string // "": test, or query against gallery
	Fit     string // split for metrics that learn classes; "": train, or gallery for queries
	Metrics []Metric
	Skip    bool                             // leave out metrics that cannot be measured, instead of failing
	Seed    uint64                           // of random draws
	MaxMem  int64                            // bytes of everything held; 0: [budget.Usual]
	Note    func(format string, args ...any) // receives notes for the user; may be nil
}

// Metric is a metric of the catalog with its settings, complete and checked.
type Metric struct {
	eval.Entry
	Values eval.Values
}

// NewMetric returns a metric of the catalog; settings not given have their defaults.
func NewMetric(name string, settings map[string]string) (m Metric, err error) {
	if m.Entry, err = eval.Find(name); err == nil {
		m.Values, err = m.Resolve(settings)
	}
	return m, err
}

// Measured is a metric's result for each row of the comparison.
type Measured struct {
	Settings eval.Values `json:"settings"`
	Seed     *uint64     `json:"seed,omitempty"`      // if the metric draws at random
	FittedOn string      `json:"fitted_on,omitempty"` // split
	Frozen   eval.Result `json:"frozen"`
	Whitened eval.Result `json:"whitened"`
	Trained  eval.Result `json:"trained"`
}

// Result holds the measures of a run: of the trained head, and beside it of frozen and whitened features.
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
	// InGallery counts the queries that are in the gallery, too, by path or bytes: each searches the others.
	InGallery  int                 `json:"queries_in_gallery,omitempty"`
	Unlabelled int                 `json:"unlabelled"` // images that take no part, since their matches are unknown
	LeftOut    []lookup.LeftOut    `json:"left_out"`
	Metrics    map[string]Measured `json:"metrics,omitempty"`      // by name, without retrieval
	Skipped    map[string]string   `json:"not_measured,omitempty"` // reasons by name

	metrics []Metric // in the order of the text
}

// Splits lists the splits whose features are needed.
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

// Run measures a run that is opened with the splits of the options.
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
						"fit on a split that has classes of the measured one, or leave the metric %s out", m.Name)
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
	}
}

// Known says how a training has used the images of a split ([folder.Comparison]).
func Known(split string) string {
	return map[string]string{datasets.Train: folder.Learned, datasets.Validation: folder.ChoseState}[split]
}

// addVerdict adds the verdict to the numbers of a retrieval.
func (r *Result) addVerdict() error {
	if r.N == 0 {
		return fmt.Errorf("eval: no image of the split %s has another of its class to find", r.Split)
	}
	all := folder.Comparison{FineTuned: r.FineTuned, Known: Known(r.Split), Frozen: *r.Frozen,
		Whitened: *r.Whitened, Trained: *r.Retrieval}
	r.Verdict = "on " + r.Split + ", " + all.Verdict()
	return nil
}

// noteResult stores one result.
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
