package eval

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// KMeansOptions are the settings of a clustering; a zero value means the default.
type KMeansOptions struct {
	Starts     int    // number of k-means++ starts, of which the best is used; default 5
	Iterations int    // limit for one start; default 100
	Seed       uint64 // seeds all random draws
	MaxMem     Bytes  // bytes of similarities in memory at once; default DefaultMaxMem
}

// Clusters is a partition of n rows around k centres.
type Clusters struct {
	Of         []int          // n cluster numbers, 0 … k-1
	Centres    blas32.General // k×d, the means of their rows; k is less than requested if there are fewer distinct rows
	Inertia    float64        // Σ_i |x_i - centre of x_i|²
	Iterations int            // iterations of the best start
	Converged  bool           // the last iteration of the best start moved no row
	Start      int            // the number of the best start
}

// KMeans divides the rows of x into at most k clusters with a small inertia
//
//	Σ_i min_c |x_i - μ_c|²
//
// It returns the best of several starts of Lloyd's iteration. Each start uses k-means++: the first row is drawn
// uniformly, and each further row with probability proportional to its squared distance from the nearest row drawn so
// far. Rows are n×d of any length, centred in a copy. Distances are float32 products |x|² - 2x·μ + |μ|²; sums are
// float64. A cluster that loses its last row gets the row farthest from its own centre; ties go to the lower cluster
// and the lower row. The same seed gives the same bits on the same machine. Fewer than k distinct rows, within the
// resolution of float32, give one cluster per distinct row. Time O(starts·iterations·n·k·d), through blas32 in blocks
// of at most MaxMem; memory another n×d. Source: Lloyd, Least Squares Quantization in PCM, 1982; Arthur and
// Vassilvitskii, k-means++, SODA 2007.
func KMeans(ctx context.Context, x blas32.General, k int, opts KMeansOptions) (Clusters, error) {
	if k < 1 || x.Rows < 1 {
		return Clusters{}, fmt.Errorf("eval: k-means: %d clusters of %d rows, expected at least one of each", k, x.Rows)
	}
	if opts.Starts < 1 {
		opts.Starts = 5
	}
	if opts.Iterations < 1 {
		opts.Iterations = 100
	}
	p, err := newPoints(x, opts.MaxMem)
	if err != nil {
		return Clusters{}, err
	}
	starts, err := p.seedCentres(ctx, min(k, x.Rows), opts)
	if err != nil {
		return Clusters{}, err
	}
	best := Clusters{Inertia: math.Inf(1)}
	for i, centres := range starts {
		c, err := p.runLloyd(ctx, centres, opts.Iterations)
		if err != nil {
			return Clusters{}, err
		}
		if c.Start = i; c.Inertia < best.Inertia {
			best = c
		}
	}
	for c := range best.Centres.Rows {
		for j, v := range features.Row(best.Centres, c) {
			features.Row(best.Centres, c)[j] = float32(float64(v) + p.mean[j])
		}
	}
	return best, nil
}

// runLloyd assigns rows to their nearest centres and moves the centres to their rows' means, until no row moves.
func (p *points) runLloyd(ctx context.Context, centres blas32.General, limit int) (Clusters, error) {
	out := Clusters{Of: slices.Repeat([]int{-1}, p.x.Rows), Centres: centres}
	far := make([]float64, p.x.Rows)
	var g groups
	for out.Iterations < limit && !out.Converged {
		out.Iterations++
		moved, err := p.assignRows(ctx, out, far)
		if err != nil {
			return out, err
		}
		if out.Converged = !moved; moved {
			g.sortClusters(out.Of, centres.Rows)
			g.fillEmpty(out.Of, far)
			p.moveCentres(g, centres)
		}
	}
	out.Inertia = p.computeInertia(&g, out.Of, centres.Rows)
	return out, nil
}

// assignRows finds the nearest centre of every row and its squared distance, and reports whether any row moved.
func (p *points) assignRows(ctx context.Context, c Clusters, far []float64) (bool, error) {
	half := make([]float32, c.Centres.Rows) // |μ|²/2: the nearest centre has the greatest x·μ - |μ|²/2
	for k := range half {
		sum := 0.0
		for _, v := range features.Row(c.Centres, k) {
			sum += float64(v) * float64(v)
		}
		half[k] = float32(sum / 2)
	}
	moved := make([]bool, p.x.Rows)
	err := eachRow(ctx, p.x, c.Centres, p.maxMem, func(i int, dot []float32, _ *ranker) {
		best, most := 0, dot[0]-half[0]
		for k, v := range dot {
			if v -= half[k]; v > most {
				best, most = k, v
			}
		}
		moved[i] = c.Of[i] != best
		c.Of[i], far[i] = best, p.square[i]-2*float64(most)
		if far[i] < 2*resolution*p.square[i] {
			far[i] = 0
		}
	})
	return slices.Contains(moved, true), err
}

// moveCentres moves every centre to the mean of its rows. Rows are summed in an order independent of the number of
// cores.
func (p *points) moveCentres(g groups, centres blas32.General) {
	workers := runtime.GOMAXPROCS(0)
	var group errgroup.Group
	for w := range workers {
		group.Go(func() error {
			sum := make([]float64, p.x.Cols)
			for k := w; k < centres.Rows; k += workers {
				if rows := g.clusterRows(k); len(rows) > 0 {
					p.mean64(sum, rows)
					for j, v := range sum {
						features.Row(centres, k)[j] = float32(v)
					}
				}
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
}

// mean64 writes the mean of the listed rows.
func (p *points) mean64(dst []float64, rows []int32) {
	clear(dst)
	for _, i := range rows {
		for j, v := range features.Row(p.x, int(i)) {
			dst[j] += float64(v)
		}
	}
	for j := range dst {
		dst[j] /= float64(len(rows))
	}
}

// computeInertia returns the sum of squared distances from the means, computed in float64.
func (p *points) computeInertia(g *groups, of []int, k int) float64 {
	g.sortClusters(of, k)
	total, mean := 0.0, make([]float64, p.x.Cols)
	for c := range k {
		p.mean64(mean, g.clusterRows(c))
		for _, i := range g.clusterRows(c) {
			for j, v := range features.Row(p.x, int(i)) {
				total += (float64(v) - mean[j]) * (float64(v) - mean[j])
			}
		}
	}
	return total
}
