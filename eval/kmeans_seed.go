package eval

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// points holds rows relative to their mean, and their squared lengths.
type points struct {
	x      blas32.General
	mean   []float64
	square []float64
	maxMem Bytes
}

func newPoints(x blas32.General, maxMem Bytes) (*points, error) {
	p := &points{x: features.NewMatrix(x.Rows, x.Cols), mean: make([]float64, x.Cols), square: make([]float64, x.Rows),
		maxMem: maxMem}
	for i := range x.Rows {
		for j, v := range features.Row(x, i) {
			p.mean[j] += float64(v)
		}
	}
	for j := range p.mean {
		p.mean[j] /= float64(x.Rows)
	}
	for i := range x.Rows {
		row := features.Row(p.x, i)
		for j, v := range features.Row(x, i) {
			row[j] = float32(float64(v) - p.mean[j])
			p.square[i] += float64(row[j]) * float64(row[j])
		}
		if math.IsNaN(p.square[i]) || math.IsInf(p.square[i], 0) {
			return nil, fmt.Errorf("eval: row %d: squared distance from the mean is %v, expected a finite number", i,
				p.square[i])
		}
	}
	return p, nil
}

// resolution is the largest error of a squared distance in float32 products, relative to |x|² + |c|². Rows that are
// closer than this are treated as equal.
const resolution = 1e-6

// seedCentres draws the initial centres of every start. All starts advance together: a step is one product with a
// column for each.
func (p *points) seedCentres(ctx context.Context, k int, opts KMeansOptions) ([]blas32.General, error) {
	n, starts := p.x.Rows, opts.Starts
	draws, chosen, distance := make([]*rand.Rand, starts), make([][]int, starts), make([][]float64, starts)
	for s := range starts {
		draws[s] = rand.New(rand.NewPCG(opts.Seed, binary.BigEndian.Uint64([]byte("kmeans\x00\x00"))+uint64(s)))
		chosen[s] = append(make([]int, 0, k), draws[s].IntN(n))
		distance[s] = slices.Repeat([]float64{math.Inf(1)}, n)
	}
	last := features.NewMatrix(starts, p.x.Cols)
	for step := 1; step < k; step++ {
		for s := range starts {
			copy(features.Row(last, s), features.Row(p.x, chosen[s][len(chosen[s])-1]))
		}
		err := eachRow(ctx, p.x, last, p.maxMem, func(i int, dot []float32, _ *ranker) {
			for s, v := range dot {
				of := p.square[chosen[s][len(chosen[s])-1]]
				d := p.square[i] + of - 2*float64(v)
				if d < resolution*(p.square[i]+of) {
					d = 0
				}
				distance[s][i] = min(distance[s][i], d)
			}
		})
		if err != nil {
			return nil, err
		}
		for s := range starts {
			if row := drawShare(draws[s], distance[s]); row >= 0 {
				chosen[s] = append(chosen[s], row)
			}
		}
	}
	out := make([]blas32.General, starts)
	for s := range starts {
		out[s] = features.Set{X: p.x}.Rows(chosen[s]).X
	}
	return out, nil
}

// drawShare draws an index with probability proportional to its share, or returns -1 if all shares are 0.
func drawShare(rng *rand.Rand, shares []float64) int {
	total := 0.0
	for _, v := range shares {
		total += v
	}
	at, last := rng.Float64()*total, -1
	for i, v := range shares {
		if v > 0 {
			if last = i; at < v {
				break
			}
			at -= v
		}
	}
	return last
}
