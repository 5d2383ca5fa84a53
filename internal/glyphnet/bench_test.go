package main

import (
	"testing"
	"time"

	"winnow/datasets/glyphs"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/models/architecture"
	"winnow/train"
)

// BenchmarkStep measures a training step of 128 images and its parts.
func BenchmarkStep(b *testing.B) {
	orttest.UseBLAS(b)
	described, err := architecture.Embedded("glyphnet")
	if err != nil {
		b.Fatal(err)
	}
	characters := glyphs.Characters(glyphs.Pretrain)
	data, err := newStream(characters, glyphs.Printed(), 1)
	if err != nil {
		b.Fatal(err)
	}
	n, err := newNetwork(orttest.Runtime(b), described, len(characters), 1)
	if err != nil {
		b.Fatal(err)
	}
	defer n.live.Close()
	solver, err := train.NewSolver(train.DefaultSolver("adamw"))
	if err != nil {
		b.Fatal(err)
	}
	const rows = 128
	pixels, classes := make([]float32, rows*glyphs.Size*glyphs.Size), make([]int, rows)
	x, dx, logits := features.NewMatrix(rows, n.live.Dim()), features.NewMatrix(rows, n.live.Dim()),
		features.NewMatrix(rows, len(characters))
	parts := []struct {
		name string
		do   func() error
	}{
		{"render-ms", func() error { data.drawBatch(pixels, classes, 0, rows); return nil }},
		{"forward-ms", func() error { return n.live.Forward(x, [][]float32{pixels}, rows, true) }},
		{"classify-ms", func() error {
			n.classifier.Forward(logits, x)
			crossEntropy(logits, classes, 0.05)
			n.classifier.Backward(dx, x, logits, 0)
			return nil
		}},
		{"backward-ms", func() error { return n.live.Backward(dx, false) }},
		{"solver-ms", func() error { solver.Step(n.listParams(), 1e-6); return nil }},
	}
	best := make([]time.Duration, len(parts))
	for b.Loop() {
		for i, p := range parts {
			start := time.Now()
			if err := p.do(); err != nil {
				b.Fatal(err)
			}
			if d := time.Since(start); best[i] == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	var sum time.Duration
	for i, p := range parts {
		b.ReportMetric(best[i].Seconds()*1e3, p.name)
		sum += best[i]
	}
	b.ReportMetric(rows/sum.Seconds(), "images/s")
}
