package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"

	"winnow/backbone"
	"winnow/backbone/live"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/graph"
	"winnow/graph/gradient"
	"winnow/head"
)

// choose picks the weights to train and differentiates the network by them: what has no derivative is known before
// anything runs.
func (t *tuning) choose() (err error) {
	m := t.sized()
	if t.weights, err = gradient.Choose(m, t.cut.Tensor, t.settings.Weights); err != nil {
		return withHint(err, "winnow models show %s says how large the stages are", t.backbone.Name)
	}
	if t.frozen, t.live, _, err = gradient.Split(m, t.cut.Tensor, t.weights); err != nil {
		return err
	}
	t.derivative, err = gradient.Differentiate(t.live, gradient.Options{Output: t.cut.Tensor, Weights: t.weights, BatchNorm: t.batchNorm()})
	return err
}

// sized is the network with the size of its images written into its input: derivatives want to know it. What is
// saved keeps its free sizes.
func (t *tuning) sized() *graph.Model {
	p := t.backbone.Preprocessing
	for _, d := range t.model.Graph.DataInputs()[0].Shape[1:] {
		if !d.Known() {
			return graph.Sized(t.model, t.cut.Input, p.Planes(), p.Crop)
		}
	}
	return t.model
}

// encoder loads the network for training, with a head on it. set is the training images, resting says whether the
// network rests in the running step, source gives the random numbers of one batch's views.
func (t *tuning) encoder(ctx context.Context, h *head.Head, set features.Set, batch int, resting func() bool, source func() *rand.Rand) (closingEncoder, error) {
	var err error
	if t.net, err = ort.NewLive(t.rt, t.derivative, ort.LiveOptions{Model: t.live}); err != nil {
		return nil, fmt.Errorf("finetune: %s: %w", t.backbone.Name, err)
	}
	t.tellWeights()
	inputs, err := t.inputs(ctx, set, batch, source)
	if err != nil {
		return nil, err
	}
	return live.New(live.Config{
		Network: t.net, Inputs: inputs, Head: h, Labels: set.Labels, IDs: set.IDs, Batch: batch, Chunk: t.settings.Chunk, Resting: resting,
	})
}

// inputs is what the live part is fed: pixels, or the activations of the frozen part, kept if they may be.
func (t *tuning) inputs(ctx context.Context, set features.Set, batch int, source func() *rand.Rand) (live.Inputs, error) {
	paths := make([]string, set.Len())
	for i, id := range set.IDs {
		paths[i] = t.paths[id]
	}
	p, limit := t.backbone.Preprocessing, int64(t.settings.CacheLimit)
	varies := t.augment != (backbone.Augmentation{})
	keep := func(pictures int64) (*live.Pixels, error) {
		cache := backbone.NewImageCache(t.root, paths, pictures, p.DecodeOptions(t.augment))
		if err := readOne(cache); err != nil {
			return nil, withHint(err, "fine-tuning looks at the images, which were looked for below %s: name their folder with --root", t.rootName)
		}
		return live.NewPixels(live.PixelsConfig{Pictures: cache, Preprocessing: p, Augmentation: t.augment, Source: source})
	}
	pixels, err := keep(limit)
	if err != nil || t.frozen == nil {
		return pixels, err
	}
	if t.prefix, err = ort.NewPrefix(t.rt, t.frozen, t.net.InputNames()); err != nil {
		return nil, err
	}
	if !varies && limit > 0 {
		if pixels, err = keep(0); err != nil { // every picture is wanted once
			return nil, err
		}
		cached, err := t.cache(ctx, pixels, set.Len(), limit)
		if tooLarge := new(live.TooLarge); !errors.As(err, &tooLarge) {
			if err != nil && ctx.Err() == nil {
				err = withHint(err, "fine-tuning looks at every image of the train split that the features know, below %s", t.rootName)
			}
			return cached, err
		} else {
			t.note("what the frozen part gives of %d images takes %s, more than the cache limit of %s: it is computed again for every batch", tooLarge.Rows, sizeText(tooLarge.Need), sizeText(tooLarge.Limit))
		}
		if pixels, err = keep(limit); err != nil {
			return nil, err
		}
	}
	switch {
	case varies:
		t.note("images are augmented (%s): the frozen part runs for every batch", t.settings.Augment)
	case limit == 0:
		t.note("nothing is cached: the frozen part runs for every batch")
	}
	return live.NewPrefixed(t.prefix, pixels, min(batch, t.batch))
}

// cache runs the frozen part over all training images, once.
func (t *tuning) cache(ctx context.Context, pixels *live.Pixels, rows int, limit int64) (live.Inputs, error) {
	from, err := live.NewPrefixed(t.prefix, pixels, 0)
	if err != nil {
		return nil, err
	}
	at, end := t.watch("images")
	defer end()
	cached, err := live.NewCached(ctx, from, rows, t.batch, limit, at)
	if err != nil {
		return nil, err
	}
	t.note("the frozen part was run once over %d images: %s are kept", rows, sizeText(cached.Bytes()))
	return cached, nil
}

// readOne looks whether the pictures are there, before the first step misses one.
func readOne(cache interface {
	Image(int) (image.Image, error)
}) error {
	_, err := cache.Image(0)
	return err
}

// tunedShare is how much of a network is trained, as it is written.
type tunedShare struct {
	From    string `json:"from"` // the backbone as it was: its name
	SHA256  string `json:"from_sha256"`
	Trained int64  `json:"trained_weights"` // numbers
	Of      int64  `json:"weights"`         // numbers that could be
	Tensors int    `json:"trained_tensors"`
}

// share counts what is trained.
func (t *tuning) share() tunedShare {
	s := tunedShare{From: t.backbone.Name, SHA256: t.backbone.SHA256, Tensors: len(t.weights)}
	for _, w := range gradient.Weights(t.model, t.cut.Tensor) {
		s.Of += w.Size()
		if slices.Contains(t.weights, w.Name) {
			s.Trained += w.Size()
		}
	}
	return s
}

// percent is the share for people; only nothing is 0, only all of it 100.
func (s tunedShare) percent() string {
	p := 100 * float64(s.Trained) / float64(max(s.Of, 1))
	switch {
	case p > 0 && p < 0.5:
		return "less than 1 %"
	case p >= 99.5 && s.Trained < s.Of:
		return "more than 99 %"
	}
	return fmt.Sprintf("%.0f %%", p)
}

// tellWeights says what is trained.
func (t *tuning) tellWeights() {
	s := t.share()
	t.note("fine-tuning %s: %d of its %d weights (%s), in %d tensors, batch normalization %s", s.From, s.Trained, s.Of, s.percent(), s.Tensors, t.settings.BatchNorm)
	if t.frozen != nil {
		t.note("%d of the network's %d nodes lie before them and stay as they are", len(t.frozen.Graph.Nodes), len(t.model.Graph.Nodes))
	}
}

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}

// values are the trained numbers as they are now.
func (t *tuning) values() map[string][]float32 { return t.net.Values() }

// close gives the network's memory back. A nil tuning has none.
func (t *tuning) close() error {
	if t == nil {
		return nil
	}
	var err error
	if t.net != nil {
		err = t.net.Close()
	}
	if t.prefix != nil {
		err = errors.Join(err, t.prefix.Close())
	}
	return err
}
