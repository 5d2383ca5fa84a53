package selective

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"winnow/features"
	"winnow/train"
)

// resumable returns the settings of a run with every phase: warm-up, selection and use of the queue.
func resumable(method string) Config {
	c := Default(method)
	c.WarmUp = 1
	if method == SelCL {
		c.Queue, c.Negatives, c.QueueStart = 9, 70, 2 // both queues wrap around
	}
	return c
}

func resumeBed(t testing.TB, cfg Config, dir string) (*bed, *train.Trainer) {
	t.Helper()
	set, truth := clusters(7, 5, 40, 0.3)
	b := newBed(t, cfg, set, truth, 5, 5, 1)
	b.cfg.Dir, b.cfg.Clip, b.cfg.Identity = dir, 3, map[string]string{"seed": "1"}
	b.cfg.Now = func() time.Time { return time.Unix(1700000000, 0) }
	b.cfg.ValidateEvery, b.cfg.CheckpointEvery = 4, 5
	b.cfg.Validate = func(ctx context.Context) (float64, error) { return precision1(t, b.head, set, truth), ctx.Err() }
	tr, err := train.New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b, tr
}

// ending returns the final parameters and files of a run.
func ending(t testing.TB, b *bed, tr *train.Trainer, dir string) [][]byte {
	t.Helper()
	tr.UseBest()
	var list [][]byte
	for _, p := range slices.Concat(b.learner.Params(), b.learner.State()) {
		list = append(list, bytesOf(p))
	}
	for _, name := range []string{train.MetricsFile, train.CheckpointFile} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, data)
	}
	return list
}

func bytesOf(p *features.Param) []byte {
	out := []byte(p.Name)
	for _, v := range p.Data {
		b := math.Float32bits(v)
		out = append(out, byte(b), byte(b>>8), byte(b>>16), byte(b>>24))
	}
	return out
}

func same(a, b [][]byte) bool { return slices.EqualFunc(a, b, slices.Equal[[]byte]) }

// A run that is stopped after any step and resumed ends with the same bits as an uninterrupted run: weights,
// running average, queues, the state at the start of the epoch, metrics and checkpoint.
func TestResumedRunIsTheSame(t *testing.T) {
	for _, method := range Methods() {
		dir := t.TempDir()
		b, tr := resumeBed(t, resumable(method), dir)
		if _, err := tr.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := ending(t, b, tr, dir)
		for _, cut := range []int{1, 2, 3, 4, 7, 8, 11, b.cfg.Steps - 1} { // three steps per epoch
			for _, spoiled := range []bool{false, true} {
				if spoiled && cut != 7 {
					continue
				}
				dir := t.TempDir()
				ctx, cancel := context.WithCancel(context.Background())
				b, _ := resumeBed(t, resumable(method), dir)
				b.cfg.Observe = train.Together(b.cfg.Observe, train.On(func(s train.Step) {
					if s.Number == cut {
						cancel()
					}
				}))
				tr, err := train.New(b.cfg)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tr.Run(ctx); !errors.Is(err, context.Canceled) {
					t.Fatalf("%s: cut after step %d: %v", method, cut, err)
				}
				again, tr := resumeBed(t, resumable(method), dir)
				if found, err := tr.Resume(); err != nil || !found || tr.Done() != cut {
					t.Fatalf("%s: cut after step %d: found %v, done %d, %v", method, cut, found, tr.Done(), err)
				}
				if spoiled { // a changed state at the start of the epoch must make the runs differ
					again.learner.State()[0].Data[0] += 0.5
				}
				if _, err := tr.Run(context.Background()); err != nil {
					t.Fatal(err)
				}
				if got := same(want, ending(t, again, tr, dir)); got == spoiled {
					t.Errorf("%s: cut after step %d: the same as the whole run: %v", method, cut, got)
				}
			}
		}
	}
}
