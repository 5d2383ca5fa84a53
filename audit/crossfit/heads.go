package crossfit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/head"
	"winnow/train"
)

// Heads are trained on a sample by [Learn] and judge rows that they have not seen, on any machine. The exported
// fields are only for encoding.
type Heads struct {
	Classes []int // judged classes, rising
	Config  head.Config
	Start   [][]float32 // weights of the head before training
	Folds   []Fold
	Of      []int     // fold of each row of the sample
	Beta    []float64 // weights of similarities before training, after it, and beside heads
	Rho     float64
	Gain    float64 // log likelihood of held-out labels over chance, in nats for all of them together

	heads []*head.Head // Start and those of the folds, made when needed
}

// Fold judges the rows of one fold, which it has not seen.
type Fold struct {
	Weights [][]float32
	Means   []Means // of the classes, before and after the training
}

// askedOfSample is the number of similarities that the weighing is fitted to. One weighing serves all
// rows, so that folds can be compared.
const askedOfSample = 1 << 23

// Learn trains heads on a sample of a larger set, features of unit length: for each fold a head on the
// other folds, from opts.Start.
func Learn(ctx context.Context, set features.Set, classes int, opts Options) (*Heads, error) {
	opts.Folds = cmp.Or(opts.Folds, 5)
	opts.kept = new(int)
	if opts.Told == nil {
		opts.Told = func(int, int, int, string) {}
	}
	if opts.Folds < 2 || opts.Rounds > 1 || len(opts.Parts) > 1 || opts.Tune != nil || opts.Start == nil {
		return nil, errors.New("crossfit: a sample needs a start, one backbone, one division into two folds or more, " +
			"and no networks")
	}
	c, err := newColumned(set.Labels, classes, opts.findVoice)
	if err != nil {
		return nil, err
	}
	h := &Heads{
		Classes: c.classes,
		Config:  opts.Start.Config(),
		Start:   listWeights(opts.Start),
		Of:      make([]int, set.Len()),
	}
	folds := judges.Part(c.of, len(c.classes), opts.Folds, train.Rand(opts.Seed, "crossfit folds", 0))
	var rows []float32 // similarities of the labels that are asked
	var labels []int
	expected := weighing{rho: noiserate.Most}
	for f := range opts.Folds {
		e, err := learnFold(ctx, set, c, folds, f, opts)
		if err != nil {
			return nil, fmt.Errorf("crossfit: fold %d of %d: %w", f+1, opts.Folds, err)
		}
		if len(e.rows) == 0 { // so are the following folds
			break
		}
		step := max(1, set.Len()*e.classes*len(e.kinds)/askedOfSample)
		if err := e.visitEveryStep(ctx, step, func(i int, row []float32) {
			rows, labels = append(rows, row...), append(labels, c.of[e.rows[i]])
		}); err != nil {
			return nil, err
		}
		fold := Fold{Weights: listWeights(e.heads[1])}
		expected.beta = make([]float64, len(e.kinds))
		for m, k := range e.kinds {
			expected.rho = min(expected.rho, k.first.rho)
			if k.beside == nil {
				fold.Means = append(fold.Means, k.means)
			}
			if opts.Beside == nil {
				expected.beta[m] = k.first.beta[0] / float64(len(e.kinds))
			} else if k.beside != nil { // it knows all images, heads only some
				expected.beta[m] = k.first.beta[0]
			}
		}
		for _, row := range e.rows {
			h.Of[row] = f
		}
		h.Folds = append(h.Folds, fold)
	}
	w, err := fitWeighing(ctx, rows, labels, len(c.classes), expected, worth)
	h.Beta, h.Rho = w.beta, w.rho
	h.Gain = w.sumLogProbability(
		rows,
		labels,
		len(c.classes),
	) - float64(
		len(labels),
	)*chanceOf(
		c,
	) - float64(
		len(w.beta)+1,
	)
	return h, err
}

// chanceOf returns the mean log probability of the labels by the sizes of their classes.
func chanceOf(c columned) (v float64) {
	count, n := make([]float64, len(c.classes)), 0.0
	for _, k := range c.of {
		if k >= 0 {
			count[k]++
			n++
		}
	}
	for _, m := range count {
		v += m / n * math.Log(m/n)
	}
	return v
}

func listWeights(h *head.Head) (list [][]float32) {
	for _, p := range h.Params() {
		list = append(list, p.Data)
	}
	return list
}

// Blind reports whether held-out labels are predicted no better than by chance: then scores mean nothing.
func (h *Heads) Blind() bool { return h.Gain < judges.LeastGain(len(h.Classes)) }

// FoldOf returns the fold of a row of the whole set that is not in the sample.
func (h *Heads) FoldOf(row int) int { return row % len(h.Folds) }

// Judge judges rows of the whole set by their features, of unit length, labels, and folds. beside is
// Options.Beside for these rows.
func (h *Heads) Judge(ctx context.Context, x blas32.General, labels, folds []int,
	beside Beside) (judges.Opinion, error) {
	v := judges.Undecided(labels)
	w := weighing{h.Beta, h.Rho}
	if (len(w.beta) > 2) != (beside != nil) {
		return v, errors.New("crossfit: heads judge beside the similarities that they were weighed with, or without " +
			"if there were none")
	}
	if err := h.openHeads(); err != nil {
		return v, err
	}
	c := columned{classes: h.Classes, of: make([]int, len(labels))}
	column := map[int]int{}
	for k, y := range h.Classes {
		column[y] = k
	}
	members := make([][]int, len(h.Folds))
	for i, y := range labels {
		k, ok := column[y]
		if c.of[i] = k; !ok {
			c.of[i] = -1
			continue
		}
		members[folds[i]] = append(members[folds[i]], i)
	}
	p, r := make([]float64, len(h.Classes)), make([]float64, len(h.Classes))
	for f, rows := range members {
		if len(rows) == 0 {
			continue
		}
		fold := h.Folds[f]
		e := &evidence{rows: rows, classes: len(h.Classes)}
		some := features.Set{X: x}.Rows(rows).X
		for m, by := range []*head.Head{h.heads[0], h.heads[1+f]} {
			if err := e.addFoldImages(by, some, fold.Means[m]); err != nil {
				return v, err
			}
		}
		if beside != nil {
			e.kinds = append(e.kinds, kind{beside: beside})
		}
		err := e.visitEveryStep(ctx, 1, func(i int, row []float32) {
			w.fillProbabilities(p, row)
			c.setOpinion(v, rows[i], w, p, r)
		})
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// openHeads makes heads from their weights.
func (h *Heads) openHeads() error {
	if h.heads != nil {
		return nil
	}
	list := [][][]float32{h.Start}
	for _, f := range h.Folds {
		list = append(list, f.Weights)
	}
	var heads []*head.Head
	for _, values := range list {
		one, err := head.Restore(h.Config, values)
		if err != nil {
			return err
		}
		heads = append(heads, one)
	}
	h.heads = heads
	return nil
}
