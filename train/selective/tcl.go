package selective

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// tcl implements TCL. Each of the n images of a batch has two views, with embeddings u¹, u² and logits l¹, l². The
// two views and the unchanged image (the stored feature or the evaluation view) of all images give 3n rows x_r, which
// are mixed: λ x_r + (1-λ) x_π(r).
//
//	L = SimCLR(u¹, u²) + Cross·{ CE(l¹, T¹) + CE(l², T²) + CE(l^mix, T^mix) } + Align·CE(u^mix·c/t, T^mix)
//	    + Entropy·mean H(p) + Balance·Σ_k p̄_k log p̄_k
//	T¹ = s w onehot(y) + (1 - s w) p²,  T² with p¹,  T = with (p¹ + p²)/2,  T^mix_r = λ T_r + (1-λ) T_π(r)
//
// Means are over rows; H and p̄ are computed from all 5n predictions. tclDetector computes w = P(clean) and the
// centres c at the start of each epoch. s is Trust or, if Trust is 0, the share of labels with w > ½. In the
// warm-up the given labels are the targets: s w = 1. Targets are constants in the gradient. SimCLR is the mean
// InfoNCE of the 2n views; the positive of a view is the image's other view, and the rest are negatives.
// Source: Huang et al., CVPR 2023, equations 4 to 9 and the released code; METHODS 13.2.
type tcl struct {
	cfg     Config
	classes int
	set     features.Set
	views   drawer

	centres blas32.General
	clean   []float64 // w for each training row
	trust   float64   // s
	warm    bool

	rows    []int
	mixed   mixture // of 3n rows
	plain   blas32.General
	scratch tclScratch
}

type tclScratch struct {
	comparison
	p, targets              blas64 // 5n×C probabilities; n×C targets of the mixture before mixing
	logSums                 []float64
	target, mean, grad, row []float64
	logits, dLogits         blas32.General // of the alignment
	side                    [1]pull
	one                     [1]int
}

// blas64 holds rows of float64.
type blas64 struct {
	cols int
	data []float64
}

func (m *blas64) size(n, cols int) { m.cols, m.data = cols, features.Grow(m.data, n*cols)[:n*cols] }

func (m *blas64) row(i int) []float64 { return m.data[i*m.cols : (i+1)*m.cols] }

func newTCL(l *Learner) *tcl {
	return &tcl{cfg: l.cfg, classes: l.classes, set: l.set, views: l.viewDrawer()}
}

// methodState returns nil, because the judge holds the whole state of an epoch.
func (m *tcl) methodState() []*features.Param { return nil }

// considerEpoch computes centres and P(clean).
func (m *tcl) considerEpoch(j *judge, epoch int) error {
	m.warm = epoch < m.cfg.WarmUp
	z, err := j.embedSet(m.set)
	if err != nil {
		return err
	}
	row := make([]float64, m.classes)
	d := m.cfg.tclDetector().detectClean(z, m.classes, func(dst blas32.General, z features.Set, from int) {
		j.classifier.Forward(dst, features.Part(z.X, from, dst.Rows))
		for i := range dst.Rows {
			features.Softmax(row, features.Row(dst, i))
			for k, p := range row {
				features.Row(dst, i)[k] = float32(p)
			}
		}
	})
	m.centres, m.clean, m.trust = d.Centres, d.Clean, m.cfg.Trust
	if m.trust > 0 {
		return nil
	}
	found, labelled := 0, 0
	for i, y := range m.set.Labels {
		if y >= 0 {
			labelled++
			if m.clean[i] > 0.5 {
				found++
			}
		}
	}
	m.trust = float64(found) / float64(max(labelled, 1))
	return nil
}

// fillInput writes two views and the mixtures.
func (m *tcl) fillInput(input blas32.General, rows []int, _ int, rng *rand.Rand) (int, error) {
	n := len(rows)
	m.rows = append(m.rows[:0], rows...)
	m.plain = features.Resize(m.plain, 3*n, input.Cols)
	if err := m.views.copyPlainViews(features.Part(m.plain, 0, n), rows); err != nil {
		return 0, err
	}
	for v := range 2 {
		view := features.Part(input, v*n, n)
		if err := m.views.drawViews(view, rows, rng); err != nil {
			return 0, err
		}
		copy(features.Part(m.plain, (1+v)*n, n).Data, view.Data)
	}
	m.mixed = drawMixture(m.cfg.Mixup, 3*n, rng)
	m.mixed.mixRows(features.Part(input, 2*n, 3*n), m.plain)
	return 5, nil
}

// appendChosen appends the rows whose label is more likely correct than wrong.
func (m *tcl) appendChosen(dst []int) []int {
	for i, row := range m.rows {
		if m.warm || m.clean[row] > 0.5 {
			dst = append(dst, i)
		}
	}
	return dst
}

func (m *tcl) evalMethod(du, dl, u, l blas32.General) float64 {
	c, n := &m.scratch, len(m.rows)
	c.p.size(l.Rows, l.Cols)
	c.targets.size(n, l.Cols)
	c.logSums, c.target, c.mean = features.Grow(c.logSums, l.Rows), features.Grow(c.target, l.Cols),
		features.Grow(c.mean, l.Cols)
	c.grad, c.row = features.Grow(c.grad, l.Cols), features.Grow(c.row, l.Cols)
	for r := range l.Rows {
		c.logSums[r] = features.Softmax(c.p.row(r), features.Row(l, r))
	}
	value := m.contrastViews(features.Part(du, 0, 2*n), features.Part(u, 0, 2*n))
	value += m.cfg.Cross * m.crossEntropies(dl, l)
	value += m.mixtureLoss(du, dl, u, l)
	return value + m.regularizeLoss(dl, l)
}

// contrastViews returns the SimCLR term and adds its gradient to du.
func (m *tcl) contrastViews(du, u blas32.General) float64 {
	c, n := &m.scratch, len(m.rows)
	return c.comparison.addContrasts(
		du,
		u,
		u,
		true,
		m.cfg.Temperature,
		func(r int, _ []float32) (int, []pull, float64) {
			c.one[0] = (r + n) % (2 * n)
			c.side[0] = pull{1, c.one[:]}
			return r, c.side[:], 1 / float64(2*n)
		},
	)
}

// writeTarget writes the target s·w·onehot(y) + (1 - s·w)·p of image i to dst.
func (m *tcl) writeTarget(dst []float64, i int, p func(k int) float64) {
	row := m.rows[i]
	share := m.trust * m.clean[row]
	if m.warm {
		share = 1
	}
	for k := range dst {
		dst[k] = 0
		if share < 1 {
			dst[k] = (1 - share) * p(k)
		}
	}
	dst[m.set.Labels[row]] += share
}

// crossEntropies returns the cross entropy of each view against the target from the other view.
func (m *tcl) crossEntropies(dl, l blas32.General) (value float64) {
	c, n := &m.scratch, len(m.rows)
	for r := range 2 * n {
		other := c.p.row((r + n) % (2 * n))
		m.writeTarget(c.target, r%n, func(k int) float64 { return other[k] })
		value += crossEntropy(features.Row(dl, r), features.Row(l, r), c.p.row(r), c.logSums[r], c.target,
			m.cfg.Cross/float64(n))
	}
	return value / float64(n)
}

// mixtureLoss returns the weighted sum of two cross entropies of the mixtures: one of their logits, and one of their
// similarities to the class centres.
func (m *tcl) mixtureLoss(du, dl, u, l blas32.General) float64 {
	c, n := &m.scratch, len(m.rows)
	for i := range n {
		first, second := c.p.row(i), c.p.row(n+i)
		m.writeTarget(c.targets.row(i), i, func(k int) float64 { return (first[k] + second[k]) / 2 })
	}
	rows := 3 * n
	c.logits, c.dLogits = features.Resize(c.logits, rows, l.Cols), features.Resize(c.dLogits, rows, l.Cols)
	clear(c.dLogits.Data)
	mixed := features.Part(u, 2*n, rows)
	blas32.Gemm(blas.NoTrans, blas.Trans, float32(1/m.cfg.Temperature), mixed, m.centres, 0, c.logits)
	var cross, align float64
	for r := range rows {
		a, b := c.targets.row(r%n), c.targets.row(m.mixed.partner[r]%n)
		for k := range c.target {
			c.target[k] = m.mixed.share*a[k] + (1-m.mixed.share)*b[k]
		}
		at := 2*n + r
		cross += crossEntropy(features.Row(dl, at), features.Row(l, at), c.p.row(at), c.logSums[at], c.target,
			m.cfg.Cross/float64(rows))
		logits := features.Row(c.logits, r)
		logSum := features.Softmax(c.row, logits)
		align += crossEntropy(features.Row(c.dLogits, r), logits, c.row, logSum, c.target, m.cfg.Align/float64(rows))
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, float32(1/m.cfg.Temperature), c.dLogits, m.centres, 1,
		features.Part(du, 2*n, rows))
	return (m.cfg.Cross*cross + m.cfg.Align*align) / float64(rows)
}

// regularizeLoss returns the weighted sum of the entropy of predictions and the negative entropy of their mean. A
// class whose mean probability underflows gets no gradient.
func (m *tcl) regularizeLoss(dl, l blas32.General) float64 {
	c := &m.scratch
	each := 1 / float64(l.Rows)
	clear(c.mean)
	var sum, balance float64
	for r := range l.Rows {
		p := c.p.row(r)
		sum += weightedEntropy(features.Row(dl, r), features.Row(l, r), p, c.logSums[r], m.cfg.Entropy*each)
		for k, v := range p {
			c.mean[k] += v * each
		}
	}
	for k, v := range c.mean {
		c.grad[k] = 0
		if v > 0 {
			balance += v * math.Log(v)
			c.grad[k] = m.cfg.Balance * each * (math.Log(v) + 1)
		}
	}
	for r := range l.Rows {
		throughSoftmax(features.Row(dl, r), c.p.row(r), c.grad)
	}
	return m.cfg.Entropy*sum*each + m.cfg.Balance*balance
}
