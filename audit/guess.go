package audit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
)

// Guess says of which classes an image without a label may be.
type Guess struct {
	Row     int      // in the set
	Classes []Likely // likeliest first
}

// Likely is a class and its probability.
type Likely struct {
	Class       int
	Probability float64
}

// guessed is the number of classes of a [Guess], and guessedAtOnce bounds the similarities held at once.
const (
	guessed       = 3
	guessedAtOnce = 1 << 24
)

// Guesses returns the likeliest classes of the rows of set without a label, by their cosines t_k to the centres of the
// classes in whitened space:
//
//	P(k|x) = softmax_k(β t_k)
//
// with β by the likelihood of the given labels, each image left out of its class ([noiserate.Calibrate]), so that wrong
// labels do not make it less certain than it is. Every class is taken to be as frequent as the others. Classes with
// fewer than two images are never guessed; without two others nothing is. Time O(n·d·min(n, d) + m·C·d) for m rows
// without a label.
func Guesses(ctx context.Context, set features.Set, classes int) ([]Guess, error) {
	white, start, free, err := judgedVectors(ctx, set, true, &Shared{alone: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = free() }()
	s, err := leaveout.New(white, classes)
	if err != nil { // there are not two classes with two images
		return nil, nil
	}
	c, err := noiserate.Calibrate(ctx, s)
	if err != nil {
		return nil, err
	}
	centres := s.Centres()
	var rows []int
	for i, y := range set.Labels {
		if y == features.Unlabelled {
			rows = append(rows, i)
		}
	}
	var list []Guess
	for step := max(guessedAtOnce/centres.Rows, 1); len(rows) > 0; rows = rows[min(step, len(rows)):] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some := rows[:min(step, len(rows))]
		z, err := start.EmbedSet(ctx, set.Rows(some))
		if err != nil {
			return nil, err
		}
		sims := features.NewMatrix(len(some), centres.Rows)
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, z.X, centres, 0, sims)
		for i, row := range some {
			list = append(list, Guess{Row: row, Classes: rankLikeliest(features.Row(sims, i), c.Beta, s.Classes)})
		}
	}
	return list, nil
}

// rankLikeliest returns the largest entries of softmax(β·sims), by the classes of its columns.
func rankLikeliest(sims []float32, beta float64, classes []int) []Likely {
	top, sum := slices.Max(sims), 0.0
	for _, t := range sims {
		sum += math.Exp(beta * float64(t-top))
	}
	var list []Likely
	for k, t := range sims {
		l := Likely{Class: classes[k], Probability: math.Exp(beta*float64(t-top)) / sum}
		at, _ := slices.BinarySearchFunc(list, l, func(a, b Likely) int {
			return cmp.Or(cmp.Compare(b.Probability, a.Probability), cmp.Compare(a.Class, b.Class))
		})
		if at < guessed {
			list = slices.Insert(list, at, l)
			list = list[:min(guessed, len(list))]
		}
	}
	return list
}
