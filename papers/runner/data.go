package runner

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/train"
)

// Source is a dataset with its features.
type Source struct {
	Name     string // the paper's; "" stands in for every dataset of the study, and must be the only source
	Manifest location.Source
	Features string          // {seed} stands for the seed, if each has its own network
	Root     location.Source // of the images, to train the network; zero: Options.Root or Manifest's folder
}

// data is a dataset with its features, read.
type data struct {
	name  string // in words
	from  Source
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

// openData reads the data of all columns.
func (r *reproduction) openData(ctx context.Context) (err error) {
	r.data = map[string]*data{}
	for _, s := range r.Data {
		s.Root = cmp.Or(s.Root, r.Root)
		for _, seed := range r.listSeeds() {
			d := r.data[s.Name]
			of := s
			of.Features = strings.ReplaceAll(s.Features, "{seed}", fmt.Sprint(seed))
			if d == nil || d.from != of {
				if d, err = openSource(ctx, of); err != nil {
					return err
				}
			}
			r.data[s.Name], r.data[makeSeededKey(s.Name, seed)] = d, d
		}
		if s.Name == "" {
			r.standIn = r.data[""]
		}
	}
	return r.checkData(ctx)
}

// makeSeededKey returns the key of a dataset's features for a seed.
func makeSeededKey(name string, seed uint64) string { return fmt.Sprintf("%s {%d}", name, seed) }

// checkData finds the errors that would end a cell after its training, before anything is trained.
func (r *reproduction) checkData(ctx context.Context) error {
	tunes := slices.ContainsFunc(r.Study.Rows, func(row studies.Row) bool {
		return len(r.Study.Choices(row)) > 0 && r.isRowWanted(row)
	})
	for _, d := range r.listUsedData() {
		rows, _, _, err := lookup.Rows(d.clean, d.store, d.clean.Select(datasets.Train), "train ")
		if err == nil && len(rows) == 0 {
			err = fmt.Errorf("has no image in the split train; it has %s", d.clean.SplitNames())
		}
		if err == nil && len(r.listNeededMetrics(d.clean)) > 0 {
			_, _, err = testOf(ctx, d.clean, d.store)
		}
		if err == nil && tunes && len(d.clean.Select(datasets.Validation)) == 0 {
			err = hint.With(fmt.Errorf("has no validation split, by which %s chooses settings", r.Study.Name),
				"make one: winnow data import can hold out a validation split")
		}
		if err != nil {
			return fmt.Errorf("reproduce: %s: %w", d.name, err)
		}
	}
	return nil
}

// openSource reads a manifest and its features.
func openSource(ctx context.Context, s Source) (*data, error) {
	d, err := datasets.Read(s.Manifest, datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	store, err := features.Open(s.Features)
	if err != nil {
		return nil, hint.With(err, "%s", features.Advice(err))
	}
	if err := store.Verify(ctx); err != nil {
		return nil, hint.With(err, "make the features again: winnow extract")
	}
	made := newData(fmt.Sprintf("%s (%s)", s.Manifest.Base(), filepath.Base(s.Features)), d, store)
	made.from = s
	return made, nil
}

func newData(name string, d *datasets.Dataset, s *features.Store) *data {
	return &data{name: name, clean: d, store: s, labels: map[string]*labelled{}}
}

// findRowData returns the data that a row is trained on in a column, for a seed, or nil. Data that stand in for every
// dataset have features of only one network.
func (r *reproduction) findRowData(row studies.Row, column studies.Column, seed uint64) *data {
	name := row.Source(column)
	if row.Network != "" {
		return r.data[makeSeededKey(name, seed)]
	}
	if r.standIn != nil {
		name = ""
	}
	if d := r.data[makeSeededKey(name, seed)]; d != nil {
		return d
	}
	return r.standIn
}

// listUsedData returns the data of all rows.
func (r *reproduction) listUsedData() (list []*data) {
	for _, column := range r.Study.Columns {
		for _, seed := range r.listSeeds() {
			for _, row := range r.Study.Rows {
				if d := r.findRowData(row, column, seed); d != nil && !slices.Contains(list, d) {
					list = append(list, d)
				}
			}
		}
	}
	return list
}

// The noise of a column besides the models of winnow data corrupt.
const (
	trueLabels  = "none"  // the true labels, if known
	givenLabels = "given" // as the manifest has them
)

// labelData returns the dataset as a row's training sees it in a column, for a seed. It is made once.
func (d *data) labelData(ctx context.Context, labels string, column studies.Column, seed uint64) (*labelled, error) {
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
	l.once.Do(func() { l.makeLabels(ctx, d, labels, noise, rate, seed) })
	return l, l.err
}

// dropWrong returns the data without the training images whose label is wrong or, if labels are [studies.Random],
// without as many drawn at random.
func dropWrong(d *datasets.Dataset, labels string, seed uint64) *datasets.Dataset {
	drop, rows := map[int]bool{}, d.Labelled(datasets.Train)
	for _, i := range rows {
		if s := d.Samples[i]; s.True != datasets.Unlabelled && s.Label != s.True {
			drop[i] = true
		}
	}
	if labels == studies.Random {
		n := len(drop)
		clear(drop)
		for _, at := range train.Rand(seed, "random drop", 0).Perm(len(rows))[:n] {
			drop[rows[at]] = true
		}
	}
	out, at := *d, -1
	out.Samples = slices.DeleteFunc(slices.Clone(d.Samples), func(datasets.Sample) bool { at++; return drop[at] })
	return &out
}

func (l *labelled) makeLabels(ctx context.Context, d *data, labels, noise string, rate float64, seed uint64) {
	defer func() {
		if l.err == nil && (labels == studies.Oracle || labels == studies.Random) {
			l.data = dropWrong(l.data, labels, seed)
			l.rate = l.data.Noise(datasets.Train).Rate
		}
	}()
	if l.data = d.clean; noise == givenLabels {
		l.rate = l.data.Noise(datasets.Train).Rate
		return
	}
	if l.data = d.clean.TrueLabels(datasets.Train); noise == trueLabels || noise == "" {
		return
	}
	if labels == studies.Topline {
		l.data, _, l.err = l.data.Topline(datasets.Train, rate, datasets.ToplineRand(seed))
		return
	}
	spec := run.NoiseSpec{Model: noise, Rate: rate, Similar: 3, Count: datasets.Independent}
	model, err := run.NewNoise(ctx, spec, func() (blas32.General, error) {
		return run.VectorsIn(ctx, d.store, l.data, datasets.Train)
	})
	if err == nil {
		l.data, err = l.data.Corrupt(datasets.Train, model, run.NoiseRand(seed))
	}
	if l.err = err; err == nil {
		l.rate = l.data.Noise(datasets.Train).Rate
	}
}
