package eval

import (
	"context"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/testing/orttest"
)

// BenchmarkRetrieveSOP measures the whole evaluation at the size of SOP (Stanford Online Products), each of 60,502
// images against all others, and the matrix products without the ranking in the same run. It takes half a minute on 2
// cores.
func BenchmarkRetrieveSOP(b *testing.B) {
	orttest.UseBLAS(b)
	set := blobs(1, 60502, 512, 11316, 1)
	var bare, all time.Duration
	for b.Loop() {
		from := time.Now()
		if _, err := Retrieve(context.Background(), set, nil, RetrievalOptions{}); err != nil {
			b.Fatal(err)
		}
		all += time.Since(from)
		bare += bareProducts(set.X, set.X)
	}
	b.ReportMetric(bare.Seconds()/float64(b.N), "s/products")
	b.ReportMetric(all.Seconds()/bare.Seconds(), "×products")
}

// bareProducts returns the time of the matrix products of Retrieve, in the same blocks.
func bareProducts(q, g blas32.General) time.Duration {
	from := time.Now()
	block, err := blockRows(q.Rows, g.Rows, 0)
	if err != nil {
		panic(err)
	}
	s := features.NewMatrix(block, g.Rows)
	for at := 0; at < q.Rows; at += block {
		s.Rows = min(block, q.Rows-at)
		part := blas32.General{Rows: s.Rows, Cols: q.Cols, Stride: q.Stride, Data: q.Data[at*q.Stride:]}
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, part, g, 0, s)
	}
	return time.Since(from)
}
