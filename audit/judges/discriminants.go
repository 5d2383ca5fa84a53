package judges

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"winnow/features"
)

const (
	// discriminating is the weight of discriminants where no classes are confused. Of .1 to 2, tried on 75 sets, the
	// weights .4 to .7 find most errors of every kind except small clusters of similar images (docs/log, 2026-11).
	discriminating = 0.5
	// logScale divides the discriminants' log probabilities, which are too extreme: the sharpness fitted to them, 2 to
	// 300, then multiplies them by 1/50 or more.
	logScale = 100
)

// addDiscriminants pools all with the posteriors by discriminants of the vectors before whitening, with the weight
//
//	v = 0.5 (0.1 - gain)/(0.1 + gain), at least 0
//
// for the gain of the channel, in nats a label. Whitening helps against random mistakes, but hides what people confuse.
// Where classes are confused often, discriminants learn the mistakes. A class less than a third as large as the largest
// has too few images for them, so its labels are left as they are.
func (b *bench) addDiscriminants(f *field, all pool, gain float64) error {
	v := float32(discriminating * (believed - gain) / (believed + gain))
	if b.opts.Stored.Len() == 0 || v <= 0 {
		return nil
	}
	d, err := b.newProbabilityField(f, logScale, b.visitDiscriminants)
	if err != nil {
		return err
	}
	l, said := newLearner(b.ctx, d, b.assignFolds(), b.opts.Folds), f.newPool()
	plain, _ := l.sharpest()
	l.addPosteriors(said, plain, 1)
	certain := limitCertainty(f.countImages())
	for i, given := range f.given {
		if certain[f.column[i*f.m+int(given)]] < 1 {
			continue
		}
		for at := i * f.m; at < (i+1)*f.m; at++ {
			all.candidates[at] = (all.candidates[at] + v*said.candidates[at]) / (1 + v)
		}
		all.rest[i] = (all.rest[i] + v*said.rest[i]) / (1 + v)
	}
	return nil
}

// rowsAtOnce is the number of vectors that are multiplied at a time.
const rowsAtOnce = 2048

// discriminants fits discriminants to the stored vectors of all folds but one.
type discriminants struct {
	*bench
	folds   []int
	origin  []float32   // mean of all unit vectors
	squares [][]float64 // d×d: for each fold, the sum of x·xᵀ over its unit vectors x from the origin
}

// visitDiscriminants calls do for every image with its class probabilities by discriminants fitted to the other folds.
func (b *bench) visitDiscriminants(do func(row int, p []float64)) error {
	l, p := discriminants{bench: b, folds: b.assignFolds()}, make([]float64, len(b.s.Classes))
	if err := l.sumSquares(); err != nil {
		return err
	}
	var scratch []float32
	for fold := range b.opts.Folds {
		in, out := b.splitFold(l.folds, fold)
		to, offset, err := l.fitDiscriminants(in, fold)
		if err != nil {
			return err
		}
		err = l.visitStored(out, func(images []int, x blas32.General) {
			said := features.Products(&scratch, x, to)
			for r, i := range images {
				for k, v := range features.Row(said, r) {
					p[k] = float64(v) + offset[k]
				}
				features.Softmax(p, p)
				do(b.s.Rows[i], p)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sumSquares sets the origin and the sums of squares.
func (l *discriminants) sumSquares() error {
	d, all := l.opts.Stored.Dim(), make([]int, l.s.Z.Len())
	for i := range all {
		all[i] = i
	}
	part, origin := features.NewMatrix(d, d), make([]float32, d)
	if err := l.visitStored(all, func(_ []int, x blas32.General) {
		for r := range x.Rows {
			for j, v := range features.Row(x, r) {
				origin[j] += v / float32(len(all))
			}
		}
	}); err != nil {
		return err
	}
	l.origin = origin
	for fold := range l.opts.Folds {
		sum := make([]float64, d*d)
		_, out := l.splitFold(l.folds, fold)
		if err := l.visitStored(out, func(_ []int, x blas32.General) {
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, x, x, 0, part)
			for at, v := range part.Data {
				sum[at] += float64(v)
			}
		}); err != nil {
			return err
		}
		l.squares = append(l.squares, sum)
	}
	return nil
}

// visitStored calls do for blocks of the images, with their stored vectors as unit rows from the origin, which do may
// change.
func (l *discriminants) visitStored(images []int, do func(images []int, x blas32.General)) error {
	defer features.ReleasePages()
	d := l.opts.Stored.Dim()
	x := features.NewMatrix(min(rowsAtOnce, len(images)), d)
	for from := 0; from < len(images); from += rowsAtOnce {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		block := images[from:min(from+rowsAtOnce, len(images))]
		rows := features.Part(x, 0, len(block))
		for r, i := range block {
			row := features.Row(rows, r)
			copy(row, l.opts.Stored.Row(l.s.Rows[i]))
			v := blas32.Vector{N: d, Inc: 1, Data: row}
			if square := features.Dot(row, row); square > 0 {
				blas32.Scal(float32(1/math.Sqrt(square)), v)
			}
			if l.origin != nil {
				blas32.Axpy(-1, blas32.Vector{N: d, Inc: 1, Data: l.origin}, v)
			}
		}
		do(block, rows)
	}
	return nil
}

// fitDiscriminants fits linear discriminants to the labels of the images:
//
//	log P(k|x) = (x - m)·S⁻¹m_k - ½ (m_k·S⁻¹m_k - tr(S⁻¹W)/n_k) + log n_k + const
//
// where m is the mean of all images, m + m_k that of the n_k images of class k, W the covariance within classes, and S
// is W shrunk towards a multiple of the identity (Ledoit & Wolf, 2004). The trace removes the bias of m_k·S⁻¹m_k, which
// is largest for small classes. Row k of to is S⁻¹m_k, and offset has the rest. The images are those outside the fold,
// and l.squares has the sums of each fold. Time O(n·d + C·d² + d³).
func (l *discriminants) fitDiscriminants(images []int, fold int) (to blas32.General, offset []float64, err error) {
	d, classes := l.opts.Stored.Dim(), len(l.s.Classes)
	means, count := features.NewMatrix(classes, d), make([]float64, classes)
	row := func(m blas32.General, i int) blas32.Vector {
		return blas32.Vector{N: d, Inc: 1, Data: features.Row(m, i)}
	}
	column := func(i int) int { return l.s.Column[l.s.Z.Labels[i]] }
	if err := l.visitStored(images, func(images []int, x blas32.General) {
		for r, i := range images {
			blas32.Axpy(1, row(x, r), row(means, column(i)))
			count[column(i)]++
		}
	}); err != nil {
		return to, nil, err
	}
	n, fourth, within := float64(len(images)), 0.0, make([]float64, d*d)
	for other, sum := range l.squares {
		if other != fold {
			floats.AddScaled(within, 1/n, sum)
		}
	}
	least := 1e-12 // added to the diagonal: eigenvalues of the difference are exact to about 1e-7 of the trace
	for j := range d {
		least += 1e-6 * within[j*d+j]
	}
	product, rooted := features.NewMatrix(d, d), features.NewMatrix(classes, d)
	for k, c := range count {
		blas32.Axpy(float32(1/math.Sqrt(math.Max(c*n, 1))), row(means, k), row(rooted, k))
		blas32.Scal(float32(1/math.Max(c, 1)), row(means, k))
	}
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, rooted, rooted, 0, product)
	for at, v := range product.Data {
		within[at] -= float64(v)
	}
	if err := l.visitStored(images, func(images []int, x blas32.General) {
		for r, i := range images {
			blas32.Axpy(-1, row(means, column(i)), row(x, r))
			square := features.Dot(row(x, r).Data, row(x, r).Data)
			fourth += square * square / n
		}
	}); err != nil {
		return to, nil, err
	}
	mean, squared := 0.0, floats.Dot(within, within)
	for j := range d {
		mean += within[j*d+j] / float64(d)
	}
	away := math.Max(squared-float64(d)*mean*mean, 1e-300)
	shrunk := math.Min(math.Max((fourth-squared)/n/away, 1e-6), 1)
	floats.Scale(1-shrunk, within)
	ridge := max(shrunk*mean, least)
	for j := range d {
		within[j*d+j] += ridge
	}
	root, ok := lapack64.Potrf(blas64.Symmetric{N: d, Stride: d, Data: within, Uplo: blas.Upper})
	if !ok || !lapack64.Trtri(root) {
		return to, nil, errors.New("judges: the covariance within the classes has no Cholesky decomposition")
	}
	trace := float64(d) // tr(S⁻¹(S - ridge I)), with S⁻¹ = R·Rᵀ
	for i := range d {
		clear(features.Row(product, i)[:i])
		for j := i; j < d; j++ {
			v := within[i*d+j]
			product.Data[i*d+j] = float32(v)
			trace -= ridge * v * v
		}
	}
	centre := row(features.NewMatrix(1, d), 0)
	for k, c := range count {
		blas32.Axpy(float32(c/n), row(means, k), centre)
	}
	for k := range count {
		blas32.Axpy(-1, centre, row(means, k))
	}
	to, offset = features.NewMatrix(classes, d), make([]float64, classes)
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, means, product, 0, rooted)
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, rooted, product, 0, to)
	for k, c := range count {
		c = math.Max(c, 0.5)
		offset[k] = math.Log(c) + (trace/(1-shrunk+1e-6)/c-float64(blas32.Dot(row(means, k), row(to, k))))/2 -
			float64(blas32.Dot(centre, row(to, k)))
	}
	return to, offset, nil
}
