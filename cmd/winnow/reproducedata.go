package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/glyphs"
	"winnow/eval"
	"winnow/extraction"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/models"
	"winnow/papers/studies"
)

// glyphsData is the name under which --data knows the embedded dataset.
const glyphsData = "glyphs"

// reproduceData is what the columns of a study are trained on.
type reproduceData struct {
	named   map[string]*cellData // by the paper's name
	standIn *cellData            // for every name; nil where they are given by name
}

// cellData is a dataset with its features.
type cellData struct {
	name  string // in words
	clean *datasets.Dataset
	store *features.Store

	mu     sync.Mutex
	labels map[string]*labelled // by noise, rate, seed and protocol
}

// labelled is a dataset as a training sees it.
type labelled struct {
	once sync.Once
	data *datasets.Dataset
	rate float64 // realised share of wrong labels
	err  error
}

// openData reads --data.
func (r *reproduction) openData() error {
	given := r.c.StringSlice("data")
	if len(given) == 0 {
		return misused("--data is missing: NAME=MANIFEST,FEATURES for %s; MANIFEST,FEATURES for any data in their place; or glyphs", strings.Join(r.study.Datasets(), ", "))
	}
	for _, flag := range []string{"classes", "images"} {
		if r.c.IsSet(flag) && given[0] != glyphsData {
			return misused("--%s is about --data glyphs", flag)
		}
	}
	r.data.named = map[string]*cellData{}
	for _, text := range given {
		name, files, byName := strings.Cut(text, "=")
		if !byName {
			files = text
		}
		var err error
		switch {
		case text == glyphsData && r.data.standIn == nil && len(r.data.named) == 0 && len(given) == 1:
			r.data.standIn, err = r.openGlyphs()
		case !byName && len(given) > 1:
			return misused("--data %s stands in for every dataset: expected no other --data beside it", text)
		case byName && files == glyphsData:
			return misused("--data %s: the drawn characters stand in for every dataset: --data glyphs", text)
		case byName && r.data.named[name] != nil:
			return misused("--data: found %q twice", name)
		case byName && !slices.Contains(r.study.Datasets(), name):
			return misused("--data: %s has no dataset %q, it has %s", r.study.Name, name, strings.Join(r.study.Datasets(), ", "))
		case byName:
			r.data.named[name], err = openCellData(files)
		default:
			r.data.standIn, err = openCellData(files)
		}
		if err != nil {
			return err
		}
	}
	return r.checkData()
}

// checkData says before anything is trained what would end a cell after its training.
func (r *reproduction) checkData() error {
	checked := map[*cellData]bool{}
	for _, column := range r.study.Columns {
		data := r.data.of(column)
		if data == nil || checked[data] {
			continue
		}
		checked[data] = true
		if err := r.checkOne(data); err != nil {
			return err
		}
		if r.study.State == studies.Best && len(data.clean.Select(datasets.Validation)) == 0 {
			note(r.c, "%s: has no validation split to choose the best state by: the last one is measured", data.name)
		}
	}
	return nil
}

func (r *reproduction) checkOne(data *cellData) error {
	rows, _, _, err := lookup.Rows(data.clean, data.store, data.clean.Select(datasets.Train), "train ")
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("reproduce: %s: has no image in the split train; it has %s", data.name, data.clean.SplitNames())
	}
	test, _, err := testOf(data.clean, data.store)
	if err != nil {
		return fmt.Errorf("reproduce: %s: %w", data.name, err)
	}
	var labels []int
	for _, i := range data.clean.Select(datasets.Train) {
		labels = append(labels, data.clean.Samples[i].Label)
	}
	for _, metric := range r.metrics() {
		entry, err := eval.Find(metric.name)
		if err != nil {
			return err
		}
		if entry.Train && !features.ShareLabel(labels, test.Labels) {
			return withHint(fmt.Errorf("reproduce: %s: no test image has a class of the split train, and %s measures %s by classes that are trained", data.name, r.study.Name, metric.name),
				"make a manifest whose splits share their classes: winnow data import --protocol official; or choose a study of retrieval")
		}
	}
	return nil
}

// openCellData reads MANIFEST,FEATURES.
func openCellData(text string) (*cellData, error) {
	manifest, store, ok := strings.Cut(text, ",")
	if !ok || manifest == "" || store == "" {
		return nil, misused("--data: found %q, expected MANIFEST,FEATURES", text)
	}
	d, err := datasets.Read(manifest, datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	s, err := features.Open(store)
	if err != nil {
		return nil, withHint(err, "make the features first: winnow extract")
	}
	if err := s.Verify(); err != nil {
		return nil, withHint(err, "make the features again: winnow extract --overwrite")
	}
	return newCellData(fmt.Sprintf("%s (%s)", filepath.Base(manifest), filepath.Base(store)), d, s), nil
}

func newCellData(name string, d *datasets.Dataset, s *features.Store) *cellData {
	return &cellData{name: name, clean: d, store: s, labels: map[string]*labelled{}}
}

// openGlyphs draws the embedded dataset and makes its features below --out, or takes those that are there.
func (r *reproduction) openGlyphs() (*cellData, error) {
	cfg := glyphs.Config{Classes: r.c.Int("classes"), Images: r.c.Int("images"), Seed: glyphsSeed}
	if cfg.Images == 0 {
		cfg.Images = glyphs.DefaultImages
	}
	d, images, err := glyphs.New(cfg)
	if err != nil {
		return nil, asMisuse(err)
	}
	rt, err := openRuntime(r.c)
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	registry, err := openRegistry()
	if err != nil {
		return nil, err
	}
	b, err := registry.Resolve(demoBackbone, models.Settings{})
	if err != nil {
		return nil, err
	}
	cut, err := models.Prepare(b.Entry, b.Data, "")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(r.dir, "data", fmt.Sprintf("glyphs-%d-%d", len(d.Classes), cfg.Images))
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("reproduce: %w", err)
	}
	e := extraction.Extraction{Out: dir, Overwrite: true, Root: images, Paths: d.Paths(), Model: b, Cut: cut,
		Config: backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extraction.UsualBatch, Strict: true}}
	s, err := features.Open(dir)
	if err != nil || s.Key.Differs(e.Key()) != "" || s.Verify() != nil {
		note(r.c, "drawing %d characters and making their features, into %s", len(d.Classes), dir)
		if s, err = e.Store(r.c.Context, extractionHost(r.c)); err != nil {
			return nil, err
		}
	}
	return newCellData(fmt.Sprintf("%d drawn characters (glyphs)", len(d.Classes)), d, s), nil
}

// of is what a column is trained on; nil where there is no such data.
func (d reproduceData) of(column studies.Column) *cellData {
	if d.standIn != nil {
		return d.standIn
	}
	return d.named[column.Data]
}

// The noise of a column besides the models of winnow data corrupt.
const (
	trueLabels  = "none"  // the true labels, where they are known
	givenLabels = "given" // as the manifest has them
)

// as is the dataset as a row's training sees it on a column, for a seed; made once.
func (d *cellData) as(ctx context.Context, labels string, column studies.Column, seed uint64) (*labelled, error) {
	noise, rate := column.Noise, column.Rate
	if labels == studies.True {
		noise, rate = trueLabels, 0
	}
	key := fmt.Sprintf("%s %g %s %d", noise, rate, labels, seed)
	d.mu.Lock()
	l := d.labels[key]
	if l == nil {
		l = new(labelled)
		d.labels[key] = l
	}
	d.mu.Unlock()
	l.once.Do(func() { l.make(ctx, d, labels, noise, rate, seed) })
	return l, l.err
}

func (l *labelled) make(ctx context.Context, d *cellData, labels, noise string, rate float64, seed uint64) {
	if l.data = d.clean; noise == givenLabels {
		l.rate = l.data.Noise(datasets.Train).Rate
		return
	}
	if l.data = d.clean.TrueLabels(datasets.Train); noise == trueLabels || noise == "" {
		return
	}
	if labels == studies.Topline {
		l.data, _, l.err = l.data.Topline(datasets.Train, rate, toplineRand(seed))
		return
	}
	model, err := newNoise(ctx, noiseSpec{Model: noise, Rate: rate, Similar: 3, Count: datasets.Independent}, func() (blas32.General, error) {
		return vectorsIn(d.store, l.data, datasets.Train)
	})
	if err == nil {
		l.data, err = l.data.Corrupt(datasets.Train, model, noiseRand(seed))
	}
	if l.err = err; err == nil {
		l.rate = l.data.Noise(datasets.Train).Rate
	}
}
