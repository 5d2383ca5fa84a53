package tuning

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/live"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/head"
	"winnow/train/selective"
)

// Images is the backbone for methods that make the network's input themselves, as views or mixtures of views. It
// implements selective.Live.
type Images struct {
	on     *Live
	in     Input
	ctx    context.Context
	head   *head.Head
	drawn  *live.Pixels
	plain  *live.Pixels
	random *rand.Rand // source for the views that are being drawn
}

// Images returns the backbone for a training set. in.Batch is the largest number of images in a call of the encoder.
func (t *Live) Images(ctx context.Context, in Input) (*Images, error) {
	err := t.loadForTraining()
	if err != nil {
		return nil, err
	}
	if t.frozen != nil {
		if t.prefix, err = ort.NewPrefix(t.rt, t.frozen, t.net.InputNames()); err != nil {
			return nil, err
		}
	}
	m, p := &Images{on: t, in: in, ctx: ctx}, t.Backbone.Preprocessing
	cache := backbone.NewImageCache(t.Root, t.pathsOf(in.Train), int64(t.Settings.CacheLimit),
		p.DecodeOptions())
	if m.drawn, err = live.NewPixels(live.PixelsConfig{Pictures: cache, Preprocessing: p, Augmentation: t.Augment,
		Source: func(int) *rand.Rand { return m.random }}); err != nil {
		return nil, err
	}
	m.plain, err = live.NewPixels(live.PixelsConfig{Pictures: cache, Preprocessing: p})
	return m, err
}

// Size returns the number of values of an image.
func (m *Images) Size() int { return m.on.Backbone.Preprocessing.Size() }

// Draw writes an augmented view of each row to images.
func (m *Images) Draw(images blas32.General, rows []int, rng *rand.Rand) error {
	m.random = rng
	return loadPixels(m.drawn, images, rows)
}

// Plain writes each row without augmentation to images.
func (m *Images) Plain(images blas32.General, rows []int) error {
	return loadPixels(m.plain, images, rows)
}

func loadPixels(from *live.Pixels, images blas32.General, rows []int) error {
	made, err := from.Load(rows)
	if err != nil {
		return err
	}
	for i := range rows {
		copy(features.Row(images, i), made[0][i*images.Cols:(i+1)*images.Cols])
	}
	return nil
}

// newImageInputs returns the input of the network's trained part for images.
func (m *Images) newImageInputs(images blas32.General) (live.Inputs, error) {
	given := &live.Given{X: images}
	if m.on.prefix == nil {
		return given, nil
	}
	return live.NewPrefixed(m.on.prefix, given, min(images.Rows, m.on.Batch))
}

// Encoder returns an encoder of network and head. Its row i is row i of images.
func (m *Images) Encoder(h *head.Head, images blas32.General) (selective.Encoder, error) {
	inputs, err := m.newImageInputs(images)
	if err != nil {
		return nil, err
	}
	m.head = h
	rows := features.AllRows(images.Rows)
	return live.New(live.Config{
		Network: m.on.net, Inputs: inputs, Head: h, Labels: rows, IDs: rows, Batch: images.Rows,
		Chunk: m.on.chooseChunkSize(), Resting: m.in.Resting,
	})
}

// Embed returns the training set, embedded by network and head in their current state.
func (m *Images) Embed() (features.Set, error) {
	now, err := m.on.Now(m.ctx, m.in.Train)
	if err != nil {
		return now, err
	}
	return m.head.EmbedSet(m.ctx, now)
}

// Average returns a running average of network and head that starts from their current state.
func (m *Images) Average(h *head.Head) (selective.Average, error) {
	t := m.on
	var err error
	if t.peer, err = ort.NewLive(t.rt, t.derivative, ort.LiveOptions{Model: t.live}); err != nil {
		return nil, fmt.Errorf("finetune: %s, its running average: %w", t.Backbone.Name, err)
	}
	var values [][]float32
	for _, p := range h.Params() {
		values = append(values, slices.Clone(p.Data))
	}
	a := &average{of: m}
	if a.head, err = head.Restore(h.Config(), values); err != nil {
		return nil, err
	}
	for _, p := range slices.Concat(a.head.Params(), t.peer.Params()) {
		named := *p
		named.Name = "average." + p.Name
		a.params = append(a.params, &named)
	}
	return a, nil
}

// average is a running average of network and head: a second network with a second head.
type average struct {
	of     *Images
	head   *head.Head
	params []*features.Param
	x      blas32.General
}

// Params returns the parameters of the head, then of the network. They share memory with head and network.
func (a *average) Params() []*features.Param { return a.params }

// EmbedInto embeds images batch by batch.
func (a *average) EmbedInto(dst, images blas32.General) error {
	net := a.of.on.peer
	inputs, err := a.of.newImageInputs(images)
	if err != nil {
		return err
	}
	fed, err := inputs.Load(features.AllRows(images.Rows))
	if err != nil {
		return err
	}
	a.x = features.Resize(a.x, images.Rows, net.Dim())
	sizes := net.Inputs()
	step := cmp.Or(a.of.on.Cut.Batch, a.of.in.Batch)
	for from := 0; from < images.Rows; from += step {
		n := min(step, images.Rows-from)
		part := make([][]float32, len(fed))
		for i, size := range sizes {
			part[i] = fed[i][from*size : (from+n)*size]
		}
		if err := net.Forward(features.Part(a.x, from, n), part, n, false); err != nil {
			return err
		}
	}
	return a.head.EmbedInto(dst, a.x)
}
