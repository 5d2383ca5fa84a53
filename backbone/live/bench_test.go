package live_test

import (
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/graph/gradient"
	"winnow/features"
)

// timed measures the time that is spent in the network.
type timed struct {
	backbone.LiveNetwork
	spent time.Duration
}

func (n *timed) Forward(dst blas32.General, inputs [][]float32, count int, keep bool) error {
	start := time.Now()
	defer func() { n.spent += time.Since(start) }()
	return n.LiveNetwork.Forward(dst, inputs, count, keep)
}

func (n *timed) Backward(d blas32.General, add bool) error {
	start := time.Now()
	defer func() { n.spent += time.Since(start) }()
	return n.LiveNetwork.Backward(d, add)
}

// BenchmarkStep measures one training step of a tiny network without loss and solver, to find the overhead outside of
// the network. A tiny network shows this best.
func BenchmarkStep(b *testing.B) {
	const batch = 64
	g := newGratings(1, 96)
	m, weights := network(2)
	for name, chunk := range map[string]int{"whole": 0, "chunks": 16} {
		b.Run(name, func(b *testing.B) {
			step := 0
			a, source := augmentation(&step)
			net := &timed{LiveNetwork: open(b, m, weights, gradient.BatchNorm{Train: true})}
			e := encode(b, g, net, pixels(b, g, a, source), batch, chunk)
			rows, dz := upTo(batch), features.NewMatrix(batch, 8)
			for i := range dz.Data {
				dz.Data[i] = float32(i%7) - 3
			}
			b.ReportAllocs()
			start := time.Now()
			net.spent = 0
			for b.Loop() {
				step++
				if _, err := e.Forward(rows); err != nil {
					b.Fatal(err)
				}
				if err := e.Backward(dz); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(100*(1-float64(net.spent)/float64(time.Since(start))), "%-outside")
			b.ReportMetric(batch*float64(b.N)/time.Since(start).Seconds(), "images/s")
		})
	}
}
