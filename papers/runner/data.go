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
	Name     string // the dataset's name in the paper; "": replaces every dataset of the study, as the only source
	Manifest location.Source
	Features string          // the store; {seed} is replaced by the seed if each seed has its own network
	Root     location.Source // location of the images, to train the network; zero: Options.Root or Manifest's folder
}

// data is an opened dataset with its features.
type data struct {
	name  string // for messages and reports
	from  Source
	clean *datasets.Dataset
	store *features.Store

	mu     sync.Mutex
	labels map[string]*labelled // by noise, rate, seed and protocol
}

// labelled is a dataset with the labels that a training uses.
type labelled struct {
	once sync.Once
	data *datasets.Dataset
	rate float64 // actual share of wrong labels
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

// checkData checks the data before any training, for errors that would otherwise stop a cell after its training.
func (r *reproduction) checkData(ctx context.Context) error {
	tunes := slices.ContainsFunc(r.Study.Rows, func(row studies.Row) bool {
		return len(r.Study.Choices(row)) > 0 && r.isRowWanted(row)
	})
	for _, d := range r.listUsedData() {
		rows, _, _, err := lookup.Rows(d.clean, d.store, d.clean.Select(datasets.Train), "train ")
		if err == nil && len(rows) == 0 {
			err = fmt.Errorf("no image in the split train, expected one or more; found splits %s", d.clean.SplitNames())
		}
		if err == nil && len(r.listNeededMetrics(d.clean)) > 0 {
			_, _, err = testOf(ctx, d.clean, d.store)
		}
		if err == nil && tunes && len(d.clean.Select(datasets.Validation)) == 0 {
			err = hint.With(fmt.Errorf("no validation split, which %s needs to choose settings", r.Study.Name),
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

// findRowData returns the data on which a row is trained in a column for a seed, or nil without such data. Data that
// replace every dataset have features of only one network.
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

// Values of a column's noise in addition to the noise models of "winnow data corrupt".
const (
	trueLabels  = "none"  // the true labels, if known
	givenLabels = "given" // the manifest's labels
)

// labelData returns the dataset with the labels on which a row is trained in a column for a seed. It makes each such
// dataset once.
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

// dropWrong returns the data without the training images whose label is wrong. If labels is [studies.Random], it
// leaves out the same number of random training images instead.
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
