package peers

import (
	"math"

	"winnow/features"
)

type number interface{ float32 | float64 }

// Matrix holds rows of logits: float32 in training, float64 in tests.
type Matrix[T number] struct {
	Rows, Cols, Stride int
	Data               []T
}

// matrixRow returns a view of row i.
func (m Matrix[T]) matrixRow(i int) []T { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// zeroMatrix sets all numbers of m to zero.
func (m Matrix[T]) zeroMatrix() {
	for i := range m.Rows {
		clear(m.matrixRow(i))
	}
}

// rowEntropies writes each row's cross entropy, -log softmax(l)[label], to losses, and its log Σ e^l to sums.
func rowEntropies[T number](losses, sums []float64, logits Matrix[T], labels []int) {
	for i, label := range labels {
		row := logits.matrixRow(i)
		sums[i] = features.LogSumExp(row)
		losses[i] = sums[i] - float64(row[label])
	}
}

// meanEntropy returns the mean loss of the k chosen rows, or 0 if k is 0. If grad has rows, meanEntropy overwrites it
// with the gradient: (softmax(l) - onehot)/k in a chosen row, 0 in the other rows.
func meanEntropy[T number](grad, logits Matrix[T], labels, chosen []int, losses, sums []float64) float64 {
	if grad.Rows > 0 {
		grad.zeroMatrix()
	}
	var sum float64
	for _, i := range chosen {
		sum += losses[i]
		if grad.Rows == 0 {
			continue
		}
		d, scale := grad.matrixRow(i), 1/float64(len(chosen))
		for c, v := range logits.matrixRow(i) {
			d[c] = T(scale * math.Exp(float64(v)-sums[i]))
		}
		d[labels[i]] = T(
			scale * math.Expm1(float64(logits.matrixRow(i)[labels[i]])-sums[i]),
		) // p - 1 without cancellation
	}
	return sum / float64(max(len(chosen), 1))
}

// correctedLoss returns the mean of -log Σ_j softmax_j(l)·T[j][label] and, if grad has rows, overwrites it with the
// gradient.
//
//	L_i = log Σ_c e^{l_c} - log Σ_c e^{l_c}·T[c][y]      ∂L_i/∂l_c = p_c - p_c·T[c][y]/Σ_j p_j·T[j][y]
//
// Each sum is shifted by its own largest term. A class with T = 0 therefore has no effect, and a class that the
// network predicts with a tiny probability does not underflow. A label that is impossible under T has loss +Inf.
// Source: Patrini et al., Making Deep Neural Networks Robust to Label Noise, CVPR 2017, equation 5 and theorem
// 2. METHODS 12.4.
func correctedLoss[T number](grad, logits Matrix[T], labels []int, t *transition, scratch *[]float64) float64 {
	if len(*scratch) < 2*logits.Cols {
		*scratch = make([]float64, 2*logits.Cols)
	}
	column, shifted := (*scratch)[:logits.Cols], (*scratch)[logits.Cols:2*logits.Cols]
	var sum float64
	for i, label := range labels {
		row := logits.matrixRow(i)
		t.logColumn(column, label)
		for c, v := range row {
			shifted[c] = float64(v) + column[c]
		}
		all := features.LogSumExp(row)
		given := features.LogSumExp(shifted)
		sum += all - given
		if grad.Rows == 0 {
			continue
		}
		d, scale := grad.matrixRow(i), 1/float64(len(labels))
		for c, v := range row {
			d[c] = T(scale * (math.Exp(float64(v)-all) - math.Exp(shifted[c]-given)))
		}
	}
	return sum / float64(max(len(labels), 1))
}
