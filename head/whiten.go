package head

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
)

const (
	// ridge times the mean eigenvalue is added to every eigenvalue. Directions in which the features hardly vary
	// are mostly noise and must not be scaled up to full size. Measured on MobileNetV2 features (of an earlier
	// image pipeline, see docs/log/2026-11.md) of CUB-200 (2010), whitened on classes 1-100, with retrieval on
	// classes 101-200 and 512 outputs: MAP@R 0.1141, 0.1172, 0.1226, 0.1289 and recall@1 0.522, 0.529, 0.526,
	// 0.525 (± 0.009) for ridge 0, 0.1, 1, 10; frozen features have 0.1192 and 0.525. A larger ridge approaches
	// plain PCA, which is worse on other data.
	ridge = 1
	// minEigen is the fraction of the largest eigenvalue below which a direction is treated as constant, because
	// float32 features are not more precise.
	minEigen = 1e-6
	// covarianceBlock is the number of rows summed in float32 before they are added to the float64 sum.
	covarianceBlock = 2048
)

// whitenHead decorrelates the features and gives every direction the same variance, without labels:
//
//	y = c · (Λ + εI)^{-1/2} Uᵀ (x - μ),   ε = trace(C)/d
//
// μ is the mean of the n rows of x, C their covariance (÷ n), U its leading eigenvectors (in×out) and Λ
// their eigenvalues. A head without a bias cannot centre: then μ = 0 and C is the second moment about the
// origin. The factor c > 0 does not change the normalised embedding. It gives the weights the root mean square of
// Glorot's initialisation, √(2/(in+out)), so that learning rates are comparable across backbones and initialisations.
// If the features vary in fewer than out directions (few rows, dead features), the columns from rank on are zero.
//
// The head whitens features as they are stored. Scaling rows to unit length first made no difference with 512
// outputs (recall@1 0.525 instead of 0.526) and a difference of one hundredth with 64 outputs.
//
// The sign of an eigenvector is fixed by making its component of largest magnitude positive.
// Source: Kessy, Lewin & Strimmer, The American Statistician 2018, section 2 (PCA whitening).
func (h *Head) whitenHead(ctx context.Context, x features.Source) error {
	n := x.Len()
	if n < 2 {
		return fmt.Errorf("head: whitening: found %d training rows, expected at least 2 (or init %q)", n, Random)
	}
	mean, err := columnMeans(ctx, x)
	if err != nil {
		return err
	}
	limit := n
	if h.bias != nil {
		limit--
	} else {
		clear(mean)
	}
	if n < len(mean) {
		return h.whitenByRows(ctx, x, mean, limit)
	}
	cov, err := computeCovariance(ctx, x, mean)
	if err != nil {
		return err
	}
	return h.whitenByMoments(mean, cov, n, limit)
}

// whitenByRows does the work of whitenHead if there are fewer rows than features. For centred rows X, the matrix X·Xᵀ/n
// is smaller than the covariance Xᵀ·X/n and has the same non-zero eigenvalues λ. An eigenvector v of the former gives
// the eigenvector Xᵀv/√(nλ) of the latter. Time n²·d.
func (h *Head) whitenByRows(ctx context.Context, x features.Source, mean []float64, limit int) error {
	n, d := x.Len(), len(mean)
	rows := mat.NewDense(n, d, nil)
	err := eachBlock(ctx, x, func(from int, block blas32.General) error {
		for i := range block.Rows {
			row := rows.RawRowView(from + i)
			for j, v := range features.Row(block, i) {
				row[j] = float64(v) - mean[j]
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var product mat.Dense
	product.Mul(rows, rows.T())
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, (product.At(i, j)+product.At(j, i))/(2*float64(n)))
		}
	}
	trace := mat.Trace(gram)
	if err := checkVariance(trace, n); err != nil {
		return err
	}
	values, left := LeadingEigen(gram, min(h.cfg.Out, n))
	values = values[:rankOf(values, limit)]
	var vectors mat.Dense
	vectors.Mul(rows.T(), left.Slice(0, n, 0, len(values)))
	for k, value := range values {
		length := math.Sqrt(float64(n) * value)
		for i := range d {
			vectors.Set(i, k, vectors.At(i, k)/length)
		}
	}
	h.scaleVectors(&vectors, values, mean, ridge*trace/float64(d))
	return nil
}

// whitenByMoments does the work of whitenHead, given the moments of n rows that vary in at most limit directions.
func (h *Head) whitenByMoments(mean []float64, cov *mat.SymDense, n, limit int) error {
	d := len(mean)
	trace := mat.Trace(cov)
	if err := checkVariance(trace, n); err != nil {
		return err
	}
	values, vectors := LeadingEigen(cov, min(h.cfg.Out, d))
	h.scaleVectors(vectors, values[:rankOf(values, limit)], mean, ridge*trace/float64(d))
	return nil
}

// checkVariance returns an error if n rows cannot be whitened. trace is the sum of the variances of their features.
func checkVariance(trace float64, n int) error {
	if !isFinite(trace) || trace > math.MaxFloat32 {
		return fmt.Errorf("head: whitening: the variance of the training rows overflows float32, " +
			"expected features of a moderate size")
	}
	if trace == 0 {
		return fmt.Errorf("head: whitening: the %d training rows are all equal, expected features that vary", n)
	}
	return nil
}

// rankOf returns the number of directions in which the features vary, at most limit. values are the eigenvalues in
// falling order.
func rankOf(values []float64, limit int) int {
	rank := 0
	for rank < len(values) && rank < limit && values[rank] > minEigen*values[0] && values[rank] > 0 {
		rank++
	}
	return rank
}

// Need returns the memory in bytes for whitening the given number of rows from dim to at most out dimensions.
func Need(rows, dim, out int) int64 {
	n, d := int64(rows), int64(dim)
	if rows < dim {
		return 12*d*min(int64(out), n) + 8*n*d + 24*n*n
	}
	return 28 * d * d
}

// Whitening returns the linear head that whitens the rows of x (PCA) to out dimensions of unit length, without
// labels or training. If centre is true, the head subtracts the mean of the rows first.
func Whitening(ctx context.Context, x features.Source, out int, centre bool) (*Head, error) {
	cfg := Config{In: x.Dim(), Out: out, Bias: centre, Init: Whiten}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	h := newBlank(cfg)
	return h, h.whitenHead(ctx, x)
}

// Widest is the largest dimension to which features are whitened before labels are scored.
const Widest = 512

// WhitenSet whitens the set with its own moments and returns centred vectors of unit length. The argument most limits
// their dimensions. Labels are scored from these vectors if there is no trained head.
func WhitenSet(ctx context.Context, set features.Source, most int) (features.Set, error) {
	h, err := SelfWhitening(ctx, set, most)
	if err != nil {
		return features.Set{}, err
	}
	return h.EmbedSet(ctx, set)
}

// SelfWhitening returns the head used by WhitenSet.
func SelfWhitening(ctx context.Context, set features.Source, most int) (*Head, error) {
	return Whitening(ctx, set, min(most, set.Dim(), max(set.Len()-1, 1)), true)
}

// scaleVectors divides the eigenvectors by √(λ+ε), fixes their signs and the common scale, and derives the bias.
func (h *Head) scaleVectors(vectors *mat.Dense, values, mean []float64, eps float64) {
	in, rank := len(mean), len(values)
	columns := make([]float64, rank) // factor of each column
	var square float64
	for k := range columns {
		columns[k] = 1 / math.Sqrt(values[k]+eps)
		square += columns[k] * columns[k] // the unscaled column has unit length
	}
	common := math.Sqrt(2/float64(in+h.cfg.Out)) / math.Sqrt(square/float64(in*rank))
	for k := range columns {
		var peak float64
		for i := range in {
			if v := vectors.At(i, k); math.Abs(v) > math.Abs(peak) {
				peak = v
			}
		}
		columns[k] *= math.Copysign(common, peak)
	}
	h.rank = rank
	offset := make([]float64, rank)
	for i := range in {
		row := features.Row(h.weight.Matrix(), i)
		for k, factor := range columns {
			v := vectors.At(i, k) * factor
			row[k] = float32(v)
			offset[k] -= mean[i] * v
		}
	}
	if h.bias != nil {
		for k, v := range offset {
			h.bias.Data[k] = float32(v)
		}
	}
}

// columnMeans returns the mean of the rows. If a value is not finite, it returns an error with the value's position.
func columnMeans(ctx context.Context, x features.Source) ([]float64, error) {
	mean := make([]float64, x.Dim())
	err := eachBlock(ctx, x, func(from int, block blas32.General) error {
		for i := range block.Rows {
			for j, v := range features.Row(block, i) {
				if !isFinite(float64(v)) {
					return fmt.Errorf("head: whitening: training row %d, feature %d: found %v, expected "+
						"a finite number", from+i, j, v)
				}
				mean[j] += float64(v)
			}
		}
		return nil
	})
	for j := range mean {
		mean[j] /= float64(x.Len())
	}
	return mean, err
}

// eachBlock calls visit for blocks of covarianceBlock rows. from is the index of the block's first row.
func eachBlock(ctx context.Context, x features.Source, visit func(from int, block blas32.General) error) error {
	var scratch []float32
	for from := 0; from < x.Len(); from += covarianceBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		block, err := x.Part(ctx, &scratch, from, min(covarianceBlock, x.Len()-from))
		if err != nil {
			return err
		}
		if err := visit(from, block); err != nil {
			return err
		}
	}
	return nil
}

// computeCovariance returns 1/n Σ (x-μ)(x-μ)ᵀ. It multiplies blocks in float32 and sums the products in float64. Time
// 2·n·d².
func computeCovariance(ctx context.Context, x features.Source, mean []float64) (*mat.SymDense, error) {
	d := x.Dim()
	sum := make([]float64, d*d)
	centred := features.NewMatrix(min(covarianceBlock, x.Len()), d)
	part32 := features.NewMatrix(d, d)
	err := eachBlock(ctx, x, func(_ int, block blas32.General) error {
		c := features.Part(centred, 0, block.Rows)
		for i := range block.Rows {
			row := features.Row(c, i)
			for j, v := range features.Row(block, i) {
				row[j] = float32(float64(v) - mean[j])
			}
		}
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, c, c, 0, part32)
		for i, v := range part32.Data {
			sum[i] += float64(v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	cov := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			cov.SetSym(i, j, (sum[i*d+j]+sum[j*d+i])/(2*float64(x.Len())))
		}
	}
	return cov, nil
}
