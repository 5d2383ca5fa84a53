package train

import (
	"context"
	"slices"
	"testing"

	"winnow/features"
)

// foretold is an encoder that counts whether the rows of each Forward equal the rows announced before.
type foretold struct {
	*linear
	announced, next []int
	right, wrong    int
}

func (e *foretold) Announce(rows []int) { e.next = slices.Clone(rows) }

func (e *foretold) Forward(rows []int) (features.Set, error) {
	switch {
	case e.announced == nil:
	case slices.Equal(e.announced, rows):
		e.right++
	default:
		e.wrong++
	}
	e.announced, e.next = e.next, nil
	return e.linear.Forward(rows)
}

// Each batch is announced before the previous batch is embedded, except the first batch of an epoch.
func TestBatchesAreAnnounced(t *testing.T) {
	var e *foretold
	b := newBed(t, "", func(c *Config) {
		e = &foretold{linear: c.Encoder.(*linear)}
		c.Encoder = e
	})
	if _, err := b.trainer(t).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	last := b.cfg.Steps - 1
	if want := last - last/b.cfg.Sampler.Batches(); e.wrong > 0 || e.right != want || want == 0 || e.next != nil {
		t.Errorf("%d batches as announced and %d different, expected %d and 0", e.right, e.wrong, want)
	}
}
