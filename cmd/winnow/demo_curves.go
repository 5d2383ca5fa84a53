package main

import (
	"winnow/papers/watch"
	"winnow/train"
)

// demoCurves are what one training looked like, over epochs.
type demoCurves struct {
	name  string
	tone  int
	epoch int       // steps of one
	loss  demoCurve // of every step
	trace *watch.Filter
	score demoCurve // P@1 on validation
}

type demoCurve struct{ x, y []float64 }

func (c *demoCurve) add(x, y float64) { c.x, c.y = append(c.x, x), append(c.y, y) }

func (c *demoCurves) epochs(step int) float64 { return float64(step) / float64(c.epoch) }

// stepped notes a step: what eval knows (the truth) and the trainer does not meets here.
func (c *demoCurves) stepped(s train.Step) {
	c.loss.add(c.epochs(s.Number), s.Loss)
	c.trace.Step(s.Number, s.IDs, s.Kept, s.Scores, s.Judge)
}
