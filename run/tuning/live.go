package tuning

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"slices"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/live"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/text"
	"winnow/run/config"
	"winnow/run/folder"
)

// chooseWeights selects the weights to train and differentiates the network by them, so that a missing derivative is
// found before any network runs.
func (t *Live) chooseWeights() (err error) {
	m := t.withImageSize()
	if t.weights, err = gradient.Choose(m, t.Cut.Tensor, t.Settings.Weights); err != nil {
		return hint.With(err, "winnow models show %s prints the sizes of the stages", t.Backbone.Name)
	}
	if t.live = m; t.Cut.Batch > 0 { // a frozen part would also take one image at a time, so do not split the network
		return t.differentiateLive(t.newPlainOptions())
	}
	if t.frozen, t.live, _, err = gradient.Split(m, t.Cut.Tensor, t.weights); err != nil {
		return err
	}
	return t.differentiateLive(t.newPlainOptions())
}

// newPlainOptions returns the options for differentiating the trained part without winnow's own operators.
func (t *Live) newPlainOptions() gradient.Options {
	return gradient.Options{Output: t.Cut.Tensor, Weights: t.weights, BatchNorm: t.batchNorm()}
}

// differentiateLive makes the derivative of the trained part.
func (t *Live) differentiateLive(o gradient.Options) (err error) {
	t.derivative, err = gradient.Differentiate(t.live, o)
	return err
}

// withImageSize returns the network with a fixed image size, as derivatives require. Saved networks keep free sizes.
func (t *Live) withImageSize() *graph.Model {
	p := t.Backbone.Preprocessing
	for _, d := range t.model.Graph.DataInputs()[0].Shape[1:] {
		if !d.Known() {
			return graph.Sized(t.model, t.Cut.Input, p.Planes(), p.High(), p.Crop)
		}
	}
	return t.model
}

// Encoder loads the network for training and returns an encoder with the head. With in.Peer, it loads a second network.
func (t *Live) Encoder(ctx context.Context, h *head.Head, in Input) (Encoder, error) {
	if in.Peer != nil {
		return t.peerEncoder(h, in)
	}
	if err := t.loadForTraining(); err != nil {
		return nil, err
	}
	inputs, err := t.newLiveInputs(ctx, in.Train, in.Batch, in.Source)
	if err != nil {
		return nil, err
	}
	inputs, t.second = live.Share(inputs)
	return t.newLiveEncoder(t.net, inputs, h, in)
}

// loadForTraining loads the network for training, and notes the trained weights.
func (t *Live) loadForTraining() error {
	err := t.differentiateLive(t.chooseKernels()) // the runtime was unknown when the weights were chosen
	if err != nil {
		return err
	}
	if t.net, err = ort.NewLive(t.rt, t.derivative, ort.LiveOptions{Model: t.live}); err != nil {
		return fmt.Errorf("finetune: %s: %w", t.Backbone.Name, err)
	}
	t.noteWeights()
	return nil
}

func (t *Live) newLiveEncoder(net *ort.Live, inputs live.Inputs, h *head.Head, in Input) (Encoder, error) {
	return live.New(live.Config{
		Network: net, Inputs: inputs, Head: h, Labels: in.Train.Labels, IDs: in.Train.IDs, Batch: in.Batch,
		Raw: in.Raw, Chunk: t.chooseChunkSize(), Resting: in.Resting,
	})
}

// chooseChunkSize returns the number of images in a pass of the network; 0: all.
func (t *Live) chooseChunkSize() int {
	if t.Cut.Batch > 0 {
		return t.Cut.Batch
	}
	return t.Settings.Chunk
}

// peerEncoder loads a second network, which starts from the weights of the first network. Random weights
// are shuffled: independent draws from one distribution are equally likely in any order.
func (t *Live) peerEncoder(h *head.Head, in Input) (_ Encoder, err error) {
	if t.peer, err = ort.NewLive(t.rt, t.derivative, ort.LiveOptions{Model: t.live}); err != nil {
		return nil, fmt.Errorf("finetune: loading %s as the second network: %w", t.Backbone.Name, err)
	}
	if t.Drawn {
		for _, p := range t.peer.Params() {
			in.Peer.Shuffle(len(p.Data), func(i, j int) { p.Data[i], p.Data[j] = p.Data[j], p.Data[i] })
		}
	}
	return t.newLiveEncoder(t.peer, t.second, h, in)
}

// newLiveInputs returns the input of the trained part: pixels, or the activations of the frozen part, cached if
// possible.
func (t *Live) newLiveInputs(ctx context.Context, set features.Set, batch int, source func(ahead int) *rand.Rand) (
	live.Inputs, error) {
	paths := t.pathsOf(set)
	p, limit := t.Backbone.Preprocessing, int64(t.Settings.CacheLimit)
	varies := t.Augment != (backbone.Augmentation{})
	keep := func(pictures int64) (*live.Pixels, error) {
		cache := backbone.NewImageCache(t.Root, paths, pictures, p.DecodeOptions())
		if err := readOne(cache); err != nil {
			return nil, hint.With(err, "fine-tuning reads the images, expected below %s: name their folder with %s",
				t.RootName, config.Key("data.root"))
		}
		return live.NewPixels(live.PixelsConfig{Pictures: cache, Preprocessing: p, Augmentation: t.Augment,
			Source: source, Ahead: t.rt.Device().CUDA})
	}
	pixels, err := keep(limit)
	if err != nil || t.frozen == nil {
		return pixels, err
	}
	if t.prefix, err = ort.NewPrefix(t.rt, t.frozen, t.net.InputNames()); err != nil {
		return nil, err
	}
	if !varies && limit > 0 {
		if pixels, err = keep(0); err != nil { // no cache: every image is read once
			return nil, err
		}
		cached, err := t.cacheActivations(ctx, pixels, set.Len(), limit)
		if tooLarge := new(live.TooLarge); !errors.As(err, &tooLarge) {
			if err != nil && ctx.Err() == nil {
				err = hint.With(err, "fine-tuning reads every image of the train split that has features, below %s",
					t.RootName)
			}
			return cached, err
		} else {
			t.Note("the output of the frozen part for %d images takes %s, more than the cache limit of %s: it is "+
				"computed again for every batch", tooLarge.Rows, text.Approx(tooLarge.Need),
				text.Approx(tooLarge.Limit))
		}
		if pixels, err = keep(limit); err != nil {
			return nil, err
		}
	}
	switch {
	case varies:
		t.Note("images are augmented (%s): the frozen part runs for every batch", t.Settings.Augment)
	case limit == 0:
		t.Note("the cache is off: the frozen part runs for every batch")
	}
	return live.NewPrefixed(t.prefix, pixels, min(batch, t.Batch))
}

// cacheActivations runs the frozen part on all training images and keeps the activations.
func (t *Live) cacheActivations(ctx context.Context, pixels *live.Pixels, rows int, limit int64) (live.Inputs, error) {
	from, err := live.NewPrefixed(t.prefix, pixels, 0)
	if err != nil {
		return nil, err
	}
	at, end := func(int, int) {}, func() {}
	if t.Watch != nil {
		at, end = t.Watch("images")
	}
	defer end()
	cached, err := live.NewCached(ctx, from, rows, t.Batch, limit, at)
	if err != nil {
		return nil, err
	}
	t.Note("the frozen part was run once on %d images: %s are cached", rows, text.Approx(cached.Bytes()))
	return cached, nil
}

// readOne reads an image before the first step, to check that images can be read.
func readOne(cache interface {
	Image(int) (image.Image, error)
}) error {
	_, err := cache.Image(0)
	return err
}

// Held returns the approximate number of bytes for each image of a training pass: the activations that the derivative
// reads, and their gradients.
func (t *Live) Held() int64 {
	var sum int64
	known := graph.Infer(t.derivative.Forward)
	for _, name := range t.derivative.Saved {
		size := int64(4)
		for _, d := range known[name].Shape {
			if d.Known() { // skip the unknown batch size
				size *= d.Size
			}
		}
		sum += size
	}
	return 2 * sum
}

// Weights returns the names of the trained initializers.
func (t *Live) Weights() []string { return t.weights }

// Share counts the trained weights.
func (t *Live) Share() *folder.Share {
	s := &folder.Share{From: t.Backbone.Name, SHA256: t.Backbone.SHA256, Tensors: len(t.weights)}
	for _, w := range gradient.Weights(t.model, t.Cut.Tensor) {
		s.Of += w.Size()
		if slices.Contains(t.weights, w.Name) {
			s.Trained += w.Size()
		}
	}
	return s
}

// noteWeights notes how many weights are trained.
func (t *Live) noteWeights() {
	s := t.Share()
	t.Note("fine-tuning %s: %d of its %d weights (%s), in %d tensors, batch normalization %s", s.From, s.Trained, s.Of,
		s.Percent(), s.Tensors, t.Settings.BatchNorm)
}

// Close frees the network's memory.
func (t *Live) Close() error {
	var err error
	if t.net != nil {
		err = t.net.Close()
	}
	if t.peer != nil {
		err = errors.Join(err, t.peer.Close())
	}
	if t.prefix != nil {
		err = errors.Join(err, t.prefix.Close())
	}
	return err
}
