package head

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"winnow/features"
)

const (
	// widest is the largest number of features whose covariance is computed, which takes 28 bytes for each pair.
	widest = 4096
	// fewRows is the largest number of rows of wider features whose products with each other are computed instead.
	fewRows = 1024
	// sketchPasses is how often a sketch is multiplied by the covariance before its last product, which measures it.
	sketchPasses = 3
	sketchBlock  = 4 << 20 // values of the rows that are multiplied at once
)

// Need returns the bytes that whitening takes for this many rows and features, to at most out dimensions.
func Need(rows, dim, out int) int64 {
	n, d := int64(rows), int64(dim)
	k := min(int64(out), n, d)
	vectors := 8*d*k + 4*d*k // in float64, and as weights
	switch {
	case usesSketch(rows, dim):
		return vectors + 4*2*d*(k+max(k/8, 32)) + 8*sketchBlock
	case rows < dim:
		return vectors + 8*n*d + 24*n*n
	}
	return 28 * d * d
}

// usesSketch reports whether rows are whitened by a sketch of their covariance.
func usesSketch(rows, dim int) bool { return dim > widest && rows > fewRows }

// whiteningOfWide is whitening for many rows of many features, whose covariance would not fit into memory: it is only
// multiplied by a block Q of k+k/8 columns (at least k+32), C·Q = Xᵀ(X·Q)/n, a few times from a drawn start, made
// orthonormal in between. The eigenvectors of QᵀCQ turn Q into k directions, in which the rows are decorrelated;
// that they are the leading ones is approximate, and hardly matters where eigenvalues are almost equal. The start is
// always the same, so the result depends on the rows only. Measured on CUB-200 (2010), 6,033 rows of 1,280 MobileNetV2
// features, P@1 among all: to 128 dimensions .5331 (by the whole covariance .5336), to 512 .5702 (.5710).
// Memory 20·d·k bytes, time 4·n·d·k for each of four passes.
//
// Source: Halko, Martinsson & Tropp, SIAM Review 2011, algorithms 4.4 and 5.1.
func whiteningOfWide(ctx context.Context, x features.Source, mean []float64, limit, out int) (whitened, error) {
	s := &sketch{x: x, mean: make([]float32, len(mean)), rows: max(sketchBlock/len(mean), 1)}
	for j, v := range mean {
		s.mean[j] = float32(v)
	}
	n, d := x.Len(), len(mean)
	k := min(out, n, d)
	wide := min(k+max(k/8, 32), n, d)
	rng := rand.New(rand.NewPCG(0x736b65746368, uint64(d)))
	q, y := features.NewMatrix(d, wide), features.NewMatrix(d, wide)
	for i := range q.Data {
		q.Data[i] = float32(rng.NormFloat64())
	}
	for range sketchPasses {
		if err := s.multiplySketch(ctx, q, &y, nil); err != nil {
			return whitened{}, err
		}
		orthonormal32(y, q)
	}
	small := mat.NewDense(wide, wide, nil)
	if err := s.multiplySketch(ctx, q, nil, small); err != nil {
		return whitened{}, err
	}
	trace := s.trace / float64(n)
	if err := checkVariance(trace, n); err != nil {
		return whitened{}, err
	}
	// The columns of q are orthonormal to float32's precision; the rest is mended among wide numbers.
	var mend, half, turned mat.Dense
	inverseFactor(&mend, gramOf(q))
	half.Mul(small, &mend)
	turned.Mul(mend.T(), &half)
	sym := mat.NewSymDense(wide, nil)
	for i := range wide {
		for j := i; j < wide; j++ {
			sym.SetSym(i, j, (turned.At(i, j)+turned.At(j, i))/2/float64(n))
		}
	}
	values, inner := wholeEigen(sym, k)
	values = values[:rankOf(values, limit)]
	var turn mat.Dense
	turn.Mul(&mend, inner.Slice(0, wide, 0, len(values)))
	vectors := mat.NewDense(d, len(values), nil)
	block := mat.NewDense(min(d, 256), wide, nil)
	for from := 0; from < d; from += 256 {
		rows := min(256, d-from)
		for i := range rows {
			for j, v := range features.Row(q, from+i) {
				block.Set(i, j, float64(v))
			}
		}
		part := vectors.Slice(from, from+rows, 0, len(values)).(*mat.Dense)
		part.Mul(block.Slice(0, rows, 0, wide), &turn)
	}
	return scaleVectors(vectors, values, mean, out, ridge*trace/float64(d)), nil
}

// sketch multiplies by the moments of centred rows without forming them.
type sketch struct {
	x     features.Source
	mean  []float32
	rows  int     // in a block
	trace float64 // Σ ‖x-μ‖² of the last pass
}

// multiplySketch computes Y = Xᵀ(X·Q), or with small the product (X·Q)ᵀ(X·Q), for centred rows X. Blocks are multiplied
// in float32.
func (s *sketch) multiplySketch(ctx context.Context, q blas32.General, y *blas32.General, small *mat.Dense) error {
	n, d := s.x.Len(), q.Rows
	centred, p := features.NewMatrix(min(s.rows, n), d), features.NewMatrix(min(s.rows, n), q.Cols)
	part := features.NewMatrix(q.Cols, q.Cols)
	if y != nil {
		clear(y.Data)
	}
	s.trace = 0
	var scratch []float32
	for from := 0; from < n; from += s.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		block, err := s.x.Part(ctx, &scratch, from, min(s.rows, n-from))
		if err != nil {
			return err
		}
		c, xq := features.Part(centred, 0, block.Rows), features.Part(p, 0, block.Rows)
		for i := range block.Rows {
			row := features.Row(c, i)
			for j, v := range features.Row(block, i) {
				row[j] = v - s.mean[j]
				s.trace += float64(row[j]) * float64(row[j])
			}
		}
		multiplyInto(xq, c, q)
		if y != nil {
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, c, xq, 1, *y)
			continue
		}
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, xq, xq, 0, part)
		for i, v := range part.Data {
			small.RawMatrix().Data[i] += float64(v)
		}
	}
	return nil
}

// gramOf returns qᵀ·q, products of blocks of rows in float32.
func gramOf(q blas32.General) *mat.Dense {
	gram, part := mat.NewDense(q.Cols, q.Cols, nil), features.NewMatrix(q.Cols, q.Cols)
	for from := 0; from < q.Rows; from += 256 {
		block := features.Part(q, from, min(256, q.Rows-from))
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, block, block, 0, part)
		for i, v := range part.Data {
			gram.RawMatrix().Data[i] += float64(v)
		}
	}
	return gram
}

// orthonormal32 writes an orthonormal basis of the columns of y to q, up to rounding, by two Cholesky factorisations; y
// is overwritten.
func orthonormal32(y, q blas32.General) {
	lengths := make([]float32, y.Cols) // against overflow and underflow of float32
	for j := range lengths {
		var square float64
		for i := range y.Rows {
			v := float64(y.Data[i*y.Stride+j])
			square += v * v
		}
		if lengths[j] = 1; square > 0 {
			lengths[j] = float32(1 / math.Sqrt(square))
		}
	}
	for i := range y.Rows {
		for j, v := range features.Row(y, i) {
			y.Data[i*y.Stride+j] = v * lengths[j]
		}
	}
	from, to := y, q
	for range 2 {
		var factor mat.Dense
		inverseFactor(&factor, gramOf(from))
		narrow := features.NewMatrix(y.Cols, y.Cols)
		for i, v := range factor.RawMatrix().Data {
			narrow.Data[i] = float32(v)
		}
		multiplyInto(to, from, narrow)
		from, to = to, from
	}
	copy(q.Data, from.Data) // two rounds end in y's memory
}
