package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/features"
	"winnow/train"
)

// The shares of wrong validation labels, and the number of draws of each.
var choiceRates = []float64{0, 0.1, 0.2, 0.35, 0.5}

const choiceDraws = 200

// choices records what validation would choose if its labels were as unreliable as those of the training images.
type choices struct {
	set     features.Set // validation images as stored, with their true labels
	classes []int        // classes of these labels
	nearest [][]int      // by epoch, from 0: each image's nearest other
}

func newChoices(d *datasets.Dataset, set features.Set) *choices {
	c := &choices{set: set}
	c.set.Labels = nil
	for _, id := range set.IDs {
		c.set.Labels = append(c.set.Labels, d.Samples[id].True)
	}
	c.classes = slices.Compact(slices.Sorted(slices.Values(c.set.Labels)))
	return c
}

// see records the nearest image of each, given the network's unit vectors after another epoch.
func (c *choices) see(z features.Set) {
	n := z.Len()
	s := features.NewMatrix(n, n)
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, z.X, z.X, 0, s)
	nearest := make([]int, n)
	for i := range nearest {
		best := math.Inf(-1)
		for j, v := range s.Data[i*s.Stride : i*s.Stride+n] {
			if j != i && float64(v) > best {
				best, nearest[i] = float64(v), j
			}
		}
	}
	c.nearest = append(c.nearest, nearest)
}

// precision returns P@1 after every epoch by labels.
func (c *choices) precision(labels []int) (p []float64) {
	for _, nearest := range c.nearest {
		right := 0
		for i, j := range nearest {
			if labels[i] == labels[j] {
				right++
			}
		}
		p = append(p, float64(right)/float64(len(nearest)))
	}
	return p
}

// flipped returns the labels with a share of them moved to random other classes.
func (c *choices) flipped(rate float64, rng *rand.Rand) []int {
	labels := slices.Clone(c.set.Labels)
	for i, y := range labels {
		if rng.Float64() < rate {
			for labels[i] == y {
				labels[i] = c.classes[rng.IntN(len(c.classes))]
			}
		}
	}
	return labels
}

// table returns for each rate: how often the best epoch is chosen, the loss of P@1 by true labels in the mean and at
// the 95th percentile, and the loss of the last epoch.
func (c *choices) table() (lines [][]string) {
	truth := c.precision(c.set.Labels)
	best := slices.Max(truth)
	for _, rate := range choiceRates {
		var lost []float64
		right := 0
		for draw := range choiceDraws {
			p := c.precision(c.flipped(rate, train.Rand(uint64(draw), "choice", int(100*rate))))
			chosen := slices.Index(p, slices.Max(p))
			if lost = append(lost, best-truth[chosen]); truth[chosen] == best {
				right++
			}
		}
		slices.Sort(lost)
		sum := 0.0
		for _, l := range lost {
			sum += l
		}
		lines = append(lines, line(rate, float64(right)/choiceDraws, sum/choiceDraws, lost[choiceDraws*19/20],
			best-truth[len(truth)-1], best))
	}
	return lines
}
