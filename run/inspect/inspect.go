// Package inspect audits images, the stored features or class probabilities of a manifest, or a run ([Judge]). It opens
// and joins what package audit takes as plain vectors and scores, calls images and classes by their names, compares with
// the truth if the manifest knows it, and writes the mended manifest.
//
// A run is judged in its embedding by a judge of whole sets or a filter's scorer, by the proxies of its last state, by the
// weights that it gave its samples, or by what the training saw of them. Noise rate, classes, outliers and copies are
// found in the stored features, whitened, which have not learnt the labels.
package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/extraction"
	"winnow/run/folder"
)

// Options say how labels are judged. Classes, Whiten and Findings, Filter, Proxies and Given are found out here.
type Options struct {
	audit.Options                                               // Scorer "": the run's; without a run the default
	IncludeEval   bool                                          // judges the images of all splits together
	FitSample     int                                           // by stored features: images that is fitted to, beside sums of all (audit.Basis); 0: all are looked at together, or where they are too many ([audit.Together]) as with audit.Fitted
	Together      bool                                          // looks at all together, however many they are
	Held          int64                                         // bytes of MaxMem, here the memory of all that is held, that the caller holds
	Tuning        Tuning                                        // of networks that judge beside heads
	Host          extraction.Host                               // where images are looked at
	Note          func(format string, args ...any)              // takes a fact for the user; may be nil
	Stage         func(name string, guess, after time.Duration) // tells that a stage of Images begins, how long it may take, 0: not known, and how long those behind it; may be nil
}

// completed returns the options with functions for those that are nil.
func (o Options) completed() Options {
	if o.Note == nil {
		o.Note = func(string, ...any) {}
	}
	if o.Stage == nil {
		o.Stage = func(string, time.Duration, time.Duration) {}
	}
	o.Host = o.Host.Complete()
	if o.Scorer != "" {
		o.Scorer = audit.Named(o.Scorer).Name
	}
	return o
}

// ScorerError says that the scorer asked for cannot judge a run.
type ScorerError struct{ error }

func unfit(format string, args ...any) error { return ScorerError{fmt.Errorf(format, args...)} }

// Report is an audit with names, as written.
type Report struct {
	Scorer    string             `json:"scorer"`
	Blind     bool               `json:"blind,omitempty"`        // labels left out are foretold no better than by chance: nothing is said of them
	Why       string             `json:"scorer_chose,omitempty"` // what the scorer chose for this set, and why
	Suggests  string             `json:"suggested_by,omitempty"` // the scorer of the suggested labels, where that is another
	Rate      float64            `json:"rate"`
	Backbone  string             `json:"backbone,omitempty"` // file of the fine-tuned network that saw the images
	Model     string             `json:"model,omitempty"`    // backbone that images were looked at by, and the store of their features, where the audit made it
	Store     string             `json:"store,omitempty"`
	Sampled   int                `json:"fit_sample,omitempty"` // images that was fitted to, where it is not all: then copies and nearest images are not looked for
	View      string             `json:"view,omitempty"`       // center or mean, where the store has several views of each image
	Detection *eval.Detection    `json:"detection"`            // null where true labels are not known
	Images    []suspects.Suspect `json:"images"`
	Unjudged  int                `json:"unjudged"` // images alone in their class: nothing is known of them, and their score is 1
	LeftOut   []lookup.LeftOut   `json:"left_out"`
	Noise     *folder.NoiseRate  `json:"estimated_noise"` // null where there is nothing to estimate from
	Classes   []Class            `json:"classes"`

	result audit.Result
	ids    []int // position in the manifest of each row of the result
	source *datasets.Dataset
	from   location.Source // the file that source was read from
	root   location.Source // of its images, as named
}

// Class is what an audit says of a class.
type Class struct {
	Class  string  `json:"class"`
	Images int     `json:"images"`
	Kappa  float64 `json:"kappa"`
	Purity float64 `json:"purity"` // estimated share of right labels, and its interval of 95 %
	Low    float64 `json:"purity_low"`
	High   float64 `json:"purity_high"`
	Like   string  `json:"most_like"`
	Alike  float64 `json:"likeness"`
	Same   bool    `json:"looks_like_the_same"` // as most_like: one class under two names
	Groups float64 `json:"sides_alike"`
	Two    bool    `json:"looks_like_two"` // two classes under one name
}

// Input is what is judged: the training labels of Run, the labels of Images, or the training labels of Manifest.
type Input struct {
	Run      *folder.Run
	Images   location.Source // a manifest, a folder with a folder for each class, a .zip file of one, or shards: images to look at
	Manifest location.Source // a file or folder that is judged by Features, by Probs or by both; beside Probs it need not name its images
	Features string          // its feature stores, a comma between two; of Images the folder for their features, which the next audit reuses
	View     string          // of stores with several
	Probs    string          // a file of class probabilities
	Root     location.Source // of the paths of Images, and of those that a fine-tuning looks at; none: found by the manifest and the store
	Model    string          // backbones by name or file, a comma between two; "": one that is installed, or the store's
	Splits   []string        // of Images that are judged; none: all
}

// check refuses what does not go together. Nothing has been read yet.
func (in Input) check(o Options) error {
	by, tunes, several := audit.Named(o.Scorer), o.Tuning.Weights != "", strings.Contains(in.Features, ",")
	if !in.Images.IsZero() {
		several = strings.Contains(in.Model, ",")
	}
	switch {
	case in.Run != nil && o.Scorer != "" && by.Trains:
		return unfit("--scorer: %s trains for itself and judges stored features: give --labels and --features, and no run", by.Name)
	case !tunes && o.Tuning.Augment != "":
		return errors.New("audit: --augment is about networks that are fine-tuned: add --finetune all, or a stage")
	case in.Probs != "" && (tunes || o.Rounds > 1):
		return errors.New("audit: --probs brings its scores: leave --finetune and --seeds out, or --probs")
	case o.FitSample > 0 && !by.Shardable:
		return hint.Misused("--fit-sample: scorer %s needs all images at once, expected one of %s", by.Name, strings.Join(audit.Shardable(), ", "))
	case o.FitSample > 0 && (in.Probs != "" || tunes || o.Rounds > 1 || several):
		return hint.Misused("--fit-sample judges by heads or centres on the features of one store: leave --probs, --finetune, --seeds and further stores or backbones out")
	case tunes && !by.Trains:
		return fmt.Errorf("audit: --finetune: scorer %s learns nothing out of fold, expected one of combined, crossfit", by.Name)
	}
	return nil
}

// Judge judges the labels of an input: those of a run by what the run itself judges by, those of other inputs by the default
// scorer, or all by the scorer asked for.
func Judge(ctx context.Context, in Input, o Options) (*Report, error) {
	o = o.completed()
	if err := in.check(o); err != nil {
		return nil, err
	}
	switch {
	case in.Run != nil:
		return ofRun(ctx, in.Run, o)
	case !in.Images.IsZero():
		return ofImages(ctx, in, o)
	}
	return ofStored(ctx, in, o)
}

// ofStored judges the training labels of a manifest by the stored features of its images, whitened, or by given
// probabilities.
func ofStored(ctx context.Context, in Input, o Options) (*Report, error) {
	if o.FitSample > 0 {
		return bySample(ctx, in, o)
	}
	whole, err := datasets.Read(in.Manifest, datasets.ReadOptions{Numbered: in.Probs != "", Note: o.Note})
	if err != nil {
		return nil, err
	}
	d, room := o.asJudged(whole), cmp.Or(o.MaxMem, eval.DefaultMaxMem)
	if in.Features == "" {
		return byProbabilities(ctx, in, whole, d, nil, room, o)
	}
	stores, err := openStores(ctx, in, o)
	if err != nil {
		return nil, err
	}
	store := stores[0]
	if in.Probs != "" {
		if len(stores) > 1 {
			return nil, fmt.Errorf("audit: --probs brings its scores, beside which features find outliers and copies: found %d stores, expected one", len(stores))
		}
		if err := o.within(d, store.Dim, store.Dim, min(store.Dim, head.Widest)); err != nil {
			return nil, err
		}
		return byProbabilities(ctx, in, whole, d, store, room, o)
	}
	if o.Tuning.Weights != "" {
		if err := o.tuneStored(in, stores, whole); err != nil {
			return nil, err
		}
	}
	if o.sampled(len(d.Select(datasets.Train)), len(d.Classes), len(stores)) {
		return bySample(ctx, in, o)
	}
	a, err := o.stored(ctx, d, stores...)
	if err != nil {
		return nil, err
	}
	a.from, a.source = in.Manifest, whole
	if store.Views() > 1 {
		a.View = in.View
	}
	return a, nil
}

// apart reports whether n images of some classes are too many to be judged together where nobody asks for it, and the judge can do without.
func (o Options) apart(n, classes, stores int) bool {
	return !o.Together && stores == 1 && o.Tuning.Weights == "" && o.Rounds <= 1 && audit.Named(o.Scorer).Shardable && !audit.Together(n, classes)
}

// sampled reports whether n images of some classes are judged apart from each other: where that is asked for, or they are too many.
func (o *Options) sampled(n, classes, stores int) bool {
	if o.FitSample == 0 && o.apart(n, classes, stores) {
		o.FitSample = audit.Fitted
		o.Note("%d images of %d classes are judged apart from each other, fitted to %d of them (--fit-sample N, 0: all together)", n, classes, o.FitSample)
	}
	return o.FitSample > 0
}

// fit makes the memory of the whole audit that which is left for similarities, and chooses the scorer where none is asked for.
func (o *Options) fit(d *datasets.Dataset, dim int) error {
	if o.Scorer == "" {
		return o.choose(d, dim, dim, min(dim, head.Widest))
	}
	return o.within(d, dim, dim, min(dim, head.Widest))
}

// stored judges the training images of d by the stores of one backbone or several.
func (o Options) stored(ctx context.Context, d *datasets.Dataset, stores ...*features.Store) (*Report, error) {
	if err := o.fit(d, values(stores)); err != nil {
		return nil, err
	}
	data, parts, free, err := join(ctx, d, stores)
	defer func() { free() }()
	if err != nil {
		return nil, err
	}
	if data.Unlabelled > 0 {
		o.Note("%d images have no label and are not judged", data.Unlabelled)
	}
	if audit.Named(o.Scorer).Kind == audit.ByFilter {
		if err := checkPairs(data.Train.Labels, len(data.Classes)); err != nil {
			return nil, err
		}
	}
	o.Classes, o.Whiten, o.Parts = len(data.Classes), true, parts
	if o.Names == nil {
		for _, store := range stores {
			o.Names = append(o.Names, store.Dir)
		}
	}
	set := data.Train
	data.Train.X, data.Stored, data.Validation = blas32.General{}, features.Set{}, features.Set{} // the audit lets go of them when it can
	result, err := audit.Run(ctx, set, o.Options)
	if err != nil {
		return nil, err
	}
	a := Report{LeftOut: data.LeftOut}
	return &a, a.name(result, data.Train.IDs, d, data.Classes, o.Note)
}

// checkPairs refuses labels of which the scorer of a filter would say nothing.
func checkPairs(labels []int, classes int) error {
	count, pairs := make([]int, classes), 0
	for _, y := range labels {
		if y >= 0 {
			if count[y]++; count[y] == 2 {
				pairs++
			}
		}
	}
	if pairs < 2 {
		return fmt.Errorf("audit: %d classes have two images or more, expected at least two", pairs)
	}
	return nil
}

// Embedding judges the labelled rows of set, whose IDs are positions in d, by a filter's scorer in the embedding of a
// head. It looks for nothing else.
func Embedding(ctx context.Context, h *head.Head, set features.Set, d *datasets.Dataset, filter filters.Config, maxMem int64) (*Report, error) {
	j := judged{d: d, classes: d.Classes, head: h}
	j.opts = audit.Options{Scorer: filter.Scorer, Filter: &filter, Rate: &filter.Rate, MaxMem: maxMem, JustRank: true}
	z, err := j.embed(ctx, set.Labelled())
	if err != nil {
		return nil, err
	}
	return j.reportOn(ctx, z, func(string, ...any) {})
}

// asJudged returns the dataset as it is judged: its training images, or all.
func (o Options) asJudged(d *datasets.Dataset) *datasets.Dataset {
	if !o.IncludeEval {
		return d
	}
	o.Note("--include-eval: images of the other splits are judged together with the training images, and cleaned: what is measured on them from now on is not independent of these scores")
	all := *d
	all.Samples = slices.Clone(d.Samples)
	for i := range all.Samples {
		all.Samples[i].Split = datasets.Train
	}
	return &all
}

// judged is a set of images that is to be judged in an embedding.
type judged struct {
	set     features.Stored // features that head embeds; IDs are positions in d
	d       *datasets.Dataset
	classes []string // of the set's labels
	head    *head.Head
	opts    audit.Options
	left    []lookup.LeftOut

	backbone string // file of the network that made the features, where a run trained it
}

// embed puts features through the head.
func (j *judged) embed(ctx context.Context, set features.Source) (features.Set, error) {
	if set.Len() < 2 {
		return features.Set{}, fmt.Errorf("audit: %d labelled, readable training images, expected at least 2", set.Len())
	}
	return j.head.EmbedSet(ctx, set)
}

// report judges the set and names what is found.
func (j *judged) report(ctx context.Context, note func(string, ...any)) (*Report, error) {
	z, err := j.embed(ctx, j.set)
	if err != nil {
		return nil, err
	}
	return j.reportOn(ctx, z, note)
}

// reportOn is report for a set that is embedded already.
func (j *judged) reportOn(ctx context.Context, z features.Set, note func(string, ...any)) (*Report, error) {
	j.opts.Classes = len(j.classes)
	result, err := audit.Run(ctx, z, j.opts)
	if err != nil {
		return nil, err
	}
	a := Report{LeftOut: j.left, Backbone: j.backbone}
	return &a, a.name(result, z.IDs, j.d, j.classes, note)
}

// name fills in what was found: ids are the positions in d of the result's rows, classes the names of its labels.
func (a *Report) name(result audit.Result, ids []int, d *datasets.Dataset, classes []string, note func(string, ...any)) error {
	a.result, a.ids, a.Sampled = result, ids, result.Sampled
	a.Scorer, a.Why, a.Blind, a.Suggests, a.Rate, a.Unjudged = result.Scorer, result.Why, result.Blind, result.Suggests, result.Rate, result.Unjudged
	a.LeftOut = append([]lookup.LeftOut{}, a.LeftOut...)
	paths := make([]string, len(ids))
	for row, id := range ids {
		paths[row] = d.Samples[id].Path
	}
	a.Images = result.Name(paths, classes)
	if result.NoFindings != nil {
		note("no class statistics: %v", result.NoFindings)
	}
	if result.Noise != nil {
		w := folder.WrittenRate(*result.Noise)
		a.Noise, a.Classes = &w, make([]Class, len(result.Classes))
	}
	for i, k := range result.Classes {
		a.Classes[i] = Class{
			Class: classes[k.Class.Class], Images: k.Images, Kappa: k.Kappa, Purity: k.Purity, Low: k.Low, High: k.High,
			Like: classes[k.Like], Alike: k.Alike, Same: k.SameAsLike(), Groups: k.Groups, Two: k.LooksLikeTwo(),
		}
	}
	return a.measure(d)
}
