// Package inspect audits images, a run, or a manifest with stored features or class probabilities ([Judge]). Every
// input becomes labelled images with vectors, which package audit scores. A [Report] holds the result with paths and
// class names, learns from people's decisions, compares with the true labels if the manifest has them, and writes lists
// and the corrected manifest.
//
// The labels of a run are scored in its embedding. Noise rate, class statistics, outliers and duplicates come from the
// whitened stored features, which were not trained on the labels.
package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit"
	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/datasets/location"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/tuning"
)

// Options holds the options of package audit; MaxMem here limits the memory of the whole audit. [Judge] sets Classes,
// Whiten and Filter. With an empty Scorer, a run is scored by its filter and any other input by the default scorer.
type Options = audit.Options

// Usual returns the default options of an audit.
func Usual() Options { return Options{Seed: 1} }

// Host holds the runtime and the progress callbacks of an audit; every field is optional.
type Host struct {
	extraction.Host
	// Told is called with the progress of training heads.
	Told func(done, total int, where string)
	// Stage is called when a stage of an audit of Images starts, with its expected time, 0 if unknown.
	Stage func(name string, expected time.Duration)
}

// Input names the labels to audit: the training labels of Run, or the labels of Images or of Manifest.
type Input struct {
	Run *folder.Run
	// Images to embed: a manifest, a folder with a folder for each class, its .zip file, or shards
	Images location.Source
	// Manifest is a file or folder, audited by Features, Probs or both. With Probs only, it may lack the image paths.
	Manifest location.Source
	// Features is the folder of a feature store. With Images, the features are kept there for the next audit.
	Features string
	View     string          // the view to use of a store with several views
	Probs    string          // a file of class probabilities
	Root     location.Source // folder to which paths are relative; none: the default of the manifest
	Model    string          // backbone for Images, a name or a file; "": an installed backbone
	Splits   []string        // the splits to audit; none: all splits of Images, the training split of Manifest

	Names   string         // file with names of the classes, a parameter of [classnames.Choose]
	Columns datasets.Names // column names of a table in Images or Manifest; none: the default names
	// Contents recognises unchanged Images by their content ([extraction.Extraction.Contents]).
	Contents bool
	// Conflicts accepts Images with two labels; the rows after the first are in the Repeats of [Report.Dataset].
	Conflicts bool
	Tuning    Tuning // fine-tuning of the backbone; with Images or Features

	Checks *datasets.Checks // earlier decisions of people about the labels; nil: none
}

// material is the common form of all inputs: labelled images with their vectors.
type material struct {
	source  *datasets.Dataset // as it was read
	given   *datasets.Dataset // with the labels to score, which a run may have changed
	d       *datasets.Dataset // given, with the images to audit as its training split
	classes []string          // class name of each label number of set
	set     features.Set      // IDs are positions in d; no vectors if only probabilities are given
	left    []lookup.LeftOut
	store   *features.Store // features of the images; nil: none
	names   classnames.Names
	options Options
	by      audit.Auditor
	free    func() error  // releases the memory-mapped vectors of set; nil: they are in memory
	report  Report        // a report with the origin of the input filled in
	judged  func(*Report) // called with the finished report; may be nil
}

// Judge audits the labels of an input.
func Judge(ctx context.Context, in Input, o Options, h Host) (*Report, error) {
	if h.Host = h.Complete(); h.Stage == nil {
		h.Stage = func(string, time.Duration) {}
	}
	if o.Scorer != "" {
		o.Scorer = audit.Named(o.Scorer).Name
	}
	m := &material{options: o, by: audit.Auditor{Told: h.Told}}
	var err error
	switch {
	case in.Run != nil:
		err = m.readRun(ctx, in, h)
	case !in.Images.IsZero():
		err = m.readImages(ctx, in, h)
	default:
		err = m.readStored(ctx, in, h)
	}
	if m.free != nil {
		defer func() { _ = m.free() }()
	}
	if err != nil {
		return nil, err
	}
	a, err := m.auditLabels(ctx, h.Note)
	if err != nil {
		return nil, err
	}
	a.checks = in.Checks
	if a.checks != nil {
		if err := a.learnFromDecisions(ctx, h.Note); err != nil {
			return nil, err
		}
	}
	for i := range a.Images {
		a.Images[i].RateKnown = a.rateKnown()
	}
	return a, nil
}

// auditLabels audits the material and returns the report.
func (m *material) auditLabels(ctx context.Context, note func(string, ...any)) (*Report, error) {
	set := m.set
	m.set.X = blas32.General{} // let the audit free it
	m.options.Classes = len(m.classes)
	m.options.MaxMem = cmp.Or(m.options.MaxMem, eval.DefaultMaxMem) / 4
	result, err := m.by.Run(ctx, set, m.options)
	if err != nil {
		return nil, err
	}
	a := m.report
	a.LeftOut, a.Names, a.source, a.store = append([]lookup.LeftOut{}, m.left...), m.names, m.source, m.store
	if m.source != nil {
		a.Reading = m.source.Reading
	}
	if err := a.nameResult(result, set.IDs, m, note); err != nil {
		return nil, err
	}
	if m.judged != nil {
		m.judged(&a)
	}
	return &a, nil
}

// Embedding scores the labelled rows of set by a filter's scorer in the embedding of a head. The IDs of set are
// positions in d. The report holds suspects only: no noise rate, class statistics, outliers or duplicates.
func Embedding(ctx context.Context, h *head.Head, set features.Set, d *datasets.Dataset, filter filters.Config,
	maxMem int64) (*Report, error) {
	z, err := h.EmbedSet(ctx, set.Labelled())
	if err != nil {
		return nil, err
	}
	m := material{given: d, d: d, classes: d.Classes, set: z, options: Options{Scorer: filter.Scorer, Filter: &filter,
		Rate: &filter.Rate, MaxMem: maxMem, JustRank: true}}
	return m.auditLabels(ctx, func(string, ...any) {})
}

// readDataset sets the dataset and its class names. It selects the images of in.Splits to audit; if in.Splits is empty,
// those of the splits usual; if both are empty, all images.
func (m *material) readDataset(in Input, whole *datasets.Dataset, usual []string, note func(string, ...any)) error {
	m.source, m.given = whole, whole
	var why string
	var err error
	if m.names, why, err = classnames.Choose(in.Names, whole); err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if why != "" {
		note("%s", why)
	}
	splits := in.Splits
	if len(splits) == 0 {
		splits = usual
	}
	d := *whole
	d.Samples = slices.Clone(whole.Samples)
	n := map[string]int{}
	for i := range d.Samples {
		s := &d.Samples[i]
		if n[s.Split]++; len(splits) > 0 && !slices.Contains(splits, s.Split) {
			s.Split = ""
		} else {
			s.Split = datasets.Train
		}
	}
	for _, split := range in.Splits {
		if n[split] == 0 {
			return fmt.Errorf("audit: split %s: no such images; images by split: %v", split, n)
		}
	}
	m.d, m.classes = &d, d.Classes
	return nil
}

// readRun sets the material to the labelled training images of a run, in the run's embedding.
func (m *material) readRun(ctx context.Context, in Input, h Host) error {
	r := in.Run
	if audit.Named(m.options.Scorer).Trains && m.options.Scorer != "" {
		return hint.Unfit("scorer", "%s trains its own heads on stored features: name features and labels instead of "+
			"a run", m.options.Scorer)
	}
	if err := m.readDataset(Input{Names: in.Names}, r.Given, []string{datasets.Train}, h.Note); err != nil {
		return err
	}
	m.source, m.store = r.Listed, r.Store
	m.report.from, m.report.decided = r.ManifestFile, r.Decided
	stored, left, err := lookup.Stored(m.d, r.Store, datasets.Train)
	if err != nil {
		return err
	}
	m.left = left
	if stored = stored.Labelled(); stored.Len() < 2 {
		return fmt.Errorf("audit: %d labelled, readable training images, expected at least 2", stored.Len())
	}
	if m.set, err = r.Head.EmbedSet(ctx, stored); err != nil {
		return err
	}
	m.by.Findings = stored
	if r.Tuned != nil { // prefer the frozen backbone's features, which were not trained on the labels
		if frozen, err := r.FrozenStore(); err == nil {
			was, _, err := lookup.Stored(m.d, frozen, datasets.Train)
			if was = was.Labelled(); err == nil && was.Len() == m.set.Len() {
				m.by.Findings = was
			}
		}
	}
	if by := audit.Named(m.options.Scorer); m.options.Scorer != "" && by.Kind != audit.ByFilter {
		return nil
	}
	return m.useFilter(r, h.Note)
}

// useFilter selects the scorer that the user named, else the run's filter if it can score a set, else the default.
func (m *material) useFilter(r *folder.Run, note func(string, ...any)) error {
	f := r.Config.Filter.In(1)
	rate := f.Rate
	if r.Config.HasPeers() {
		rate = r.Config.Peers.Rate.Share
	}
	facts, err := folder.ReadFacts(r.Dir)
	if err != nil {
		return err
	}
	if f.Rate = facts.WholeRate(rate); m.options.Rate != nil {
		f.Rate = *m.options.Rate
	}
	entry, err := filters.Find(cmp.Or(m.options.Scorer, f.Scorer))
	switch {
	case m.options.Scorer == "" && (err != nil || !entry.ByBankAlone()):
		note("the filter of the run cannot score a whole set: scoring its embedding with %s", filters.Default().Scorer)
		f.Scorer, f.Threshold = filters.Default().Scorer, filters.Default().Threshold
	case err != nil || !entry.ByBankAlone():
		return hint.Unfit("scorer", "%q is no scorer of an audit, expected one of %s", m.options.Scorer,
			strings.Join(audit.Names(), ", "))
	case m.options.Scorer != "":
		f.Scorer, f.Threshold = m.options.Scorer, filters.ThresholdMedian
	}
	m.options.Scorer, m.options.Filter, m.options.Rate = f.Scorer, &f, &f.Rate
	return f.Validate()
}

// readStored sets the material to the images of a manifest, with stored features, class probabilities, or both.
func (m *material) readStored(ctx context.Context, in Input, h Host) error {
	root := cmp.Or(in.Root, extraction.PicturesOf(in.Features))
	whole, err := datasets.Read(in.Manifest, datasets.ReadOptions{Numbered: in.Probs != "", Names: in.Columns,
		Root: root, Note: h.Note})
	if err != nil {
		return err
	}
	if err := m.readDataset(in, whole, []string{datasets.Train}, h.Note); err != nil {
		return err
	}
	m.report.from = in.Manifest
	if in.Features != "" {
		if err := m.openStore(ctx, in, h.Note); err != nil {
			return err
		}
		data := config.Data{Manifest: in.Manifest.String(), Root: root.String(), Features: m.store.Dir, Model: in.Model}
		if err := m.setTuning(in.Tuning, h, func(f config.Finetune) (*tuning.Live, error) {
			return tuning.Open(config.Run{Data: data, Finetune: f}, m.d.Paths(), tuning.Config{Note: h.Note})
		}); err != nil {
			return err
		}
		if err := m.joinStore(ctx); err != nil {
			return err
		}
	}
	if in.Probs != "" {
		return m.addProbabilities(in.Probs, h.Note)
	}
	return nil
}

// openStore opens the feature store and verifies its files.
func (m *material) openStore(ctx context.Context, in Input, note func(string, ...any)) error {
	store, err := features.Open(in.Features)
	if err != nil {
		return hint.With(err, "%s", features.Advice(err))
	}
	if err := store.Verify(ctx); err != nil {
		return hint.With(err, "extract the features again")
	}
	if err := folder.NoteStale(ctx, store, note); err != nil {
		return err
	}
	m.store, err = folder.LookAt(store, in.View, note)
	return err
}

// joinStore looks up the features of the images to audit.
func (m *material) joinStore(ctx context.Context) error {
	data, free, err := run.JoinTrain(ctx, m.d, m.store)
	m.free = free
	m.set, m.classes, m.left, m.options.Whiten = data.Train, data.Classes, data.LeftOut, true
	return err
}
