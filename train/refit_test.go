package train

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refitted makes the head of a bed restart after the given number of steps and counts the restarts in times. A restart
// multiplies the weights by -1/2, so that a second restart would change the result.
func refitted(after int, times *int) func(*Config) {
	return func(c *Config) {
		e := c.Encoder.(*linear)
		c.Refit = &Refit{After: after, Do: func(context.Context) error {
			*times++
			for i := range e.w.Data {
				e.w.Data[i] = -e.w.Data[i] / 2
			}
			set := e.set.Rows([]int{3, 1, 4, 1, 5, 9})
			set.X, _ = e.embed(set.X)
			c.Bank.Clear()
			c.Bank.Push(set)
			return nil
		}}
	}
}

// A run that is interrupted before or after the refit and resumed ends with the same bits as an uninterrupted run.
func TestResumedRefitIsTheSame(t *testing.T) {
	const after = 18 // when validation and a checkpoint are also due
	var times int
	dir := t.TempDir()
	b := newBed(t, dir, refitted(after, &times))
	tr := b.trainer(t)
	must(tr.Run(t.Context()))
	want := endOf(t, b, dir)
	if times != 1 {
		t.Fatalf("the head restarted %d times, expected once", times)
	}
	for cut := 1; cut < b.cfg.Steps; cut++ {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		first := newBed(t, dir, refitted(after, new(int)))
		first.cfg.Observe = Together(first.cfg.Observe, On(func(s Step) {
			if s.Number == cut {
				cancel()
			}
		}))
		if _, err := first.trainer(t).Run(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		times = 0
		b := newBed(t, dir, refitted(after, &times))
		tr := b.trainer(t)
		must(tr.Resume())
		must(tr.Run(t.Context()))
		if before := cut <= after; before != (times == 1) {
			t.Errorf("interrupted after step %d: the head restarted %d times", cut, times)
		}
		if diff := cmp.Diff(want, endOf(t, b, dir)); diff != "" {
			t.Fatalf("interrupted after step %d: the resumed run differs (-whole +resumed):\n%s", cut, diff)
		}
	}
}

// The head's solver and the average of the weights restart with the head; the losses' solver continues.
func TestRefitForgets(t *testing.T) {
	b := newBed(t, "", refitted(20, new(int)))
	tr := b.trainer(t)
	for range 20 {
		must(tr.trainStep())
	}
	if !tr.refitDue() {
		t.Fatal("no refit is due after step 20, expected one")
	}
	if err := tr.refitHead(t.Context()); err != nil || tr.refitDue() || !tr.progress.Refitted {
		t.Fatalf("%v; due again: %v", err, tr.refitDue())
	}
	if head, losses := tr.groups[0].Solver.State(), tr.groups[1].Solver.State(); len(head.Params) > 0 ||
		len(losses.Params) == 0 {
		t.Errorf("the head's solver has state for %d parameters, expected 0; the losses' solver for %d, expected some",
			len(head.Params), len(losses.Params))
	}
}

// A refit that fails stops the run and changes neither head nor bank.
func TestRefitFails(t *testing.T) {
	b := newBed(t, "", refitted(20, new(int)))
	b.cfg.Refit.Do = func(context.Context) error { return errors.New("no images") }
	if _, err := b.trainer(t).Run(t.Context()); err == nil ||
		err.Error() != "train: restarting the head after step 20: no images" {
		t.Errorf("%v", err)
	}
}
