package graph_test

import (
	"fmt"
	"testing"

	"winnow/backbone/graph"
)

// BenchmarkFresh requests one name many times, as a derivative requests an operator's: the cost of a name must
// not grow with their number.
func BenchmarkFresh(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				g := graph.NewBuilder("many", 17)
				for range n {
					g.Fresh("Mul")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/name")
		})
	}
}
