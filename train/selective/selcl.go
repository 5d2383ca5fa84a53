package selective

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters/detectors"
	"winnow/head"
)

// selcl is Sel-CL on frozen features. From the end of the warm-up on, with a batch of n images:
//
//	L = U + S(batch) + S(queue) + Classify·CE + Similarity·M
//	U = 1/n Σ_i [i has no partner] InfoNCE(u_i; its key, the negatives)
//	S(A) = 1/n Σ_i [i has a partner in A] ½ Σ_v { λ_v SupCon(r; P_a) + (1-λ_v) SupCon(r; P_b) }
//
// Row r = (v, i) is view v of image i = a mixed with image b: u of λ_v x_a + (1-λ_v) x_b. P_a are the members of A, r
// itself left out, that were mixed mostly from an image which makes a confident pair with a; every image does with
// itself, so that a's other view is always there. P_b the same with b. A partner of i is another image that makes a
// confident pair with i. The batch are the 2n mixed rows; the queue are such rows of earlier steps and of this one, by
// the head's running average. Of U, u_i is a first view, its key a second one by the running average, the negatives
// such keys of earlier steps.
//
//	CE = mean cross entropy of mixed views of n selected images, drawn with replacement, targets mixed likewise
//	M  = mean over pairs of rows r ≠ s of -[m log(p_r·p_s) + (1-m) log(1-p_r·p_s)],  m = λ[s ∈ P_a] + (1-λ)[s ∈ P_b]
//
// In the warm-up L = U over all images; without selected rows CE is 0. The queue is compared with from QueueStart on.
// Differs from the released code beside what the package says: M over the batch alone, no cut of its gradient, and an
// image that is both of a's and of b's partners counts once on each side. Sel-CL+'s second training of a classifier is
// no part of it.
// Source: Li et al., CVPR 2022, equations 5 to 10 and the released code; METHODS 13.1.
type selcl struct {
	cfg       Config
	classes   int
	set       features.Set
	views     *views
	average   *head.Head
	now       []*features.Param // of the head
	negatives *queue            // of keys
	queue     *queue            // of mixed rows

	selection *detectors.Selection // nil in the warm-up
	pairs     *detectors.Pairs
	selected  []int
	step      selclStep
	second    blas32.General // second views
	mixed     blas32.General // scratch: views before they are mixed
	keys      blas32.General // of the running average: second views, then both mixed blocks
	scratch   selclScratch
}

// selclStep is what is fixed in a step before the loss is evaluated.
type selclStep struct {
	rows     []int      // of the training set
	mixed    [2]mixture // of the batch, for each view
	picked   []int      // selected rows of the training set, drawn; none: no cross entropy
	pickedBy [2]mixture
	warm     bool // warm-up
	useQueue bool
}

type selclScratch struct {
	comparison
	confident []bool  // n×n: images of the batch
	inQueue   [][]int // of each image, places of the queue that make a confident pair with it
	byLabel   [][]int // places of the queue by their image's label
	sides     [2]pull
	p, g      blas32.General // probabilities of the mixed rows; gradients in their products
	dp        blas32.General
	row, grad []float64
	target    []float64
}

func newSelCL(l *Learner, batch int) (*selcl, error) {
	average, err := copyHead(l.head, "average.")
	if err != nil {
		return nil, err
	}
	dim := l.head.Config().Out
	size := min(2*l.cfg.Queue*l.classes, 2*l.set.Len())
	return &selcl{
		cfg: l.cfg, classes: l.classes, set: l.set, views: newViews(l.cfg.View, l.set, l.stored), average: average, now: l.head.Params(),
		negatives: newQueue("negatives", l.cfg.Negatives+batch, dim), queue: newQueue("queue", max(size, 2*batch), dim),
		second: features.NewMatrix(batch, l.set.Dim()), mixed: features.NewMatrix(batch, l.set.Dim()), keys: features.NewMatrix(3*batch, dim),
	}, nil
}

func (m *selcl) state() []*features.Param {
	list := append(m.average.Params(), m.negatives.params()...)
	return append(list, m.queue.params()...)
}

// consider selects rows and pairs, once the warm-up is over.
func (m *selcl) consider(j *judge, epoch int) error {
	m.step.warm, m.step.useQueue = epoch < m.cfg.WarmUp, epoch >= m.cfg.QueueStart
	m.selected = m.selected[:0]
	if m.step.warm {
		return nil
	}
	z, err := j.embed(m.set)
	if err != nil {
		return err
	}
	if m.selection, err = m.cfg.selcl().Select(context.Background(), z, m.classes); err != nil {
		return err
	}
	if m.pairs, err = m.selection.Pairs(context.Background()); err != nil {
		return err
	}
	for i, is := range m.selection.Selected {
		if is {
			m.selected = append(m.selected, i)
		}
	}
	return nil
}

// fill writes first views, both mixed views and mixed views of selected rows.
func (m *selcl) fill(input blas32.General, rows []int, step int, rng *rand.Rand) (int, error) {
	if step > 1 {
		m.follow()
	}
	n, s := len(rows), &m.step
	s.rows = append(s.rows[:0], rows...)
	s.mixed = [2]mixture{drawMixture(m.cfg.Mixup, n, rng), drawMixture(m.cfg.Mixup, n, rng)}
	first, second := features.Part(input, 0, n), features.Part(m.second, 0, n)
	m.views.draw(first, rows, rng)
	m.views.draw(second, rows, rng)
	s.mixed[0].mix(features.Part(input, n, n), first)
	s.mixed[1].mix(features.Part(input, 2*n, n), second)
	if err := m.remember(second, features.Part(input, n, 2*n)); err != nil {
		return 0, err
	}
	s.picked = s.picked[:0]
	if s.warm {
		return 1, nil
	}
	if len(m.selected) == 0 {
		return 3, nil
	}
	for range n {
		s.picked = append(s.picked, m.selected[rng.IntN(len(m.selected))])
	}
	for v := range s.pickedBy {
		plain := features.Part(m.mixed, 0, n)
		m.views.draw(plain, s.picked, rng)
		s.pickedBy[v] = drawMixture(m.cfg.Mixup, n, rng)
		s.pickedBy[v].mix(features.Part(input, (3+v)*n, n), plain)
	}
	return 5, nil
}

// follow lets the running average follow the head: what it was a step ago, and a little of what it is now.
func (m *selcl) follow() {
	keep := float32(m.cfg.Average)
	for i, p := range m.average.Params() {
		now := m.now[i].Data
		for j := range p.Data {
			p.Data[j] = keep*p.Data[j] + (1-keep)*now[j]
		}
	}
}

// remember puts keys into both queues.
func (m *selcl) remember(second, mixed blas32.General) error {
	n := second.Rows
	keys, both := features.Part(m.keys, 0, n), features.Part(m.keys, n, 2*n)
	if err := m.average.EmbedInto(keys, second); err != nil {
		return err
	}
	if err := m.average.EmbedInto(both, mixed); err != nil {
		return err
	}
	m.negatives.push(keys, m.step.rows)
	m.queue.push(both, append(append([]int(nil), m.step.rows...), m.step.rows...))
	return nil
}

func (m *selcl) chosen(dst []int) []int {
	for i, row := range m.step.rows {
		if m.step.warm || m.selection.Selected[row] {
			dst = append(dst, i)
		}
	}
	return dst
}

func (m *selcl) eval(du, dl, u, l blas32.General) float64 {
	n := len(m.step.rows)
	everyone := func(int) bool { return true }
	if m.step.warm {
		return m.unsupervised(features.Part(du, 0, n), features.Part(u, 0, n), everyone)
	}
	m.pairUp()
	inBatch, inQueue := make([]bool, n), make([]bool, n)
	for i := range n {
		inBatch[i], inQueue[i] = m.partners(i)
	}
	alone := func(i int) bool { return !inBatch[i] && !inQueue[i] }
	value := m.unsupervised(features.Part(du, 0, n), features.Part(u, 0, n), alone)
	value += m.withinBatch(features.Part(du, n, 2*n), features.Part(u, n, 2*n), inBatch)
	if m.step.useQueue {
		value += m.withQueue(features.Part(du, n, 2*n), features.Part(u, n, 2*n), inQueue)
	}
	if m.cfg.Similarity > 0 {
		value += m.cfg.Similarity * m.similar(features.Part(dl, n, 2*n), features.Part(l, n, 2*n))
	}
	if len(m.step.picked) > 0 && m.cfg.Classify > 0 {
		value += m.cfg.Classify * m.classify(features.Part(dl, 3*n, 2*n), features.Part(l, 3*n, 2*n))
	}
	return value
}

// pairUp finds the confident pairs within the batch, and of the batch with the queue.
func (m *selcl) pairUp() {
	c, rows := &m.scratch, m.step.rows
	n := len(rows)
	c.confident = append(c.confident[:0], make([]bool, n*n)...)
	for i := range rows {
		for j := range rows {
			c.confident[i*n+j] = m.pairs.Confident(rows[i], rows[j])
		}
	}
	if c.byLabel == nil {
		c.byLabel = make([][]int, m.classes)
	}
	for k := range c.byLabel {
		c.byLabel[k] = c.byLabel[k][:0]
	}
	c.inQueue = append(c.inQueue, make([][]int, max(n-len(c.inQueue), 0))...)
	if !m.step.useQueue {
		return
	}
	for at := range m.queue.len() {
		y := m.set.Labels[m.queue.row(at)]
		c.byLabel[y] = append(c.byLabel[y], at)
	}
	for i, row := range rows {
		c.inQueue[i] = c.inQueue[i][:0]
		for _, at := range c.byLabel[m.set.Labels[row]] {
			if m.pairs.Confident(row, m.queue.row(at)) {
				c.inQueue[i] = append(c.inQueue[i], at)
			}
		}
	}
}

// partners reports whether image i has any in the batch, and in the queue.
func (m *selcl) partners(i int) (batch, queue bool) {
	n, rows := len(m.step.rows), m.step.rows
	for j := range n {
		batch = batch || rows[j] != rows[i] && m.scratch.confident[i*n+j]
	}
	if m.step.useQueue {
		for _, at := range m.scratch.inQueue[i] {
			queue = queue || m.queue.row(at) != rows[i]
		}
	}
	return batch, queue
}

// unsupervised is U over the images named, divided by all.
func (m *selcl) unsupervised(du, u blas32.General, takes func(i int) bool) float64 {
	n := u.Rows
	var one [1]int
	return m.scratch.rows(du, u, m.negatives.vectors(), false, m.cfg.Temperature, func(i int, s []float32) (int, []pull, float64) {
		if !takes(i) {
			return -1, nil, 0
		}
		one[0] = m.negatives.at(i)
		for j := range n { // keys of this step are no negatives yet
			if j != i {
				s[m.negatives.at(j)] = float32(math.Inf(-1))
			}
		}
		m.scratch.sides[0] = pull{1, one[:]}
		return -1, m.scratch.sides[:1], 1 / float64(n)
	})
}

// withinBatch is S(batch).
func (m *selcl) withinBatch(du, u blas32.General, takes []bool) float64 {
	c, n := &m.scratch, len(m.step.rows)
	return c.rows(du, u, u, true, m.cfg.Temperature, func(r int, _ []float32) (int, []pull, float64) {
		mixed, i := m.step.mixed[r/n], r%n
		if !takes[i] {
			return -1, nil, 0
		}
		for side, image := range [2]int{i, mixed.partner[i]} {
			list := c.sides[side].positives[:0]
			for s := range 2 * n {
				if s != r && c.confident[image*n+s%n] {
					list = append(list, s)
				}
			}
			c.sides[side] = pull{[2]float64{mixed.share, 1 - mixed.share}[side], list}
		}
		return r, c.sides[:], 1 / float64(2*n)
	})
}

// withQueue is S(queue).
func (m *selcl) withQueue(du, u blas32.General, takes []bool) float64 {
	c, n := &m.scratch, len(m.step.rows)
	return c.rows(du, u, m.queue.vectors(), false, m.cfg.Temperature, func(r int, _ []float32) (int, []pull, float64) {
		mixed, i := m.step.mixed[r/n], r%n
		if !takes[i] {
			return -1, nil, 0
		}
		own := m.queue.at(r)
		for side, image := range [2]int{i, mixed.partner[i]} {
			list := c.sides[side].positives[:0]
			for _, at := range c.inQueue[image] {
				if at != own {
					list = append(list, at)
				}
			}
			c.sides[side] = pull{[2]float64{mixed.share, 1 - mixed.share}[side], list}
		}
		return own, c.sides[:], 1 / float64(2*n)
	})
}

// unsure keeps the logarithms of M finite.
const unsure = 1e-7

// similar is M; dl has Similarity times its gradient added.
func (m *selcl) similar(dl, l blas32.General) float64 {
	c, n, rows := &m.scratch, len(m.step.rows), l.Rows
	c.p, c.g, c.dp = features.Resize(c.p, rows, l.Cols), features.Resize(c.g, rows, rows), features.Resize(c.dp, rows, l.Cols)
	c.row, c.grad = features.Grow(c.row, l.Cols), features.Grow(c.grad, l.Cols)
	for r := range rows {
		features.Softmax(c.row, features.Row(l, r))
		for k, p := range c.row {
			features.Row(c.p, r)[k] = float32(p)
		}
	}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, c.p, c.p, 0, c.g)
	var value float64
	each := 1 / float64(rows*rows)
	for r := range rows {
		mixed, i, row := m.step.mixed[r/n], r%n, features.Row(c.g, r)
		a, b := c.confident[i*n:(i+1)*n], c.confident[mixed.partner[i]*n:]
		for s, v := range row {
			if row[s] = 0; s == r {
				continue
			}
			var same float64
			if a[s%n] {
				same += mixed.share
			}
			if b[s%n] {
				same += 1 - mixed.share
			}
			q := min(float64(v), 1)
			value -= each * (same*math.Log(q+unsure) + (1-same)*math.Log(1-q+unsure))
			row[s] = float32(each * m.cfg.Similarity * ((1-same)/(1-q+unsure) - same/(q+unsure)))
		}
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, c.g, c.p, 0, c.dp)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, c.g, c.p, 1, c.dp)
	for r := range rows {
		for k, v := range features.Row(c.p, r) {
			c.row[k], c.grad[k] = float64(v), float64(features.Row(c.dp, r)[k])
		}
		throughSoftmax(features.Row(dl, r), c.row, c.grad)
	}
	return value
}

// classify is CE; dl has Classify times its gradient added.
func (m *selcl) classify(dl, l blas32.General) float64 {
	c, n := &m.scratch, len(m.step.picked)
	c.row, c.target = features.Grow(c.row, l.Cols), features.Grow(c.target, l.Cols)
	var value float64
	for r := range l.Rows {
		mixed, i := m.step.pickedBy[r/n], r%n
		clear(c.target)
		c.target[m.set.Labels[m.step.picked[i]]] += mixed.share
		c.target[m.set.Labels[m.step.picked[mixed.partner[i]]]] += 1 - mixed.share
		logits := features.Row(l, r)
		logSum := features.Softmax(c.row, logits)
		value += crossEntropy(features.Row(dl, r), logits, c.row, logSum, c.target, m.cfg.Classify/float64(2*n))
	}
	return value / float64(2*n)
}
