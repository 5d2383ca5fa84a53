package judges

import (
	"fmt"
	"math"

	"winnow/eval"
	"winnow/features"
)

// penalties holds the L2 penalties to try for the probe.
var penalties = []float64{1e-3, 3e-4, 1e-4, 3e-5, 1e-5}

// outOfSample calls do for every image with the probabilities of the columns, by a softmax regression fitted to the
// other folds. The images of a class are dealt to the folds in turn, so that every fit has every class. The penalty
// maximises the likelihood of the given labels of the first fold.
func (b *bench) outOfSample(do func(i, y int, p []float64)) error {
	c := len(b.s.Classes)
	if b.probed == nil {
		b.probed = make([]float32, b.s.Z.Len()*c)
		if err := b.probeOutOfSample(b.probed); err != nil {
			return err
		}
	}
	p := make([]float64, c)
	for i, label := range b.s.Z.Labels {
		for k := range p {
			p[k] = float64(b.probed[i*c+k])
		}
		do(i, b.s.Column[label], p)
	}
	return nil
}

// probeOutOfSample fills probed with the probabilities out of sample, n×columns.
func (b *bench) probeOutOfSample(probed []float32) error {
	folds := b.assignFolds()
	l2, best := 0.0, math.Inf(-1)
	for _, candidate := range penalties {
		likelihood := 0.0
		if err := b.foldOut(folds, 0, candidate,
			func(_, y int, p []float64) { likelihood += math.Log(math.Max(p[y], 1e-300)) }); err != nil {
			return err
		}
		if likelihood > best {
			l2, best = candidate, likelihood
		}
	}
	for f := range b.opts.Folds {
		err := b.foldOut(folds, f, l2, func(i, _ int, p []float64) {
			for k, v := range p {
				probed[i*len(p)+k] = float32(v)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// assignFolds returns the fold of each image.
func (b *bench) assignFolds() []int {
	if b.folds == nil {
		b.folds = PartHeard(b.listLabelColumns(), len(b.s.Classes), b.opts.Folds, b.s.Voice, b.opts.Rand)
	}
	return b.folds
}

// splitFold returns the images to learn from, those outside the fold without duplicates, and the images in the fold.
func (b *bench) splitFold(folds []int, fold int) (in, out []int) {
	for i, f := range folds {
		if f == fold {
			out = append(out, i)
		} else if b.s.Voice(i) == i {
			in = append(in, i)
		}
	}
	return in, out
}

// foldOut fits a probe to the images outside a fold and calls do for the images in the fold.
func (b *bench) foldOut(folds []int, fold int, l2 float64, do func(i, y int, p []float64)) error {
	in, out := b.splitFold(folds, fold)
	if len(out) == 0 {
		return nil
	}
	fitted, err := eval.FitProbe(b.ctx, b.s.Z.Rows(in), eval.ProbeOptions{
		ClassifierOptions: eval.ClassifierOptions{MaxMem: eval.Bytes(b.opts.MaxMem)},
		L2:                l2, Iterations: 300, Tolerance: 1e-2,
	})
	if err != nil {
		return fmt.Errorf("judges: %w", err)
	}
	if len(fitted.Classes) != len(b.s.Classes) {
		return fmt.Errorf("judges: fold %d: the other folds have images of %d classes, expected %d", fold,
			len(fitted.Classes), len(b.s.Classes))
	}
	const block = 1024
	w, p := fitted.Weights(), make([]float64, len(fitted.W))
	var scratch []float32
	for from := 0; from < len(out); from += block {
		rows := out[from:min(from+block, len(out))]
		logits := features.Products(&scratch, b.s.Z.Rows(rows).X, w)
		for at, i := range rows {
			for k, v := range features.Row(logits, at) {
				p[k] = float64(v) + fitted.Bias[k]
			}
			features.Softmax(p, p)
			do(i, b.s.Column[b.s.Z.Labels[i]], p)
		}
	}
	return nil
}

// selfConfidence scores a label by its out-of-sample probability.
func (b *bench) selfConfidence() error {
	return b.outOfSample(func(i, y int, p []float64) { b.sayRow(i, y, p[y], p) })
}

// judgeConfident implements confident learning. It ranks labels by (1 + p_y - max_{k≠y} p_k)/2, where p are
// probabilities out of sample. It suggests the likeliest class k with p_k ≥ t_k, if there is one; t_k is the mean
// self-confidence of the images labelled k. Images assigned to another class than the given class (the off-diagonal of
// the confident joint) are the method's label errors. Ranking them before all other images is worse (CUB-200, a fifth
// wrong: AUROC 0.921). Source: Northcutt, Jiang & Chuang, "Confident learning", JAIR 2021, section 3.1 and 3.2.
func (b *bench) judgeConfident() error {
	c := len(b.s.Classes)
	bar, count := make([]float64, c), make([]float64, c)
	err := b.outOfSample(func(_, y int, p []float64) {
		bar[y] += p[y]
		count[y]++
	})
	if err != nil {
		return err
	}
	return b.outOfSample(func(i, y int, p []float64) {
		rival, placed := 0.0, -1
		for k, v := range p {
			if k != y {
				rival = max(rival, v)
			}
			if v >= bar[k]/count[k] && (placed < 0 || v > p[placed]) {
				placed = k
			}
		}
		score := (1 + p[y] - rival) / 2
		if placed >= 0 && placed != y {
			b.setVerdict(i, score, score, placed, (1+p[placed]-p[y])/2)
			return
		}
		b.setVerdict(i, score, score, y, score)
	})
}

// listLabelColumns returns the column of each image's label.
func (b *bench) listLabelColumns() []int {
	column := make([]int, b.s.Z.Len())
	for i, y := range b.s.Z.Labels {
		column[i] = b.s.Column[y]
	}
	return column
}
