package crossfit

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/losses"
	"winnow/train"
)

// Lesson holds the images on which a network is fine-tuned for a fold, and the images that it then scores. The network
// starts from the head that was trained on the stored features of the images whose labels look right. The network
// learns all given labels, because the speed at which it learns a label is also evidence. Without the labels that look
// wrong, AP is 0.688 instead of 0.704 on 2,000 images of CIFAR-10 with human labels (aggre), and 0.959 instead of 0.969
// on birds with a fifth of the labels flipped (docs/log, 2026-11).
type Lesson struct {
	Learned, Judged features.Set // stored features; the labels of Learned are columns of classes
	Head            *head.Head

	Minutes float64              // time limit of the training of all networks; 0: [Minutes]
	Note    func(string, ...any) // receives the chosen rate and length; may be nil

	asked   []int // columns of the labels of Judged, used for early stopping only
	proxies blas32.General
	fold    int
	opts    Options
}

// Name returns a name that is unique among the lessons of an audit.
func (l *Lesson) Name() string {
	return fmt.Sprintf("seed-%d-fold-%d-of-%d", l.opts.Seed, l.fold+1, l.opts.Folds)
}

// Sum writes the lesson's content and its training settings to h.
func (l *Lesson) Sum(h hash.Hash) {
	fmt.Fprintln(h, "winnow lesson 5", l.Name(), tuning, patience, leastRise, temperature, rate, l.Learned.Labels,
		l.asked, l.Head.Config(), l.Minutes, *l.opts.chosen)
	for _, x := range []blas32.General{l.Learned.X, l.Judged.X} {
		for i := range x.Rows {
			binary.Write(h, binary.LittleEndian, features.Row(x, i)) // a hash never fails
		}
	}
}

// Tuned holds a network's vectors of the images to score, and its directions of the classes; all rows have unit length.
type Tuned struct {
	Z, Directions blas32.General
	Margins       []float32 // margin of each learned label, as in [Seen]; NaN: no step used the image
	Choice        Choice
	Kept          bool // reused from an earlier audit
}

// Network is a backbone that can be fine-tuned.
type Network interface {
	// Encoder returns the network with a head on top, for batches of the given number of rows. views returns the random
	// source of the current step (0) or of the next step (1).
	Encoder(ctx context.Context, h *head.Head, set features.Set, batch int,
		views func(ahead int) *rand.Rand) (Encoder, error)
	// Now returns the set with features by the network's current weights.
	Now(ctx context.Context, set features.Set) (features.Set, error)
	Close() error
}

// Encoder is a [train.Encoder] that holds memory outside Go.
type Encoder interface {
	train.Encoder
	Close() error
}

// TunedFolds is the number of folds with networks. Each image is learned by two networks and scored by the third. Five
// folds take twice as long and find hardly more label errors. On 2,000 images of CIFAR-10 with human labels (worse),
// embedded with MobileNetV2 at 96 pixels, AUROC and AP are .924 and .900 with features only, .942 and .921 with three
// folds, and .944 and .923 with five (docs/log, 2026-11).
const TunedFolds = 3

// TunedBatch is the number of images in a training step of a network.
const TunedBatch = 32

// tuning is the plan for networks, which may stop earlier. The learning rate and the length are chosen for each audit.
var tuning = plan{batch: TunedBatch, epochs: 16, least: 100, proxies: 1e-2}

// Minutes is the default time limit for training the networks of an audit.
const Minutes = 15

const (
	leastEpochs = 3
	leastTried  = 50 // fewest steps of the trial of a rate, which takes an epoch

	// alike is the loss of likelihood after an epoch, in nats a label, up to which the larger of two rates is chosen.
	// It needs fewer epochs and, in the end, finds as many label errors (docs/log, 2026-11).
	alike = 0.02
)

// rates are the learning rates of networks that are tried.
var rates = []float64{1e-4, 2e-4, 4e-4}

// Choice holds the learning rate and the maximal number of epochs of the networks of an audit.
type Choice struct {
	Rate   float64
	Epochs int
}

// Training of a network stops if the mean log probability of held-out labels has not risen by leastRise nats within
// patience epochs.
const (
	patience  = 2
	leastRise = 0.01
)

// Fit trains a network on the lesson until the likelihood of the judged images' labels, which the network does not
// learn, stops rising. Then it embeds these images. Each call of open returns the pretrained network.
func (l *Lesson) Fit(ctx context.Context, open func() (Network, error)) (Tuned, error) {
	if l.opts.chosen.Epochs == 0 {
		if err := l.choosePlan(ctx, open); err != nil {
			return Tuned{}, err
		}
	}
	p := tuning
	p.network, p.epochs = l.opts.chosen.Rate, l.opts.chosen.Epochs
	t, _, err := l.train(ctx, p, open)
	t.Choice = *l.opts.chosen
	return t, err
}

// choosePlan chooses the rate with the largest likelihood of held-out labels after an epoch, or a larger rate that is
// almost as good, and as many epochs as the time limit allows.
func (l *Lesson) choosePlan(ctx context.Context, open func() (Network, error)) error {
	batches, given := max(l.Learned.Len()/tuning.batch, 1), l.Head
	defer func() { l.Head = given }()
	begin, most, best, tried := time.Now(), math.Inf(-1), 0.0, []string(nil)
	p := tuning
	p.stop = max(batches, leastTried)
	for _, p.network = range rates {
		l.Head = given.Clone()
		_, likelihood, err := l.train(ctx, p, open)
		if err != nil {
			return err
		}
		if likelihood > most-alike { // rates ascend
			best = p.network
		}
		most = max(most, likelihood)
		tried = append(tried, fmt.Sprintf("%g: %.3f", p.network, math.Exp(likelihood)))
	}
	epoch := time.Since(begin).Minutes() / float64(len(rates)*p.stop) * float64(batches)
	limit := cmp.Or(l.Minutes, Minutes) / float64(l.opts.Folds)
	*l.opts.chosen = Choice{best, int(min(max(limit/epoch, leastEpochs), float64(tuning.epochs)))}
	if epochs := l.opts.chosen.Epochs; l.Note != nil {
		l.Note("%d networks are trained at rate %g (held-out label likelihood after an epoch, by rate: %s) for at "+
			"most %d epochs each, about %.0f minutes in all", l.opts.Folds, best, strings.Join(tried, ", "), epochs,
			math.Ceil(epoch*float64(epochs*l.opts.Folds)))
	}
	return nil
}

// train trains a network by a plan. It returns the result of the last validation, which follows the last step, and the
// largest mean log probability of a held-out label.
func (l *Lesson) train(ctx context.Context, p plan, open func() (Network, error)) (t Tuned, best float64, err error) {
	net, err := open()
	if err != nil {
		return t, 0, err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	var seen *observing
	best = math.Inf(-1)
	_, err = p.trainEncoder(ctx, l.Head, l.Learned, l.proxies, l.fold, l.opts,
		func(batch int, clock *train.Clock) (Encoder, error) {
			return net.Encoder(ctx, l.Head, l.Learned, batch, clock.SourceAhead(l.opts.Seed, "crossfit views"))
		}, func(by *train.Config, proxies *features.Param) {
			seen = newObserving(by.Terms[0].Loss, proxies, l.Learned)
			by.Terms[0].Loss = seen
			by.ValidateEvery, by.Patience = by.Sampler.Batches(), patience
			by.Validate = func(ctx context.Context) (float64, error) {
				if by.Clock.Step() == 0 {
					return -math.MaxFloat64, nil // never stop at step 0: stored features fit repeated human errors best
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
		return Tuned{}, 0, err
	}
	t.Margins = seen.computeMeanMargins()
	return t, best, nil
}

func (t Tuned) newKind() kind { return kind{t.Z, means{directions: t.Directions}} }

// addTuned adds a network's result to the evidence if that raises the likelihood of labels. learned holds the rows of
// the lesson.
func (e *evidence) addTuned(ctx context.Context, l *Lesson, learned []int, c columned) error {
	_, without, err := e.fitWeighings(ctx, c.of)
	if err != nil {
		return err
	}
	t, err := l.opts.Tune(ctx, l)
	if err != nil {
		return err
	}
	*l.opts.chosen = t.Choice
	if t.Kept {
		l.opts.Told(l.fold+1, l.opts.Folds, fmt.Sprintf("fold %d of %d, reused from an earlier audit", l.fold+1,
			l.opts.Folds))
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

// Seen holds the margin of each row's given label by fine-tuned networks:
//
//	z_y - max_{k≠y} z_k
//
// where z are the cosines to the classes and y is the given label. The margin is NaN if unknown.
type Seen struct {
	// Unseen is the margin by the network that did not learn from the row. Learned is the mean margin by the other
	// networks, each just before a step that used the row: the area under the margin of Pleiss et al., NeurIPS 2020,
	// equation 1.
	Unseen, Learned []float64
	// Rival is the likeliest other class by the network of Unseen; RivalShare is its share of the total probability of
	// the other classes.
	Rival      []int
	RivalShare []float64

	Folds, Taken int // number of networks, and of networks that were used

	learned []int // number of networks behind each entry of Learned
}

// growRows allocates entries for n rows.
func (s *Seen) growRows(n int) {
	s.Unseen, s.Learned, s.RivalShare = make([]float64, n), make([]float64, n), make([]float64, n)
	s.Rival, s.learned = make([]int, n), make([]int, n)
	for i := range n {
		s.Unseen[i], s.Learned[i], s.Rival[i] = math.NaN(), math.NaN(), features.Unlabelled
	}
}

// addJudged adds a network's margins for images that it did not learn from; rows are their rows in the set.
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

// findLargestExcept returns the position and value of the largest entry of row other than entry y.
func findLargestExcept(row []float32, y int) (at int, most float32) {
	most = float32(math.Inf(-1))
	for k, v := range row {
		if k != y && v > most {
			at, most = k, v
		}
	}
	return at, most
}

// observing is a loss that records the margin of every row's label just before a network learns from the row.
type observing struct {
	losses.Loss
	proxies *features.Param
	labels  []int
	at      map[int]int // row of each image
	sum     []float64
	visits  []int
	scratch []float32
}

// newObserving returns loss wrapped so that it observes the images of set.
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

// computeMeanMargins returns the mean margin of every image, NaN for an image that no step used.
func (o *observing) computeMeanMargins() []float32 {
	list := make([]float32, len(o.sum))
	for i, n := range o.visits {
		list[i] = float32(o.sum[i] / float64(n)) // 0/0 is NaN
	}
	return list
}
