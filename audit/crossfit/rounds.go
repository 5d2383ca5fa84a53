package crossfit

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
	"winnow/features"
	"winnow/head"
)

// said receives the class probabilities of a row, and the weighing behind them.
type said func(c columned, row int, w weighing, p []float64)

// runRounds calls each for every round, or replays its results.
func runRounds(ctx context.Context, set features.Set, classes int, opts Options, do said) error {
	if opts.Shared == nil {
		return learnRounds(ctx, set, classes, opts, do)
	}
	return opts.Shared.replayCalls(do, func(do said) error { return learnRounds(ctx, set, classes, opts, do) })
}

// learnRounds calls each for every round.
func learnRounds(ctx context.Context, set features.Set, classes int, opts Options, do said) error {
	opts.Rounds, opts.kept = max(opts.Rounds, 1), new(int)
	opts.paced, opts.rates = map[int]bool{}, map[int]float64{}
	if len(opts.Parts) == 0 {
		opts.Parts = []int{set.Dim()}
	}
	if len(opts.Parts) > 1 || opts.Start == nil {
		err := opts.eachPart(set, func(part int, set features.Set) (err error) {
			start, err := head.SelfWhitening(ctx, set, head.Widest)
			opts.starts = append(opts.starts, start)
			return err
		})
		if err != nil {
			return fmt.Errorf("crossfit: %w", err)
		}
	} else {
		opts.starts = []*head.Head{opts.Start}
	}
	for opts.round = range opts.Rounds {
		one := opts
		one.Seed += uint64(opts.round)
		if err := learnByFold(ctx, set, classes, one, do); err != nil {
			return err
		}
	}
	return nil
}

// learnAll returns the evidence of every backbone on the images of a fold.
func learnAll(ctx context.Context, set features.Set, c columned, folds []int, fold int,
	opts Options) (*evidence, error) {
	var e *evidence
	err := opts.eachPart(set, func(part int, set features.Set) error {
		opts.part, opts.Start = part, opts.starts[part]
		one, err := learnFold(ctx, set, c, folds, fold, opts)
		if err != nil {
			return err
		}
		for i := range one.kinds {
			one.kinds[i].part = part
		}
		if e != nil {
			one.kinds = append(e.kinds, one.kinds...)
		}
		e = one
		return nil
	})
	return e, err
}

// eachPart calls do with the vectors of every backbone.
func (o *Options) eachPart(set features.Set, do func(part int, set features.Set) error) error {
	whole, from := set.X, 0
	for part, values := range o.Parts {
		set.X = blas32.General{Rows: whole.Rows, Cols: values, Stride: whole.Stride, Data: whole.Data[from:]}
		if err := do(part, set); err != nil {
			return err
		}
		from += values
	}
	return nil
}

// poolRounds judges by the mean log probabilities of several rounds. It needs 4 bytes for each row and class besides
// the memory of a round.
func poolRounds(ctx context.Context, set features.Set, classes int, opts Options, v judges.Opinion) error {
	var sums []float32
	var r []float64
	var known columned
	share := 1 / float64(opts.Rounds)
	err := runRounds(ctx, set, classes, opts, func(c columned, row int, w weighing, p []float64) {
		if sums == nil {
			known, sums, r = c, make([]float32, set.Len()*len(p)), make([]float64, len(p))
		}
		w.fillPosterior(r, p, c.of[row])
		for k, q := range r {
			sums[row*len(p)+k] += float32(math.Log(math.Max(q, 1e-300)) * share)
		}
	})
	if err != nil {
		return err
	}
	for row, y := range known.of {
		if y < 0 {
			continue
		}
		said := sums[row*len(r):][:len(r)]
		best, most := y, math.Inf(-1)
		for k, s := range said {
			if r[k] = float64(s); s > said[best] {
				best = k
			}
			if k != y {
				most = math.Max(most, r[k])
			}
		}
		var rest float64
		for k, s := range r {
			if k != y {
				rest += math.Exp(s - most)
			}
		}
		v.Order[row] = r[y] - most - math.Log(rest)
		features.Softmax(r, r)
		v.Score[row], v.Suggested[row], v.SuggestedScore[row] = r[y], known.classes[best], r[best]
	}
	return nil
}
