package crossfit

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"

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

	asked   []int // columns of the labels of Judged, which only say when to stop
	proxies blas32.General
	fold    int
	opts    Options
}

// Name returns a name that is unique among the lessons of an audit.
func (l *Lesson) Name() string {
	return fmt.Sprintf("seed-%d-fold-%d-of-%d", l.opts.Seed, l.fold+1, l.opts.Folds)
}

// Sum adds to h the content of the lesson and the settings of its training.
func (l *Lesson) Sum(h hash.Hash) {
	fmt.Fprintln(h, "winnow lesson 4", l.Name(), tuning, patience, leastRise, temperature, rate, l.Learned.Labels,
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
	Kept          bool      // from an earlier audit
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

// TunedFolds is the number of folds with networks: each image is judged by one network that has not learned it,
// and by two while they learn it. Five folds take twice as long and find hardly more: 2,000 of CIFAR-10, human labels
// (worse), MobileNetV2 at 96 pixels, AUROC and AP of the features .924 and .900, with three folds .942 and .921, with
// five .944 and .923 (docs/log, 2026-11).
const TunedFolds = 3

// TunedBatch is the number of images that a network learns from in a step.
const TunedBatch = 32

// tuning is how networks are trained, at most.
var tuning = plan{batch: TunedBatch, epochs: 6, least: 100, proxies: 1e-2, network: 2e-4}

// A network stops learning if the mean log probability of a label that it does not learn has not risen by leastRise
// nats in patience epochs. Six epochs find up to .003 of AUROC more than the four or five after which most stop.
const (
	patience  = 2
	leastRise = 0.01
)

// Fit trains a network on the lesson until the labels of the judged images, which it does not learn, become no
// likelier, and embeds these images.
func (l *Lesson) Fit(ctx context.Context, net Network) (Tuned, error) {
	var t Tuned // at the last validation, which follows the last step
	var seen *observing
	_, err := tuning.trainEncoder(ctx, l.Head, l.Learned, l.proxies, l.fold, l.opts,
		func(batch int, clock *train.Clock) (Encoder, error) {
			return net.Encoder(ctx, l.Head, l.Learned, batch, clock.SourceAhead(l.opts.Seed, "crossfit views"))
		}, func(by *train.Config, proxies *features.Param) {
			seen = newObserving(by.Terms[0].Loss, proxies, l.Learned)
			by.Terms[0].Loss = seen
			by.ValidateEvery, by.Patience = by.Sampler.Batches(), patience
			best := math.Inf(-1)
			by.Validate = func(ctx context.Context) (float64, error) {
				if by.Clock.Step() == 0 {
					return -math.MaxFloat64, nil // labels that people get wrong alike are likeliest by stored features
				}
				judged, err := net.Now(ctx, l.Judged)
				if err != nil {
					return 0, err
				}
				if t.Z, err = l.Head.Embed(judged.X); err != nil {
					return 0, err
				}
				t.Directions = features.NewMatrix(proxies.Rows, proxies.Cols)
				copy(t.Directions.Data, proxies.Data)
				if err := features.Normalize(t.Directions); err != nil {
					return 0, err
				}
				e := evidence{rows: features.AllRows(l.Judged.Len()), classes: t.Directions.Rows, first: blind,
					kinds: []kind{t.newKind()}}
				if _, said, err := e.fitWeighings(ctx, l.asked); err != nil {
					return 0, err
				} else if said > best+leastRise {
					best = said
				}
				return best, nil
			}
		})
	if err != nil {
		return Tuned{}, err
	}
	t.Margins = seen.computeMeanMargins()
	return t, nil
}

func (t Tuned) newKind() kind { return kind{t.Z, means{directions: t.Directions}} }

// addTuned adds a network's result to the evidence unless it makes labels no likelier. learned are the rows of the
// lesson.
func (e *evidence) addTuned(ctx context.Context, l *Lesson, learned []int, c columned) error {
	_, without, err := e.fitWeighings(ctx, c.of)
	if err != nil {
		return err
	}
	t, err := l.opts.Tune(ctx, l)
	if err != nil {
		return err
	}
	if t.Kept {
		l.opts.Told(l.fold+1, l.opts.Folds, fmt.Sprintf("fold %d of %d, of an earlier audit", l.fold+1, l.opts.Folds))
	}
	alone := e.kinds
	e.kinds = append(alone[:len(alone):len(alone)], t.newKind())
	_, with, err := e.fitWeighings(ctx, c.of)
	if with <= without {
		e.kinds = alone
	}
	if s := l.opts.Seen; s != nil {
		if s.Folds++; with > without {
			s.Taken++
		}
		s.addJudged(t, e.rows, c)
		for i, row := range learned {
			if v := float64(t.Margins[i]); !math.IsNaN(v) {
				if s.learned[row]++; s.learned[row] == 1 {
					s.Learned[row] = 0
				}
				s.Learned[row] += (v - s.Learned[row]) / float64(s.learned[row])
			}
		}
	}
	return err
}

// Seen holds what fine-tuned networks see of each row's given label: the margin
//
//	z_y - max_{k≠y} z_k
//
// where z are the cosines to the classes and y is the given label. NaN: unknown.
type Seen struct {
	// Unseen is by the network that has not learned from the row; Learned is the mean of the others, just before each
	// step that used the row: the area under the margin of Pleiss et al., NeurIPS 2020, equation 1.
	Unseen, Learned []float64
	// Rival is the likeliest other class by the network of Unseen; RivalShare is its share of the probability of all
	// other classes.
	Rival      []int
	RivalShare []float64

	Folds, Taken int // networks, and those that made labels likelier

	learned []int // networks of Learned
}

// growRows makes room for n rows.
func (s *Seen) growRows(n int) {
	s.Unseen, s.Learned, s.RivalShare = make([]float64, n), make([]float64, n), make([]float64, n)
	s.Rival, s.learned = make([]int, n), make([]int, n)
	for i := range n {
		s.Unseen[i], s.Learned[i], s.Rival[i] = math.NaN(), math.NaN(), features.Unlabelled
	}
}

// addJudged adds a network's judgement of images that it has not learned from, rows of the set.
func (s *Seen) addJudged(t Tuned, rows []int, c columned) {
	var scratch []float32
	cosines := features.Products(&scratch, t.Z, t.Directions)
	for i, row := range rows {
		z, y := features.Row(cosines, i), c.of[row]
		rival, most := findLargestExcept(z, y)
		s.Unseen[row] = float64(z[y] - most)
		var others float64
		for k, v := range z {
			if k != y {
				others += math.Exp(float64(v-most) / temperature)
			}
		}
		s.Rival[row], s.RivalShare[row] = c.classes[rival], 1/others
	}
}

// findLargestExcept returns the largest of row except that of y.
func findLargestExcept(row []float32, y int) (at int, most float32) {
	most = float32(math.Inf(-1))
	for k, v := range row {
		if k != y && v > most {
			at, most = k, v
		}
	}
	return at, most
}

// observing is a loss that notes the margin of every row's label just before a network learns from it.
type observing struct {
	losses.Loss
	proxies *features.Param
	labels  []int
	at      map[int]int // row of each image
	sum     []float64
	visits  []int
	scratch []float32
}

// newObserving returns loss, observing the images of set.
func newObserving(loss losses.Loss, proxies *features.Param, set features.Set) *observing {
	o := &observing{Loss: loss, proxies: proxies, labels: set.Labels, at: make(map[int]int, set.Len()),
		sum: make([]float64, set.Len()), visits: make([]int, set.Len())}
	for i, id := range set.IDs {
		o.at[id] = i
	}
	return o
}

func (o *observing) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	p := o.proxies.Matrix()
	cosines := features.Products(&o.scratch, z.X, p)
	for k := range p.Rows {
		norm := 1 / max(blas32.Nrm2(viewRow(p, k)), 1e-30)
		for i := range cosines.Rows {
			features.Row(cosines, i)[k] *= norm
		}
	}
	for i, id := range z.IDs {
		row, at := features.Row(cosines, i), o.at[id]
		_, most := findLargestExcept(row, o.labels[at])
		o.sum[at] += float64(row[o.labels[at]] - most)
		o.visits[at]++
	}
	return o.Loss.Eval(grad, z, ref)
}

// computeMeanMargins returns the mean margin of every image, NaN for one that no step used.
func (o *observing) computeMeanMargins() []float32 {
	list := make([]float32, len(o.sum))
	for i, n := range o.visits {
		list[i] = float32(o.sum[i] / float64(n)) // 0/0 is NaN
	}
	return list
}
