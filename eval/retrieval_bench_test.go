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

// BenchmarkRetrieveProducts searches galleries of the papers' sizes and reports the time relative to the bare
// products of the same blocks, measured alternately in the same run. The gallery is all 60,502 test images of
// SOP in its 11,316 classes, or 6,000 images in 100. easy: neighbours share the label; hard: the vectors are
// unrelated to it. One call has 6,144 queries; all 60,502 take ten times as long with the same ratio.
func BenchmarkRetrieveProducts(b *testing.B) {
	orttest.UseBLAS(b)
	for _, size := range []struct {
		name       string
		n, classes int
	}{{"sop", 60502, 11316}, {"cub", 6000, 100}} {
		for name, spread := range map[string]float64{"easy": 1, "hard": 1000} {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				const queries = 6144
				gallery := blobs(1, size.n+queries, 512, size.classes, spread)
				query := features.Set{X: gallery.X, Labels: gallery.Labels[size.n:]}
				query.X.Rows, query.X.Data = queries, gallery.X.Data[size.n*512:]
				gallery.X.Rows, gallery.Labels = size.n, gallery.Labels[:size.n]
				var bare, all time.Duration
				var got Retrieval
				for b.Loop() {
					from := time.Now()
					var err error
					if got, err = Retrieve(context.Background(), query, &gallery, RetrievalOptions{}); err != nil {
						b.Fatal(err)
					}
					all += time.Since(from)
					bare += bareProducts(query.X, gallery.X)
				}
				b.ReportMetric(bare.Seconds()/float64(b.N), "s/products")
				b.ReportMetric(all.Seconds()/bare.Seconds(), "×products")
				b.ReportMetric(100*got.PrecisionAt1, "%P@1")
			})
		}
	}
}

// BenchmarkRetrieveSOP is the whole evaluation at SOP's size, each of 60,502 images against all others, and the
// products alone in the same run. A call takes half a minute on 2 cores.
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
