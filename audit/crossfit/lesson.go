package crossfit

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
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

	asked   []int // columns of the labels of Judged, which only say when to stop
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
	fmt.Fprintln(h, "winnow lesson 3", l.Name(), tuning, patience, leastRise, temperature, rate, l.Learned.Labels,
		l.asked, l.Head.Config())
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
	Epochs        int       // that it learned, about
	Rate          float64   // of the network's weights; 0: as usual
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

// tuning is how networks are trained, at most.
var tuning = plan{batch: TunedBatch, epochs: 6, least: 100, proxies: 1e-2, network: 2e-4}

// Fit trains a network on the lesson until the labels of the judged images, which it does not learn, become no
// likelier, and embeds these images.
func (l *Lesson) Fit(ctx context.Context, net Network) (Tuned, error) {
	c := course{tuning, l.Head, l.Learned, l.proxies, l.fold, new(train.Clock)}
	var t Tuned // at the last validation, which follows the last step
	var seen *observing
	_, err := c.fitCourse(ctx, l.opts, func(batch int) (Encoder, error) {
		return net.Encoder(ctx, l.Head, l.Learned, batch, c.clock.SourceAhead(l.opts.Seed, "crossfit views"))
	}, func(e Encoder) (training, error) {
		var err error
		if c.network, err = l.tryRate(ctx, c, e); err != nil {
			return training{}, err
		}
		by, err := c.newTraining(e, l.opts)
		if err != nil {
			return by, err
		}
		seen = newObserving(by.Terms[0].Loss, by.proxies, l.Learned)
		by.Terms[0].Loss = seen
		by.ValidateEvery, by.Patience = by.Sampler.Batches(), patience
		best := math.Inf(-1)
		by.Validate = func(ctx context.Context) (float64, error) {
			if c.clock.Step() == 0 {
				return -math.MaxFloat64, nil // labels that people get wrong alike are likeliest by stored features
			}
			judged, err := net.Now(ctx, l.Judged)
			if err != nil {
				return 0, err
			}
			if t.Z, err = l.Head.Embed(judged.X); err != nil {
				return 0, err
			}
			t.Directions = features.NewMatrix(by.proxies.Rows, by.proxies.Cols)
			copy(t.Directions.Data, by.proxies.Data)
			if err := features.Normalize(t.Directions); err != nil {
				return 0, err
			}
			t.Epochs++
			said, err := l.computeLikelihood(ctx, t)
			if said > best+leastRise {
				best = said
			}
			return best, err
		}
		return by, nil
	})
	if err != nil {
		return Tuned{}, err
	}
	t.Margins, t.Rate = seen.computeMeanMargins(), c.network
	return t, nil
}

// A network stops learning if the mean log probability of a label that it does not learn has not risen by leastRise
// nats in patience epochs. Six epochs find up to .003 of AUROC more than the four or five after which most stop.
const (
	patience  = 2
	leastRise = 0.01
)

// computeLikelihood returns the mean log probability of a label of the judged images, weighed by those of the other
// half.
func (l *Lesson) computeLikelihood(ctx context.Context, t Tuned) (float64, error) {
	e := evidence{rows: features.AllRows(l.Judged.Len()), classes: t.Directions.Rows,
		kinds: []kind{{z: t.Z, means: Means{Directions: t.Directions}, first: blind, network: true}}}
	_, said, err := e.fitWeighings(ctx, l.asked)
	return said, err
}

// Steps that are tried before a backbone's first network learns, and undone. The first step also loads the network.
const (
	pacing = 3  // to time a step
	ranged = 12 // to find the rate, and as many with the network at rest
)

// Pace says how networks of a backbone are trained.
type Pace struct {
	Networks, Steps int     // from here; steps at most
	Rate            float64 // of the network's weights
	Most            time.Duration
}

// tryRate returns the rate of the lesson's network. With a backbone's first network it tells how long all of them take.
//
// The rate is the usual one, or half of that at which a range test (Smith 2017, section 3.3; [train.FindRate]) finds
// the lowest loss, if that is less: a network that small steps upset learns at a rate that it bears. Higher rates than
// the usual one gained nothing on the sets at hand, or lost (docs/log, 2026-11).
func (l *Lesson) tryRate(ctx context.Context, c course, e Encoder) (float64, error) {
	o := l.opts
	if o.paced[o.part] {
		return o.rates[o.part], nil
	}
	rate, known := o.rates[o.part]
	steps := ranged
	if known {
		steps = pacing
	}
	var began, ended time.Time
	still, all, err := l.probeLosses(ctx, c, e, train.Schedule{LR: 0, Total: steps, Epoch: steps}, func(s train.Step) {
		if ended = time.Now(); s.Number == 1 {
			began = ended
		}
	})
	if err != nil {
		return 0, err
	}
	if !known {
		rise := train.Rising(c.network/200, c.network*5, steps)
		losses, _, err := l.probeLosses(ctx, c, e, rise, nil)
		if err != nil {
			return 0, err
		}
		rate = min(c.network, train.FindRate(train.Range(rise, losses, still), 0.5, c.network).Rate)
		rate = float64(float32(rate)) // as it is kept
	}
	o.rates[o.part], o.paced[o.part] = rate, true
	if o.Paced != nil && len(still) > 1 {
		networks := max(o.Rounds, 1)*o.Folds - o.round*o.Folds - l.fold
		// to judge an image after each epoch takes about a third of learning from it
		took := ended.Sub(began).Seconds() / float64(len(still)-1) * float64(networks*all) *
			(1 + float64(l.Judged.Len())/float64(3*l.Learned.Len()))
		o.Paced(Pace{networks, networks * all, rate, time.Duration(took * float64(time.Second))})
	}
	return rate, nil
}

// probeLosses trains for some steps with a schedule of the network's rate, and undoes them. all is the number of steps
// of the whole training.
func (l *Lesson) probeLosses(ctx context.Context, c course, e Encoder, network train.Schedule,
	stepped func(train.Step)) (losses []float64, all int, err error) {
	by, err := c.newTraining(e, l.opts)
	if err != nil {
		return nil, 0, err
	}
	all, by.Steps, by.Observe = by.Steps, network.Total, train.On(stepped)
	for i, g := range by.Groups {
		if by.Groups[i].Schedule = network; g.Name != train.BackboneGroup {
			by.Groups[i].Schedule = train.Schedule{LR: g.Schedule.LR, Total: network.Total, Epoch: network.Epoch}
		}
		if by.Groups[i].Schedule.Name == "" {
			by.Groups[i].Schedule.Name = "constant"
		}
	}
	losses, err = train.Probe(ctx, by.Config)
	return losses, all, err
}

// addTuned adds a network's result to the evidence. learned are the rows of the lesson.
func (e *evidence) addTuned(ctx context.Context, l *Lesson, learned []int, c columned) error {
	t, err := l.opts.Tune(ctx, l)
	if err != nil {
		return err
	}
	if l.opts.Seen != nil {
		l.opts.Seen.addJudged(t, e.rows, c)
		l.opts.Seen.addObserved(t, learned)
	}
	if t.Rate > 0 {
		l.opts.rates[l.opts.part] = t.Rate
	}
	if t.Kept {
		*l.opts.kept++
		l.opts.reportStep(l.fold, 1, 1)
	}
	e.kinds = append(e.kinds, kind{z: t.Z, means: Means{Directions: t.Directions}, network: true})
	return nil
}

// dropUnhelpful removes the networks' results from the evidence unless they make labels likelier.
func (e *evidence) dropUnhelpful(ctx context.Context, column []int, opts Options) error {
	if opts.Tune == nil || len(e.rows) == 0 {
		return nil
	}
	all := e.kinds
	_, with, err := e.fitWeighings(ctx, column)
	if err != nil {
		return err
	}
	e.kinds = slices.DeleteFunc(slices.Clone(all), func(k kind) bool { return k.network })
	_, without, err := e.fitWeighings(ctx, column)
	if with > without {
		e.kinds = all
	}
	if opts.Chose != nil {
		opts.Chose(with, without)
	}
	return err
}
