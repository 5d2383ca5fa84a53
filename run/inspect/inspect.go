// Package inspect audits images, the stored features or class probabilities of a manifest, or a run ([Judge]). The way
// is the same for all: the input becomes images with labels and their vectors, package audit judges these, and a
// [Report] names what was found, learns from people's decisions, compares with the truth if the manifest has it, and
// writes lists and the corrected manifest.
//
// A run is judged in its embedding. Noise rate, classes, outliers and copies are found in the stored features,
// whitened, which have not learnt the labels.
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

// Options say how labels are judged: how a set is, and the memory of everything. Judging sets Classes, Whiten and
// Filter itself. Scorer "": a run by its filter, everything else by the default.
type Options = audit.Options

// Usual returns the settings of an audit for which none are given.
func Usual() Options { return Options{Seed: 1} }

// Host is what an audit runs on, and who follows it; all of it is optional.
type Host struct {
	extraction.Host
	// Told follows the steps of heads.
	Told func(done, total int, where string)
	// Stage begins a stage of Images, with its expected time, 0 if unknown.
	Stage func(name string, expected time.Duration)
}

// Input is what is judged: the training labels of Run, the labels of Images, or those of Manifest.
type Input struct {
	Run *folder.Run
	// Images to embed: a manifest, a folder with a folder for each class, its .zip file, or shards
	Images location.Source
	// Manifest is a file or folder judged by Features, Probs or both. With Probs alone it need not name its images.
	Manifest location.Source
	// Features is the folder of a store. With Images, the features are kept there for the next audit.
	Features string
	View     string          // of a store with several
	Probs    string          // a file of class probabilities
	Root     location.Source // of the paths of Images; none: as the manifest says
	Model    string          // backbone of Images by name or file; "": an installed one
	Splits   []string        // that are judged; none: all Images, the training images of a Manifest

	Names   string         // file with names of the classes, as [classnames.Choose] takes it
	Columns datasets.Names // of Images or Manifest, if they are a table; none: usual names
	Tuning  Tuning         // of Images or Features

	Checks *datasets.Checks // what people decided about labels before; nil: nothing
}

// material is what is judged, whatever the input.
type material struct {
	source  *datasets.Dataset // as it was read
	given   *datasets.Dataset // with the labels that are judged
	d       *datasets.Dataset // given, with the images to judge as its training images
	classes []string          // of the labels of set, by number
	set     features.Set      // IDs are positions in d; without values if probabilities alone judge
	left    []lookup.LeftOut
	store   *features.Store // of the images; nil: none
	names   classnames.Names
	options Options
	by      audit.Auditor
	free    func() error // ends the use of set; nil: it is in memory
	report  Report       // where it comes from
	judged  func(*Report)
}

// Judge judges the labels of an input.
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

// auditLabels judges the material and names what is found.
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

// Embedding judges the labelled rows of set, whose IDs are positions in d, by a filter's scorer in the embedding of a
// head. It finds nothing but suspects.
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

// readDataset takes the images of a manifest or a folder, and those of in.Splits to judge; none: all of usual.
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
			return fmt.Errorf("audit: split %s: found no such images, but %v", split, n)
		}
	}
	m.d, m.classes = &d, d.Classes
	return nil
}

// readRun takes the labelled training images of a run in its embedding.
func (m *material) readRun(ctx context.Context, in Input, h Host) error {
	r := in.Run
	if audit.Named(m.options.Scorer).Trains && m.options.Scorer != "" {
		return hint.Unfit("scorer", "%s trains its own heads on stored features: give features and labels, and no run",
			m.options.Scorer)
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
	if r.Tuned != nil { // rather in features that have not learnt the labels
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

// useFilter judges by the scorer asked for, or by the run's filter if it can judge a set, else by the default filter.
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
		note("the filter of the run cannot judge a set: judging its embedding with %s", filters.Default().Scorer)
		f.Scorer, f.Threshold = filters.Default().Scorer, filters.Default().Threshold
	case err != nil || !entry.ByBankAlone():
		return hint.Unfit("scorer", "%q cannot audit, expected one of %s", m.options.Scorer,
			strings.Join(audit.Names(), ", "))
	case m.options.Scorer != "":
		f.Scorer, f.Threshold = m.options.Scorer, filters.ThresholdSTRM
	}
	m.options.Scorer, m.options.Filter, m.options.Rate = f.Scorer, &f, &f.Rate
	return f.Validate()
}

// readStored takes the images of a manifest with their stored features, with class probabilities, or with both.
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

// openStore opens the store, and checks its contents.
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

// joinStore joins the images to judge with their features.
func (m *material) joinStore(ctx context.Context) error {
	data, free, err := run.JoinTrain(ctx, m.d, m.store)
	m.free = free
	m.set, m.classes, m.left, m.options.Whiten = data.Train, data.Classes, data.LeftOut, true
	return err
}
