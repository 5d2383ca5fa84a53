package crossfit

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/losses"
	"winnow/train"
)

// Lesson holds the images that a network is fine-tuned on for a fold, and those that it then judges. The network
// starts from the head that was trained on those of their stored features whose labels look right. It learns all given
// labels, since how it learns a label is evidence, too: with labels left out that look wrong, AP is 0.688 instead of
// 0.704 on 2,000 of CIFAR-10 with people's labels (aggre), 0.959 instead of 0.969 on birds with a fifth flipped
// (docs/log, 2026-11).
type Lesson struct {
	Learned, Judged features.Set // stored features; labels of Learned number the judged classes
	Head            *head.Head

	proxies blas32.General
	fold    int
	opts    Options
}

// Name returns a name that is unique among the lessons of an audit.
func (l *Lesson) Name() string {
	return fmt.Sprintf("backbone-%d-seed-%d-fold-%d-of-%d", l.opts.part+1, l.opts.Seed, l.fold+1, l.opts.Folds)
}

// Part returns the number of the backbone of the stored features.
func (l *Lesson) Part() int { return l.opts.part }

// Sum adds to h the content of the lesson and the settings of its training.
func (l *Lesson) Sum(h hash.Hash) {
	fmt.Fprintln(h, "winnow lesson 2", l.Name(), tuning, temperature, rate, l.Learned.Labels, l.Head.Config())
	for _, x := range []blas32.General{l.Learned.X, l.Judged.X} {
		for i := range x.Rows {
			binary.Write(h, binary.LittleEndian, features.Row(x, i)) // a hash never fails
		}
	}
}

// Tuned holds a network's vectors of the judged images, and the directions of the classes, all unit rows.
type Tuned struct {
	Z, Directions blas32.General
	Margins       []float32 // of the labels of the learned images, as [Seen] has them; NaN: no step used the image
	Kept          bool      // from an earlier audit
}

// Blank returns a Tuned of the lesson's shape, without values.
func (l *Lesson) Blank() Tuned {
	return Tuned{Z: features.NewMatrix(l.Judged.Len(), l.proxies.Cols),
		Directions: features.NewMatrix(l.proxies.Rows, l.proxies.Cols), Margins: make([]float32, l.Learned.Len())}
}

// Network is a backbone that can be fine-tuned.
type Network interface {
	// Encoder returns the network under a head, for batches of the given number of rows. views returns the random
	// numbers of the current step (0) and the next (1).
	Encoder(ctx context.Context, h *head.Head, set features.Set, batch int,
		views func(ahead int) *rand.Rand) (Encoder, error)
	// Now returns the set with the network's current features.
	Now(ctx context.Context, set features.Set) (features.Set, error)
}

// Encoder is a [train.Encoder] that holds memory outside Go.
type Encoder interface {
	train.Encoder
	Close() error
}

// TunedBatch is the number of images that a network learns from in a step.
const TunedBatch = 32

// TunedFolds is the default number of folds with networks: each image is judged by one network that has not learned it,
// and by two while they learn it. Five folds take twice as long and find hardly more: 2,000 of CIFAR-10, human labels
// (worse), MobileNetV2 at 96 pixels, AUROC and AP of the features .924 and .900, with three folds .942 and .921, with
// five .944 and .923 (docs/log, 2026-11).
const TunedFolds = 3

// tuning is how networks are trained.
var tuning = plan{batch: TunedBatch, epochs: 6, least: 100, proxies: 1e-2, network: 2e-4}

// Fit trains a network on the lesson and embeds the judged images.
func (l *Lesson) Fit(ctx context.Context, net Network) (Tuned, error) {
	clock := new(train.Clock)
	var seen *observing
	proxies, err := fit(ctx, l.Head, l.Learned, l.proxies, l.fold, l.opts, tuning, clock,
		func(batch int) (Encoder, error) {
			return net.Encoder(ctx, l.Head, l.Learned, batch, clock.SourceAhead(l.opts.Seed, "crossfit views"))
		}, func(loss losses.Loss, proxies *features.Param) losses.Loss {
			seen = observe(loss, proxies, l.Learned)
			return seen
		})
	if err != nil {
		return Tuned{}, err
	}
	judged, err := net.Now(ctx, l.Judged)
	if err != nil {
		return Tuned{}, err
	}
	z, err := l.Head.Embed(judged.X)
	if err != nil {
		return Tuned{}, err
	}
	return Tuned{Z: z, Directions: proxies, Margins: seen.margins()}, features.Normalize(proxies)
}

// tune adds a network's result to the evidence. learned are the rows of the lesson.
func (e *evidence) tune(ctx context.Context, l *Lesson, learned []int, c columned) error {
	t, err := l.opts.Tune(ctx, l)
	if err != nil {
		return err
	}
	if l.opts.Seen != nil {
		l.opts.Seen.judged(t, e.rows, c)
		l.opts.Seen.observed(t, learned)
	}
	if t.Kept {
		*l.opts.kept++
		l.opts.tell(l.fold, 1, 1)
	}
	e.kinds = append(e.kinds, kind{z: t.Z, directions: t.Directions, network: true})
	return nil
}

// choose removes the networks' results from the evidence unless they make labels likelier.
func (e *evidence) choose(ctx context.Context, column []int, opts Options) error {
	if opts.Tune == nil || len(e.rows) == 0 {
		return nil
	}
	all := e.kinds
	_, with, err := e.weighings(ctx, column)
	if err != nil {
		return err
	}
	e.kinds = slices.DeleteFunc(slices.Clone(all), func(k kind) bool { return k.network })
	_, without, err := e.weighings(ctx, column)
	if with > without {
		e.kinds = all
	}
	if opts.Chose != nil {
		opts.Chose(with, without)
	}
	return err
}
