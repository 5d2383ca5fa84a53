// Package inspect audits images, the stored features or class probabilities of a manifest, or a run ([Judge]). It opens
// and joins the vectors and scores that package audit takes, names images and classes, compares with the truth if the
// manifest has it, and writes the mended manifest.
//
// A run is judged in its embedding by a judge of whole sets or a filter's scorer, by the proxies of its last state,
// by the weights of its samples, or by the losses and scores that the training recorded. Noise rate, classes,
// outliers and copies are found in the stored features, whitened, which have not learnt the labels.
package inspect

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit"
	"winnow/audit/suspects"
	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/classnames"
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

// Options say how labels are judged. Judging sets Classes, Whiten and Filter itself.
type Options struct {
	audit.Options      // Scorer "": the run's; without a run the default
	IncludeEval   bool // judge the images of all splits together
	// FitSample, with stored features: fit to this many images and sums over all ([audit.Basis]); 0:
	// [audit.Together] decides
	FitSample int
	Together  bool   // judge all images together, however many they are
	Held      int64  // bytes of MaxMem that the caller holds; MaxMem is here the limit for everything
	Tuning    Tuning // of networks that judge beside heads
}

// Usual returns the settings of an audit for which none are given.
func Usual() Options {
	return Options{Options: audit.Options{Neighbours: 10, Rounds: 1, Seed: 1}}
}

// Host is what an audit runs on, and who follows it; all of it is optional.
type Host struct {
	extraction.Host
	// Told follows the steps of heads and networks, or the images of an audit by a sample
	Told func(done, total, kept int, where string)
	// Stage begins a stage of Images, with its expected time, 0 if unknown, and that of all later stages
	Stage func(name string, expected, after time.Duration)
}

// auditing is an audit under way.
type auditing struct {
	Options
	audit.Auditor
	Host
	pictures fs.FS           // of the images, to compare likely copies; nil: they are not at hand
	looks    []backbone.Look // of all pictures of the manifest, in its order
	beside   *beside         // counts beside the scorer; nil: none
	names    *classnames.Names
}

// begin completes the options and the host.
func begin(o Options, h Host) auditing {
	if h.Host = h.Complete(); h.Stage == nil {
		h.Stage = func(string, time.Duration, time.Duration) {}
	}
	if o.Scorer != "" {
		o.Scorer = audit.Named(o.Scorer).Name
	}
	return auditing{Options: o, Auditor: audit.Auditor{Told: h.Told}, Host: h}
}

// Report is an audit with names, as written.
type Report struct {
	Scorer string `json:"scorer"`
	// Blind says that features predict labels no better than chance, so that none is judged.
	Blind    bool    `json:"blind,omitempty"`
	Why      string  `json:"scorer_chose,omitempty"`   // what the scorer chose for this set, and why
	Suggests string  `json:"suggested_by,omitempty"`   // the scorer of the suggested labels, if it is another
	Rate     float64 `json:"rate"`                     // share of the labels that is called wrong
	Asked    bool    `json:"rate_asked_for,omitempty"` // not by how likely each is wrong
	// CalledWrong and ExpectedWrong count labels: those that are each likely wrong, and the expected number of all that
	// are, many of them unlikely ones; nil if unknown.
	CalledWrong   int      `json:"called_wrong"`
	ExpectedWrong *float64 `json:"expected_wrong"`
	// Alike says that mistakes were tested to go to all classes alike; else the noise rate's interval assumes nothing.
	Alike    bool   `json:"mistakes_alike"`
	Backbone string `json:"backbone,omitempty"` // file of the fine-tuned network that made the features
	// Model is the backbone that the audit itself looked at the images with.
	Model string `json:"model,omitempty"`
	Store string `json:"store,omitempty"` // the features that it made
	// Sampled images were fitted to; then neither copies nor nearest images are found
	Sampled int `json:"fit_sample,omitempty"`
	// View is center or mean, if the store has several views of each image.
	View      string             `json:"view,omitempty"`
	Detection *eval.Detection    `json:"detection"` // null if the true labels are unknown
	Images    []suspects.Suspect `json:"images"`
	// Unjudged counts images alone in their class: nothing is known of them, and their score is 1
	Unjudged int              `json:"unjudged"`
	LeftOut  []lookup.LeftOut `json:"left_out"`
	// Unlabelled are images without a label, with the classes that they may be of.
	Unlabelled []Unlabelled      `json:"unlabelled,omitempty"`
	Noise      *folder.NoiseRate `json:"estimated_noise"` // null if there is nothing to estimate it from
	Classes    []Class           `json:"classes"`
	Looked     bool              `json:"pictures_measured"` // so that Images have the problems of pictures
	// Groups are the groups of copies; images have a group's number, from 1.
	Groups []datasets.Duplicates `json:"copy_groups"`

	Reading *datasets.Reading `json:"reading,omitempty"` // how the source was read, and what was left out

	// Checked says what the decisions of people are, and what was learnt from them; nil: there are none.
	Checked *Decided `json:"checked,omitempty"`

	// Check is the command that shows images drawn at random, which tell how many labels are wrong; "": none.
	Check string `json:"check_command,omitempty"`

	// Names are shown to people in place of labels.
	Names classnames.Names `json:"-"`

	result  audit.Result
	decided map[int]datasets.Decision // what a run decided before its training
	checks  *datasets.Checks
	data    *datasets.Dataset // as it was judged
	ids     []int             // position in the manifest of each row of the result
	source  *datasets.Dataset
	from    location.Source // the file that source was read from
	root    location.Source // of its images, as named
}

// Class is what an audit finds about a class.
type Class struct {
	Class  string  `json:"class"`
	Images int     `json:"images"`
	Kappa  float64 `json:"kappa"`
	Purity float64 `json:"purity"` // estimated share of right labels, with its 95 % interval
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
	Run *folder.Run
	// Images to look at: a manifest, a folder with a folder for each class, its .zip file, or shards
	Images location.Source
	// Manifest is a file or folder judged by Features, Probs or both. With Probs alone it need not name its images.
	Manifest location.Source
	// Features are stores, separated by commas; for Images, the folder that keeps the features for the next audit.
	Features string
	View     string // of stores with several
	Probs    string // a file of class probabilities
	// Root of the paths of Images, and of those that a fine-tuning reads; none: as the manifest and the store say
	Root   location.Source
	Model  string   // backbones by name or file, separated by commas; "": an installed one, or the store's
	Splits []string // of Images that are judged; none: all

	Names   string         // file with names of the classes, as [classnames.Choose] takes it
	Columns datasets.Names // of Images or Manifest, if they are a table; none: usual names

	Checks *datasets.Checks // what people decided about labels before; nil: nothing
}

// check refuses settings that do not go together. It reads nothing.
func (in Input) check(o Options) error {
	by, tunes, several := audit.Named(o.Scorer), o.Tuning.Weights != "", strings.Contains(in.Features, ",")
	if !in.Images.IsZero() {
		several = strings.Contains(in.Model, ",")
	}
	switch {
	case in.Run != nil && o.Scorer != "" && by.Trains:
		return hint.Unfit("scorer", "%s trains its own heads on stored features: give features and labels, and no run",
			by.Name)
	case !tunes && o.Tuning.Augment != "":
		return hint.Unfit("augment", "varies the images of a fine-tuning: fine-tune all of the network, or from a "+
			"stage on")
	case in.Probs != "" && (tunes || o.Rounds > 1):
		return hint.Unfit("probs", "probabilities are the scores: expected no fine-tuning and a single seed")
	case o.FitSample > 0 && !by.Shardable:
		return hint.Unfit("fit-sample", "scorer %s needs all images at once, expected one of %s", by.Name,
			strings.Join(audit.Shardable(), ", "))
	case o.FitSample > 0 && (in.Probs != "" || tunes || o.Rounds > 1 || several):
		return hint.Unfit("fit-sample", "judges by heads or centres on the features of one store: expected no "+
			"probabilities, no fine-tuning, a single seed and one store or backbone")
	case tunes && !by.Trains:
		return hint.Unfit("finetune", "scorer %s learns nothing out of fold, expected one of combined, crossfit",
			by.Name)
	}
	return nil
}

// Judge judges the labels of an input by the scorer asked for; without one, a run by what it judges by itself, and
// everything else by the default scorer.
func Judge(ctx context.Context, in Input, options Options, h Host) (*Report, error) {
	o := begin(options, h)
	var names classnames.Names
	o.names = &names
	if err := in.check(o.Options); err != nil {
		return nil, err
	}
	judge := func() (*Report, error) { return ofStored(ctx, in, o) }
	switch {
	case in.Run != nil:
		judge = func() (*Report, error) {
			if err := o.name(in, in.Run.Given); err != nil {
				return nil, err
			}
			return ofRun(ctx, in.Run, o)
		}
	case !in.Images.IsZero():
		judge = func() (*Report, error) { return ofImages(ctx, in, o) }
	}
	a, err := judge()
	if err == nil && a.data != nil {
		if in.Checks, err = a.data.Checked(in.Checks); err != nil {
			err = fmt.Errorf("audit: %s: %w", cmp.Or(in.Images, in.Manifest), err)
		}
	}
	if err == nil && in.Checks != nil {
		err = a.learn(ctx, in, o.Note)
	}
	if err == nil {
		a.Names = names
		err = a.suggest(ctx, in)
	}
	if err == nil && a.rateKnown() {
		for i := range a.Images {
			a.Images[i].RateKnown = true
		}
	}
	return a, err
}

// name finds the names of the classes of d.
func (o *auditing) name(in Input, d *datasets.Dataset) error {
	n, why, err := classnames.Choose(in.Names, d)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if *o.names = n; why != "" {
		o.Note("%s", why)
	}
	return nil
}

// ofStored judges the training labels of a manifest by the stored features of its images, whitened, or by given
// probabilities.
func ofStored(ctx context.Context, in Input, o auditing) (*Report, error) {
	read := datasets.ReadOptions{Numbered: in.Probs != "", Names: in.Columns, Note: o.Note}
	if o.FitSample > 0 {
		read.Once = ctx
	}
	whole, err := datasets.Read(in.Manifest, read)
	if err != nil {
		return nil, err
	}
	if err := o.name(in, whole); err != nil {
		return nil, err
	}
	d, room := o.asJudged(whole), cmp.Or(o.MaxMem, eval.DefaultMaxMem)
	if o.FitSample > 0 {
		return bySample(ctx, in, whole, d, o)
	}
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
			return nil, fmt.Errorf("audit: found %d stores beside given probabilities, expected one, in which "+
				"outliers and copies are found", len(stores))
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
		return bySample(ctx, in, whole, d, o)
	}
	a, err := o.stored(ctx, d, stores...)
	if err != nil {
		return nil, err
	}
	a.from, a.source, a.Reading = in.Manifest, whole, whole.Reading
	a.groupCopies(whole)
	if store.Views() > 1 {
		a.View = in.View
	}
	return a, nil
}

// apart reports whether to judge n images of some classes apart from each other although no sample is asked for: they
// are too many, and the scorer can.
func (o Options) apart(n, classes, stores int) bool {
	return !o.Together && stores == 1 && o.Tuning.Weights == "" && o.Rounds <= 1 &&
		audit.Named(o.Scorer).Shardable && !audit.Together(n, classes)
}

// sampled reports whether n images of some classes are judged apart from each other: on request, or if
// they are too many.
func (o *auditing) sampled(n, classes, stores int) bool {
	if o.FitSample == 0 && o.apart(n, classes, stores) {
		o.FitSample = audit.Fitted
		o.Note("%d images of %d classes are judged apart from each other, fitted to %d of them (a fit sample of 0 "+
			"judges them together)", n, classes, o.FitSample)
	}
	return o.FitSample > 0
}

// fit replaces the memory of the whole audit by what is left for similarities, and chooses the scorer if none is named.
func (o *auditing) fit(d *datasets.Dataset, dim int) error {
	if o.Scorer == "" {
		return o.choose(d, dim, dim, min(dim, head.Widest))
	}
	return o.within(d, dim, dim, min(dim, head.Widest))
}

// stored judges the training images of d by the stores of one backbone or several.
func (o auditing) stored(ctx context.Context, d *datasets.Dataset, stores ...*features.Store) (*Report, error) {
	if err := o.fit(d, values(stores)); err != nil {
		return nil, err
	}
	data, parts, free, err := join(ctx, d, stores)
	defer func() { free() }()
	if err != nil {
		return nil, err
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
	if o.beside != nil {
		o.Beside = o.beside.on(set.IDs, data.Classes)
	}
	if o.pictures != nil {
		o.Same = samePictures(o.pictures, d, data.Train.IDs)
		o.Hashes = hashesOf(o.looks, data.Train.IDs)
	}
	// let the audit free them
	data.Train.X, data.Stored, data.Validation = blas32.General{}, features.Set{}, features.Set{}
	result, err := o.Run(ctx, set, o.Options.Options)
	if err != nil {
		return nil, err
	}
	a := Report{LeftOut: data.LeftOut}
	return &a, a.name(result, data.Train.IDs, d, data.Classes, o.Note)
}

// checkPairs refuses labels that a filter's scorer cannot judge: fewer than two classes with a pair of images.
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
// head. It finds nothing but suspects.
func Embedding(ctx context.Context, h *head.Head, set features.Set, d *datasets.Dataset, filter filters.Config,
	maxMem int64) (*Report, error) {
	j := judged{d: d, classes: d.Classes, head: h}
	j.opts = audit.Options{Scorer: filter.Scorer, Filter: &filter, Rate: &filter.Rate, MaxMem: maxMem, JustRank: true}
	z, err := j.embed(ctx, set.Labelled())
	if err != nil {
		return nil, err
	}
	return j.reportOn(ctx, z, func(string, ...any) {})
}

// asJudged returns the dataset as it is judged: its training images, or all.
func (o auditing) asJudged(d *datasets.Dataset) *datasets.Dataset {
	if !o.IncludeEval {
		return d
	}
	o.Note("images of all splits are judged and cleaned: what is measured on them from now on depends on these scores")
	all := *d
	all.Samples = slices.Clone(d.Samples)
	for i := range all.Samples {
		all.Samples[i].Split = datasets.Train
	}
	return &all
}

// judged is a set of images to judge in an embedding.
type judged struct {
	set     features.Stored // features that the head embeds; IDs are positions in d
	d       *datasets.Dataset
	classes []string // of the set's labels
	head    *head.Head
	opts    audit.Options
	audit.Auditor
	left []lookup.LeftOut

	backbone string // file of the network that made the features, if a run trained it
}

// embed puts features through the head.
func (j *judged) embed(ctx context.Context, set features.Source) (features.Set, error) {
	if set.Len() < 2 {
		return features.Set{}, fmt.Errorf("audit: %d labelled, readable training images, expected at least 2",
			set.Len())
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
	result, err := j.Run(ctx, z, j.opts)
	if err != nil {
		return nil, err
	}
	a := Report{LeftOut: j.left, Backbone: j.backbone}
	return &a, a.name(result, z.IDs, j.d, j.classes, note)
}

// name fills in the result: ids are the positions in d of its rows, classes the names of its labels.
func (a *Report) name(result audit.Result, ids []int, d *datasets.Dataset, classes []string,
	note func(string, ...any)) error {
	if n := len(ids) - len(result.Suspects); n > 0 {
		note("%d images have no label and are not judged", n)
	}
	a.result, a.data, a.ids, a.Sampled = result, d, ids, result.Sampled
	a.Scorer, a.Why, a.Blind, a.Suggests = result.Scorer, result.Why, result.Blind, result.Suggests
	a.Rate, a.Asked, a.Alike, a.Unjudged = result.Rate, result.Asked, result.Alike, result.Unjudged
	for _, s := range result.Suspects {
		if s.Dropped {
			a.CalledWrong++
		}
	}
	if !math.IsNaN(result.Expected) {
		a.ExpectedWrong = &result.Expected
	}
	a.LeftOut = append([]lookup.LeftOut{}, a.LeftOut...)
	paths := make([]string, len(ids))
	for row, id := range ids {
		paths[row] = d.Samples[id].Path
	}
	a.Images = result.Name(paths, classes)
	a.groupCopies(d)
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
