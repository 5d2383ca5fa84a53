package quickstart

import (
	"winnow/papers/watch"
	"winnow/train"
)

// curves record a training over epochs.
type curves struct {
	name  string
	tone  int
	epoch int   // steps of an epoch
	loss  curve // of every step
	trace *watch.Filter
	score curve // P@1 on validation
}

type curve struct{ x, y []float64 }

func (c *curve) add(x, y float64) { c.x, c.y = append(c.x, x), append(c.y, y) }

func (c *curves) epochs(step int) float64 { return float64(step) / float64(c.epoch) }

// stepped records a step and compares its filtering with the truth, which the trainer does not know.
func (c *curves) stepped(s train.Step) {
	c.loss.add(c.epochs(s.Number), s.Loss)
	c.trace.Step(s.Number, s.IDs, s.Kept, s.Scores, s.Unjudged, s.Judge)
}
