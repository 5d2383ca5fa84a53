package tuning

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/live"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/run/config"
	"winnow/run/trial"
)

const (
	lookedAt = 64  // images whose training views are compared
	ownShare = 0.4 // Views.Share below which there is a warning
)

// Views compares training views of images with their evaluation views, by mean cosines of the features of the network
// before the training: Own between the two views of an image, Others between the evaluation views of different images.
type Views struct{ Own, Others float64 }

// Share returns how close training views are to their image: 0 as close as another image, 1 the same.
func (v Views) Share() float64 { return (v.Own - v.Others) / max(1-v.Others, 1e-6) }

// Near reports whether training views are close enough to evaluation views for what is learned on them to help there.
func (v Views) Near() bool { return v.Share() >= ownShare }

// Views returns the comparison of when the encoder was made.
func (t *Live) Views() *Views { return t.views }

// CompareViews compares the views of some images of a training set, whose vectors are the stored features.
func (t *Live) CompareViews(ctx context.Context, set features.Set) (v Views, err error) {
	n := min(set.Len(), lookedAt)
	rows, paths := make([]int, n), make([]string, n)
	for i := range rows {
		rows[i] = i * set.Len() / n
		paths[i] = t.Paths[set.IDs[rows[i]]]
	}
	p, rng := t.Backbone.Preprocessing, rand.New(rand.NewPCG(1, 1))
	cache := backbone.NewImageCache(t.Root, paths, 0, p.DecodeOptions())
	pixels, err := live.NewPixels(live.PixelsConfig{Pictures: cache, Preprocessing: p, Augmentation: t.Augment,
		Source: func(int) *rand.Rand { return rng }})
	if err != nil {
		return v, err
	}
	net, err := ort.NewNetwork(t.rt, t.model.Marshal(), t.Cut.Tensor, trial.Input(t.Cut, p))
	if err != nil {
		return v, err
	}
	defer net.Close()
	seen, stored := features.NewMatrix(n, net.Dim()), set.Rows(rows).X
	step := min(n, max(t.Batch, 1))
	for from := 0; from < n; from += step {
		if err := ctx.Err(); err != nil {
			return v, err
		}
		part := features.AllRows(min(n-from, step))
		for i := range part {
			part[i] += from
		}
		images, err := pixels.Load(part)
		if err != nil {
			return v, err
		}
		if err := net.Infer(features.Part(seen, from, len(part)), images[0], len(part)); err != nil {
			return v, err
		}
	}
	return compareViews(seen, stored)
}

// compareViews returns the mean cosine of each row of seen with that of stored, and of different rows of stored.
func compareViews(seen, stored blas32.General) (v Views, err error) {
	if err := features.Normalize(seen); err != nil {
		return v, err
	}
	if err := features.Normalize(stored); err != nil {
		return v, err
	}
	for i := range stored.Rows {
		a := features.Row(stored, i)
		v.Own += features.Dot(features.Row(seen, i), a) / float64(stored.Rows)
		for j := range i {
			v.Others += features.Dot(features.Row(stored, j), a) * 2 / float64(stored.Rows*(stored.Rows-1))
		}
	}
	return v, nil
}

// noteViews notes how close training views are to the evaluation's, and warns if they are hardly closer than other
// images.
func (t *Live) noteViews(ctx context.Context, set features.Set) error {
	if set.Len() < 2 {
		return nil
	}
	v, err := t.CompareViews(ctx, set)
	if err != nil {
		return err
	}
	t.Note("training views (%s) have a cosine of %.2f to the evaluation's view of their image, different images of "+
		"%.2f", t.Settings.Augment, v.Own, v.Others)
	t.views = &v
	if !v.Near() {
		t.Note("warning: training views are hardly nearer to what is evaluated than other images, so what is learned "+
			"may not help there; %s uses the evaluation's own view", config.Key("finetune.augment=flip"))
	}
	return nil
}
