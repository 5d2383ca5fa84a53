package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"winnow/datasets/glyphs"
)

// settings of a training run.
type settings struct {
	Steps, Batch int
	Rate, Decay  float64 // peak of the learning rate, weight decay
	Smooth       float64 // share of the target spread over all classes
	Seed         uint64
	WarmUp       int
	Conditions   glyphs.Conditions
}

// crossEntropy overwrites the logits with ∂L/∂logits and returns the mean loss and the share of right answers.
//
//	L = -1/n Σ_i Σ_k t_ik·log softmax(logits_i)_k,  t_ik = (1-s)·[k = class_i] + s/classes
func crossEntropy(logits []float32, classes []int, smooth float64) (loss, accuracy float64) {
	n := len(classes)
	w := len(logits) / n
	for i, class := range classes {
		row := logits[i*w : (i+1)*w]
		best, total := 0, 0.0
		for k, v := range row {
			if v > row[best] {
				best = k
			}
			total += float64(v)
		}
		if best == class {
			accuracy += 1 / float64(n)
		}
		top, sum := float64(row[best]), 0.0
		for _, v := range row {
			sum += math.Exp(float64(v) - top)
		}
		logSum := top + math.Log(sum)
		loss += (logSum - (1-smooth)*float64(row[class]) - smooth*total/float64(w)) / float64(n)
		for k, v := range row {
			row[k] = float32((math.Exp(float64(v)-logSum) - smooth/float64(w)) / float64(n))
		}
		row[class] -= float32((1 - smooth) / float64(n))
	}
	return loss, accuracy
}

// train shows the network s.Steps fresh batches of the stream; every now and then a line goes to log.
func train(ctx context.Context, m *net, data *stream, s settings, log io.Writer) error {
	solver := newAdam(m.params(), s.Decay)
	x := make([]float32, s.Batch*glyphs.Size*glyphs.Size)
	classes := make([]int, s.Batch)
	start := time.Now()
	var loss, accuracy float64
	const every = 100
	for step := range s.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		data.batch(x, classes, step*s.Batch, s.Batch)
		logits := m.classify(m.features(x, s.Batch, true), s.Batch)
		l, a := crossEntropy(logits, classes, s.Smooth)
		if math.IsNaN(l) || math.IsInf(l, 0) {
			return fmt.Errorf("glyphnet: step %d: loss is %v", step, l)
		}
		m.backward(logits, s.Batch)
		solver.step(s.rate(step))
		loss, accuracy = loss+l/every, accuracy+a/every
		if (step+1)%every == 0 {
			fmt.Fprintf(log, "step %d: loss %.3f, accuracy %.3f, %.0f images/s\n", step+1, loss, accuracy,
				float64((step+1)*s.Batch)/time.Since(start).Seconds())
			loss, accuracy = 0, 0
		}
	}
	return nil
}

// rate rises linearly over the warm-up and falls by half a cosine.
func (s settings) rate(step int) float64 {
	if step < s.WarmUp {
		return s.Rate * float64(step+1) / float64(s.WarmUp)
	}
	return s.Rate * 0.5 * (1 + math.Cos(math.Pi*float64(step-s.WarmUp)/float64(s.Steps-s.WarmUp)))
}
