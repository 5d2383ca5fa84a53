package judges

import (
	"log"
	"os"
)

// confusions judges by class centres and the channel.
func (b *bench) confusions() error {
	f := newField(b.s)
	order := make([]int32, f.classes)
	b.s.Each(func(i, y int, row []float64) { f.set(i, y, row, order) })
	return b.settle(f)
}

// settle judges every image by a field and the channel that fits it.
func (b *bench) settle(f *field) error {
	l := newLearner(f, b.folds(), b.opts.Folds)
	beta, prior, likelihood := l.choose()
	if os.Getenv("DEBUG") != "" {
		log.Printf("   beta %.1f prior %v likelihood %.4f", beta, prior, likelihood)
	}
	l.conclude(beta, prior, func(i int, odds float64, r []float64) {
		best := int(f.given[i])
		for j, v := range r {
			if v > r[best] {
				best = j
			}
		}
		b.say(i, odds, r[f.given[i]], int(f.column[i*f.m+best]), r[best])
	})
	return nil
}
