package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"winnow/datasets/glyphs"
	"winnow/features"
	"winnow/train"
)

// settings are the settings of a training run.
type settings struct {
	Steps, Batch int
	Rate, Decay  float64 // peak of the learning rate, weight decay
	Smooth       float64 // share of the target spread over all classes
	Seed         uint64
	Conditions   glyphs.Conditions
}

// newSolver returns AdamW with a rate that rises linearly over 200 steps (a tenth of a shorter run) and falls by
// half a cosine.
func (s settings) newSolver() (train.Solver, train.Schedule, error) {
	c := train.DefaultSolver("adamw")
	c.LR, c.WeightDecay = train.GivenLR(s.Rate), s.Decay
	cosine := train.ScheduleConfig{Name: "cosine", Warmup: min(200, s.Steps/10)}
	schedule, err := train.NewSchedule(cosine, s.Rate, s.Steps, s.Steps)
	if err != nil {
		return nil, schedule, err
	}
	solver, err := train.NewSolver(c)
	return solver, schedule, err
}

// trainNetwork trains on s.Steps new batches of the stream and logs a line now and then.
func trainNetwork(ctx context.Context, n *network, data *stream, s settings, log io.Writer) error {
	solver, schedule, err := s.newSolver()
	if err != nil {
		return err
	}
	pixels, classes := make([]float32, s.Batch*glyphs.Size*glyphs.Size), make([]int, s.Batch)
	x, dx := features.NewMatrix(s.Batch, n.live.Dim()), features.NewMatrix(s.Batch, n.live.Dim())
	logits := features.NewMatrix(s.Batch, len(data.characters))
	start := time.Now()
	var loss, accuracy float64
	const every = 100
	for step := range s.Steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		data.drawBatch(pixels, classes, step*s.Batch, s.Batch)
		if err := n.live.Forward(x, [][]float32{pixels}, s.Batch, true); err != nil {
			return err
		}
		n.classifier.Forward(logits, x)
		l, a := crossEntropy(logits, classes, s.Smooth)
		if math.IsNaN(l) || math.IsInf(l, 0) {
			return fmt.Errorf("glyphnet: step %d: loss is %v", step, l)
		}
		n.classifier.Backward(dx, x, logits, 0)
		if err := n.live.Backward(dx, false); err != nil {
			return err
		}
		solver.Step(n.listParams(), schedule.At(step))
		loss, accuracy = loss+l/every, accuracy+a/every
		if (step+1)%every == 0 {
			fmt.Fprintf(log, "step %d: loss %.3f, accuracy %.3f, %.0f images/s\n", step+1, loss, accuracy,
				float64((step+1)*s.Batch)/time.Since(start).Seconds())
			loss, accuracy = 0, 0
		}
	}
	return nil
}
