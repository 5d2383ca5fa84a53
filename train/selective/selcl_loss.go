package selective

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

type selclScratch struct {
	comparison
	confident []bool  // n×n: pairs of images of the batch
	inQueue   [][]int // for each image: positions in the queue that form a confident pair with it
	byLabel   [][]int // positions in the queue, grouped by their image's label
	sides     [2]pull
	p, g      blas32.General // probabilities of the mixed rows; gradients of their products
	dp        blas32.General
	row, grad []float64
	target    []float64
}

func (m *selcl) evalMethod(du, dl, u, l blas32.General) float64 {
	n := len(m.step.rows)
	everyone := func(int) bool { return true }
	if m.step.second {
		if len(m.step.picked) == 0 {
			return 0
		}
		return m.cfg.Classify * m.classifyLoss(features.Part(dl, 0, 2*n), features.Part(l, 0, 2*n))
	}
	if m.step.warm {
		return m.unsupervisedLoss(features.Part(du, 0, n), features.Part(u, 0, n), everyone)
	}
	m.pairUp()
	inBatch, inQueue := make([]bool, n), make([]bool, n)
	for i := range n {
		inBatch[i], inQueue[i] = m.hasPartners(i)
	}
	alone := func(i int) bool { return !inBatch[i] && !inQueue[i] }
	value := m.unsupervisedLoss(features.Part(du, 0, n), features.Part(u, 0, n), alone)
	value += m.withinBatch(features.Part(du, n, 2*n), features.Part(u, n, 2*n), inBatch)
	if m.step.useQueue {
		value += m.withQueue(features.Part(du, n, 2*n), features.Part(u, n, 2*n), inQueue)
	}
	if m.cfg.Similarity > 0 {
		value += m.cfg.Similarity * m.similarityLoss(features.Part(dl, n, 2*n), features.Part(l, n, 2*n))
	}
	if len(m.step.picked) > 0 && m.cfg.Classify > 0 {
		value += m.cfg.Classify * m.classifyLoss(features.Part(dl, 3*n, 2*n), features.Part(l, 3*n, 2*n))
	}
	return value
}

// pairUp finds the confident pairs within the batch and between the batch and the queue.
func (m *selcl) pairUp() {
	c, rows := &m.scratch, m.step.rows
	n := len(rows)
	c.confident = append(c.confident[:0], make([]bool, n*n)...)
	for i := range rows {
		for j := range rows {
			c.confident[i*n+j] = m.pairs.isConfident(rows[i], rows[j])
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
		y := m.set.Labels[m.queue.trainingRow(at)]
		c.byLabel[y] = append(c.byLabel[y], at)
	}
	for i, row := range rows {
		c.inQueue[i] = c.inQueue[i][:0]
		for _, at := range c.byLabel[m.set.Labels[row]] {
			if m.pairs.isConfident(row, m.queue.trainingRow(at)) {
				c.inQueue[i] = append(c.inQueue[i], at)
			}
		}
	}
}

// hasPartners reports whether image i has a partner in the batch, and whether it has one in the queue.
func (m *selcl) hasPartners(i int) (batch, queue bool) {
	n, rows := len(m.step.rows), m.step.rows
	for j := range n {
		batch = batch || rows[j] != rows[i] && m.scratch.confident[i*n+j]
	}
	if m.step.useQueue {
		for _, at := range m.scratch.inQueue[i] {
			queue = queue || m.queue.trainingRow(at) != rows[i]
		}
	}
	return batch, queue
}

// unsupervisedLoss returns U. It sums over the images that takes accepts and divides by the number of all images.
func (m *selcl) unsupervisedLoss(du, u blas32.General, takes func(i int) bool) float64 {
	n := u.Rows
	var one [1]int
	return m.scratch.addContrasts(du, u, m.negatives.queueVectors(), false, m.cfg.Temperature,
		func(i int, s []float32) (int, []pull, float64) {
			if !takes(i) {
				return -1, nil, 0
			}
			one[0] = m.negatives.pushedAt(i)
			for j := range n { // keys of this step are not negatives yet
				if j != i {
					s[m.negatives.pushedAt(j)] = float32(math.Inf(-1))
				}
			}
			m.scratch.sides[0] = pull{1, one[:]}
			return -1, m.scratch.sides[:1], 1 / float64(n)
		})
}

// withinBatch returns S(batch) over the images in takes and adds its gradient to du.
func (m *selcl) withinBatch(du, u blas32.General, takes []bool) float64 {
	c, n := &m.scratch, len(m.step.rows)
	return c.addContrasts(du, u, u, true, m.cfg.Temperature, func(r int, _ []float32) (int, []pull, float64) {
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

// withQueue returns S(queue) over the images in takes and adds its gradient to du.
func (m *selcl) withQueue(du, u blas32.General, takes []bool) float64 {
	c, n := &m.scratch, len(m.step.rows)
	return c.addContrasts(
		du,
		u,
		m.queue.queueVectors(),
		false,
		m.cfg.Temperature,
		func(r int, _ []float32) (int, []pull, float64) {
			mixed, i := m.step.mixed[r/n], r%n
			if !takes[i] {
				return -1, nil, 0
			}
			own := m.queue.pushedAt(r)
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
		},
	)
}

// unsure bounds the arguments of M's logarithms away from 0, so that M stays finite.
const unsure = 1e-7

// similarityLoss returns M and adds Similarity times its gradient to dl.
func (m *selcl) similarityLoss(dl, l blas32.General) float64 {
	c, n, rows := &m.scratch, len(m.step.rows), l.Rows
	c.p, c.g, c.dp = features.Resize(c.p, rows, l.Cols), features.Resize(c.g, rows, rows),
		features.Resize(c.dp, rows, l.Cols)
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

// classifyLoss returns CE and adds Classify times its gradient to dl.
func (m *selcl) classifyLoss(dl, l blas32.General) float64 {
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
		if b := m.cfg.Bootstrap; m.step.second && b > 0 {
			likeliest := 0
			for k, p := range c.row {
				if c.target[k] *= 1 - b; p > c.row[likeliest] {
					likeliest = k
				}
			}
			c.target[likeliest] += b
		}
		value += crossEntropy(features.Row(dl, r), logits, c.row, logSum, c.target, m.cfg.Classify/float64(2*n))
	}
	return value / float64(2*n)
}
