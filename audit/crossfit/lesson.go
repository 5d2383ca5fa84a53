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
	"winnow/train"
)

// Lesson is what a network is fine-tuned on for a fold, and what it then judges. The head has learned it from stored
// features already: the network begins where that ended.
type Lesson struct {
	Learned, Judged features.Set // stored features; labels of Learned count the classes that are judged, or are [features.Unlabelled] where they look wrong
	Head            *head.Head

	proxies blas32.General
	fold    int
	opts    Options
}

// taught returns what a network learns: what is trusted, but where that leaves less than half of the given labels as they
// are the vectors that judged them know too little, and all are learned; what was to be expected by them is forgotten, too.
func taught(given, trusted []int, expected weighing) ([]int, weighing) {
	same := 0
	for i, y := range given {
		if trusted[i] == y {
			same++
		}
	}
	if 2*same < len(given) {
		return given, blind
	}
	return trusted, expected
}

// Name is the same for no two lessons of an audit.
func (l *Lesson) Name() string {
	return fmt.Sprintf("backbone-%d-seed-%d-fold-%d-of-%d", l.opts.part+1, l.opts.Seed, l.fold+1, l.opts.Folds)
}

// Part says which of the backbones' vectors the stored features are.
func (l *Lesson) Part() int { return l.opts.part }

// Sum adds to h all that the lesson says, and how it is learned.
func (l *Lesson) Sum(h hash.Hash) {
	fmt.Fprintln(h, "winnow lesson 1", l.Name(), tuning, temperature, rate, l.Learned.Labels, l.Head.Config())
	for _, x := range []blas32.General{l.Learned.X, l.Judged.X} {
		for i := range x.Rows {
			binary.Write(h, binary.LittleEndian, features.Row(x, i)) // a hash takes all
		}
	}
}

// Tuned is what a network makes of the images to be judged, and the directions of the classes: unit rows.
type Tuned struct {
	Z, Directions blas32.General
	Kept          bool // from an earlier audit
}

// Blank returns what a network makes of the lesson, without values.
func (l *Lesson) Blank() Tuned {
	return Tuned{Z: features.NewMatrix(l.Judged.Len(), l.proxies.Cols), Directions: features.NewMatrix(l.proxies.Rows, l.proxies.Cols)}
}

// Network is a backbone that learns.
type Network interface {
	// Encoder returns the network under a head, for batches of so many rows of the set; views gives the running step (0) and the next (1) their
	// random numbers.
	Encoder(ctx context.Context, h *head.Head, set features.Set, batch int, views func(ahead int) *rand.Rand) (Encoder, error)
	// Now returns the set with the features that the network gives now.
	Now(ctx context.Context, set features.Set) (features.Set, error)
}

// Encoder is one that holds memory outside Go.
type Encoder interface {
	train.Encoder
	Close() error
}

// TunedBatch is the number of images that a network learns from in a step.
const TunedBatch = 32

// tuning is how networks are trained.
var tuning = plan{batch: TunedBatch, epochs: 6, least: 100, proxies: 1e-2, network: 2e-4}

// Fit trains a network on the lesson and asks it.
func (l *Lesson) Fit(ctx context.Context, net Network) (Tuned, error) {
	clock := new(train.Clock)
	proxies, err := fit(ctx, l.Head, l.Learned, l.proxies, l.fold, l.opts, tuning, clock, func(batch int) (Encoder, error) {
		return net.Encoder(ctx, l.Head, l.Learned, batch, clock.SourceAhead(l.opts.Seed, "crossfit views"))
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
	return Tuned{Z: z, Directions: proxies}, features.Normalize(proxies)
}

// tune adds what a network makes of the images.
func (e *evidence) tune(ctx context.Context, l *Lesson) error {
	t, err := l.opts.Tune(ctx, l)
	if t.Kept {
		*l.opts.kept++
		l.opts.tell(l.fold, 1, 1)
	}
	e.kinds = append(e.kinds, kind{z: t.Z, directions: t.Directions, network: true})
	return err
}

// choose takes from the evidence what networks make of the images where labels are no likelier by it.
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
