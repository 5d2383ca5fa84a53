package main

import (
	"winnow/datasets"
	"winnow/train"
)

// demoCurves are what one training looked like, over epochs.
type demoCurves struct {
	name   string
	tone   int
	epoch  int       // steps of one
	loss   demoCurve // of every step
	purity demoCurve // share of clean among kept, of every step that kept any
	score  demoCurve // P@1 on validation
}

type demoCurve struct{ x, y []float64 }

func (c *demoCurve) add(x, y float64) { c.x, c.y = append(c.x, x), append(c.y, y) }

func (c *demoCurves) epochs(step int) float64 { return float64(step) / float64(c.epoch) }

// stepped notes a step: what eval knows (the truth) and the trainer does not meets here.
func (c *demoCurves) stepped(s train.Step, labels *datasets.Dataset) {
	at := c.epochs(s.Number)
	c.loss.add(at, s.Loss)
	clean := 0
	for _, row := range s.Kept {
		if sample := labels.Samples[s.IDs[row]]; sample.True == datasets.Unlabelled || sample.True == sample.Label {
			clean++
		}
	}
	if len(s.Kept) > 0 {
		c.purity.add(at, float64(clean)/float64(len(s.Kept)))
	}
}
