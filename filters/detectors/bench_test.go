package detectors

import (
	"context"
	"testing"
	"time"

	"winnow/features"
	"winnow/internal/testing/orttest"
)

// BenchmarkSelect compares the votes of a set with the bare products of all its pairs.
func BenchmarkSelect(b *testing.B) {
	orttest.UseBLAS(b)
	z, _ := world(1, 12000, 128, 100, 0.2)
	u, err := unitCopy(z, 100)
	if err != nil {
		b.Fatal(err)
	}
	var scratch []float32
	var bare, all time.Duration
	for b.Loop() {
		start := time.Now()
		for from := 0; from < u.Len(); from += blockRows {
			for left := 0; left < u.Len(); left += blockCols {
				features.Products(&scratch, features.Part(u.X, from, min(blockRows, u.Len()-from)),
					features.Part(u.X, left, min(blockCols, u.Len()-left)))
			}
		}
		middle := time.Now()
		if _, err := DefaultSelCL().Select(context.Background(), z, 100); err != nil {
			b.Fatal(err)
		}
		bare, all = bare+middle.Sub(start), all+time.Since(middle)
	}
	b.ReportMetric(float64(all)/float64(bare), "select/products")
	b.ReportMetric(float64(all.Nanoseconds())/float64(b.N)/12000/12000, "ns/pair")
}

func BenchmarkDetect(b *testing.B) {
	orttest.UseBLAS(b)
	z, _ := world(1, 12000, 128, 100, 0.2)
	for b.Loop() {
		if _, err := DefaultTCL().Clean(z, 100); err != nil {
			b.Fatal(err)
		}
	}
}
