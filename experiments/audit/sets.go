package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// description is a set on disk: the training images of a manifest and a store of their features.
type description struct {
	name, manifest, store string
	reference             string // store that human-like and small-cluster noise look at; "": the same
	foreign               string // set whose features are of the same network; "": none
	most                  int    // images of each class taken, the first; 0: all
	noises                []noise
}

// noise is a kind of wrong labels and how many. people's are a manifest of their own, beside the set's.
type noise struct {
	kind string
	rate float64
}

func (n noise) String() string {
	if n.rate == 0 {
		return n.kind
	}
	return fmt.Sprintf("%s %g %%", n.kind, 100*n.rate)
}

func drawnNoises() []noise {
	return []noise{
		{"symmetric", 0.1}, {"symmetric", 0.2}, {"symmetric", 0.3}, {"symmetric", 0.4}, {"symmetric", 0.5},
		{"pair", 0.2}, {"pair", 0.4}, {"small-cluster", 0.25}, {"small-cluster", 0.5}, {"human-like", 0.2}, {"human-like", 0.4},
	}
}

var described = []description{
	{name: "glyphs", manifest: "glyphs/manifest.csv", store: "glyphs", noises: drawnNoises()},
	{name: "cub", manifest: "cub.csv", store: "cub-mobilenetv2", reference: "cub-squeezenet", foreign: "cifar10", noises: drawnNoises()},
	{name: "cifar10", manifest: "cifar10/clean.csv", store: "cifar10-mobilenetv2", foreign: "cub", noises: []noise{
		{"symmetric", 0.1}, {"symmetric", 0.2}, {"symmetric", 0.3}, {"symmetric", 0.4}, {"symmetric", 0.5}, {"pair", 0.2}, {"pair", 0.4},
		{"people, aggre", 0}, {"people, random1", 0}, {"people, worse", 0},
	}},
	{name: "mnist", manifest: "mnist.csv", store: "mnist-mobilenetv2-64", most: 500, noises: []noise{
		{"symmetric", 0.1}, {"symmetric", 0.2}, {"symmetric", 0.3}, {"symmetric", 0.4}, {"symmetric", 0.5}, {"pair", 0.2}, {"pair", 0.4}, {"human-like", 0.2}, {"human-like", 0.4},
	}},
	{name: "omniglot", manifest: "omniglot/omniglot.csv", store: "omniglot-mobilenetv2-96", noises: drawnNoises()},
}

func setNames() []string {
	var names []string
	for _, d := range described {
		names = append(names, d.name)
	}
	return names
}

// opened is a set in memory: whitened vectors as winnow audit judges them, and what noise looks at. Labels are true
// and without gaps.
type opened struct {
	description
	z         features.Set
	raw       blas32.General // as stored
	classes   []string
	paths     []string
	reference blas32.General // unit rows, empty where no noise needs it
}

// judgedDim is the dimension that winnow audit whitens features to.
const judgedDim = 512

func (b *bench) open(name string) (*opened, error) {
	at := slices.IndexFunc(described, func(d description) bool { return d.name == name })
	if at < 0 {
		return nil, fmt.Errorf("set %q: expected one of %v", name, setNames())
	}
	s := &opened{description: described[at]}
	d, err := datasets.Read(filepath.Join(b.data, s.manifest), datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	number, count := map[int]int{}, map[int]int{}
	var labels []int
	for _, i := range d.Labelled(datasets.Train) {
		label := d.Samples[i].Label
		if _, ok := number[label]; !ok {
			number[label] = len(s.classes)
			s.classes = append(s.classes, d.Classes[label])
		}
		if count[label]++; s.most > 0 && count[label] > s.most {
			continue
		}
		labels, s.paths = append(labels, number[label]), append(s.paths, d.Samples[i].Path)
	}
	x, err := b.vectors(s.store, s.paths)
	if err != nil {
		return nil, err
	}
	s.raw = x
	if s.z, err = head.WhitenSet(features.Set{X: x, Labels: labels}, judgedDim); err != nil {
		return nil, err
	}
	if s.description.reference != "" {
		if x, err = b.vectors(s.description.reference, s.paths); err != nil {
			return nil, err
		}
	}
	s.reference = blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: slices.Clone(x.Data)}
	return s, features.Normalize(s.reference)
}

// vectors returns the stored features of the images.
func (b *bench) vectors(store string, paths []string) (blas32.General, error) {
	from, err := features.Open(filepath.Join(b.features, store))
	if err != nil {
		return blas32.General{}, err
	}
	rows, missing := from.Lookup(paths)
	if len(missing) > 0 {
		return blas32.General{}, fmt.Errorf("%s: %d images are missing, the first is %q", store, len(missing), missing[0])
	}
	return from.Read(rows)
}

// peopleShare is the share of the images with people's labels that each seed draws.
const peopleShare = 0.8

// corrupt gives the set wrong labels and returns it with the true ones of the same rows.
func (b *bench) corrupt(ctx context.Context, s *opened, n noise, seed int) (z features.Set, truth []int, err error) {
	rng := train.Rand(uint64(seed), "audit "+s.name+" "+n.String(), 0)
	if n.rate == 0 {
		return b.people(s, n, rng)
	}
	var model datasets.Noise
	switch n.kind {
	case "small-cluster":
		model = datasets.SmallCluster{Rate: n.rate, X: s.reference, Cluster: func(x blas32.General, k int, rng *rand.Rand) ([]int, error) {
			clusters, err := eval.KMeans(ctx, x, k, eval.KMeansOptions{Starts: 1, Seed: rng.Uint64()})
			return clusters.Of, err
		}}
	case "human-like":
		model = datasets.HumanLike{Rate: n.rate, X: s.reference}
	default:
		if model, err = datasets.NewNoise(n.kind, n.rate); err != nil {
			return z, nil, err
		}
	}
	given, err := model.Corrupt(s.z.Labels, s.classes, rng)
	return features.Set{X: s.z.X, Labels: given}, s.z.Labels, err
}

// people reads the labels that people gave, and draws a share of the images.
func (b *bench) people(s *opened, n noise, rng *rand.Rand) (z features.Set, truth []int, err error) {
	file := filepath.Join(filepath.Dir(s.manifest), n.kind[len("people, "):]+".csv")
	d, err := datasets.Read(filepath.Join(b.data, file), datasets.ReadOptions{})
	if err != nil {
		return z, nil, err
	}
	given := map[string]int{}
	for _, i := range d.Labelled(datasets.Train) {
		given[d.Samples[i].Path] = slices.Index(s.classes, d.Classes[d.Samples[i].Label])
	}
	rows := rng.Perm(s.z.Len())[:int(peopleShare*float64(s.z.Len()))]
	slices.Sort(rows)
	z = s.z.Rows(rows)
	for k, i := range rows {
		label, ok := given[s.paths[i]]
		if !ok || label < 0 {
			return z, nil, fmt.Errorf("%s: no label of a known class for %s", file, s.paths[i])
		}
		truth = append(truth, z.Labels[k])
		z.Labels[k] = label
	}
	return z, truth, nil
}
