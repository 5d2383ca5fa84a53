package peers

import (
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/train"
)

// loss is the loss of a method, over the logits of its networks. For Co-teaching and Co-teaching+, with logits
// l¹ and l² of two networks:
//
//	L = 1/k Σ_{i∈S²} CE(l¹_i, y_i) + 1/k Σ_{i∈S¹} CE(l²_i, y_i)      S¹, S² the k rows of least CE(l¹), CE(l²)
//
// Each network learns from the rows that the other chose: k = ⌊(1 - R(e))·n⌋ rows, or all rows if k is 0. After
// its warm-up Co-teaching+ chooses only among rows for which the networks predict different classes. If there
// are no such rows, both networks learn from all rows. The choices are constants in the gradient. The networks share
// no parameters, so each network's gradient comes only from its own sum. With F-correction and cross entropy a single
// network learns at a time, from all rows.
//
// Settings: Config. z.X is n×(networks·C); labels 0 … C-1; ref is not used. Time O(n·C), with two exponentials per
// logit of a chosen row. The released code differs: it divides its mean losses by k again, and its Co-teaching+ applies
// softmax twice and loses row 0; METHODS 2. Sources: Han et al., Co-teaching, NeurIPS 2018, algorithm 1; Yu et al., How
// does Disagreement Help Generalization against Label Corruption?, ICML 2019, algorithm 1; Patrini et al., CVPR 2017,
// equation 5. METHODS 12.
type loss struct {
	cfg        Config
	classes    int
	clock      *train.Clock
	transition *transition // of F-correction
	exchange   exchange
	scratch    []float64
	chosen     []int
}

func newLoss(cfg Config, classes int, clock *train.Clock) (*loss, error) {
	l := &loss{cfg: cfg, classes: classes, clock: clock}
	if cfg.Method != FCorrection {
		return l, nil
	}
	var err error
	l.transition, err = newTransition(cfg.Transition, classes, cfg.Rate)
	return l, err
}

// Chosen returns the rows from which the first network learned, which the second network chose. It returns all rows if
// the method does not choose.
func (l *loss) Chosen() []int { return l.chosen }

// Eval implements losses.Loss.
func (l *loss) Eval(grad *blas32.General, z features.Set, _ *features.Set) float64 {
	if grad == nil {
		grad = &blas32.General{}
	}
	if l.cfg.exchangesRows() {
		v1, v2 := teachEachOther(
			&l.exchange,
			l.networkLogits(*grad, 0),
			l.networkLogits(*grad, 1),
			l.networkLogits(z.X, 0),
			l.networkLogits(z.X, 1),
			z.Labels,
			l.currentForget(),
			l.needsDisagreement(),
		)
		l.chosen = l.exchange.chosen[1]
		return v1 + v2
	}
	l.exchange.growExchange(z.Len())
	l.chosen = l.exchange.chosen[1][:0]
	for i := range z.Len() {
		l.chosen = append(l.chosen, i)
	}
	l.exchange.chosen[1] = l.chosen
	learner := 0
	if l.cfg.Estimates() {
		if l.clock.Step() <= l.cfg.FirstStage {
			learner = 1
		}
		l.networkLogits(*grad, 1-learner).zeroMatrix()
	}
	g, logits := l.networkLogits(*grad, learner), l.networkLogits(z.X, learner)
	if l.transition != nil && learner == 0 {
		return correctedLoss(g, logits, z.Labels, l.transition, &l.scratch)
	}
	e := &l.exchange
	rowEntropies(e.losses[0], e.sums[0], logits, z.Labels)
	return meanEntropy(g, logits, z.Labels, l.chosen, e.losses[0], e.sums[0])
}

// currentEpoch returns the current epoch, counted from 0.
func (l *loss) currentEpoch() int { return max(l.clock.Step()-1, 0) / l.cfg.Epoch }

// currentForget returns R(e) of the current epoch.
func (l *loss) currentForget() float64 { return l.cfg.newForgetPlan().forgetRate(l.currentEpoch()) }

// needsDisagreement reports whether the networks choose only among rows on which their predictions differ.
func (l *loss) needsDisagreement() bool {
	return l.cfg.Method == CoTeachingPlus && l.currentEpoch() >= l.cfg.WarmUp
}

// networkLogits returns the view of one network's logits.
func (l *loss) networkLogits(m blas32.General, i int) Matrix[float32] {
	if m.Rows == 0 {
		return Matrix[float32]{}
	}
	return Matrix[float32]{Rows: m.Rows, Cols: l.classes, Stride: m.Stride, Data: m.Data[i*l.classes:]}
}

// exchange holds the data that two networks exchange about a batch.
type exchange struct {
	losses, sums [2][]float64 // each network's, for all rows
	chosen       [2][]int     // rows chosen by each network
	among        []int
}

// growExchange allocates memory for n rows.
func (e *exchange) growExchange(n int) {
	for i := range 2 {
		if len(e.losses[i]) < n {
			e.losses[i], e.sums[i] = make([]float64, n), make([]float64, n)
			e.chosen[i], e.among = make([]int, 0, n), make([]int, 0, n)
		}
	}
}

// teachEachOther returns the loss of each of two networks on the rows that the other chose and, if d1 and d2 have rows,
// overwrites them with the gradients.
func teachEachOther[T number](
	e *exchange, d1, d2, l1, l2 Matrix[T], labels []int, forget float64, disagreeing bool,
) (float64, float64) {
	n := len(labels)
	e.growExchange(n)
	for i, l := range []Matrix[T]{l1, l2} {
		rowEntropies(e.losses[i][:n], e.sums[i], l, labels)
	}
	var among []int // nil: all rows
	if disagreeing {
		if e.among = disagreeingRows(e.among[:0], l1, l2); len(e.among) > 0 {
			among = e.among
		} else {
			forget = 0
		}
	}
	for i := range 2 {
		e.chosen[i] = smallLoss(e.chosen[i][:0], e.losses[i][:n], among, forget)
	}
	return meanEntropy(d1, l1, labels, e.chosen[1], e.losses[0], e.sums[0]),
		meanEntropy(d2, l2, labels, e.chosen[0], e.losses[1], e.sums[1])
}
