package peers

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

// resumable returns settings of runs with every kind of state: a warm-up that ends, an estimate during the run, and
// a change of beta1.
func resumable() map[string]Config {
	plus := Default(CoTeachingPlus)
	plus.Rate, plus.Gradual, plus.WarmUp = 0.3, 3, 2
	estimated := Default(FCorrection)
	estimated.Transition, estimated.FirstStage = Estimated, 11
	return map[string]Config{"co-teaching-plus": plus, "f-correction": estimated}
}

func resumeBed(t testing.TB, cfg Config, dir string) (*bed, *train.Trainer) {
	t.Helper()
	set, truth := clusters(7, 5, 40, anyOther(5, 0.3))
	b := newBed(t, cfg, set, truth, 5, 7, 1)
	b.cfg.Dir, b.cfg.Clip, b.cfg.Identity = dir, 3, map[string]string{"seed": "1"}
	b.cfg.Now = func() time.Time { return time.Unix(1700000000, 0) }
	b.cfg.ValidateEvery, b.cfg.CheckpointEvery = 6, 5
	b.cfg.Validate = func(ctx context.Context) (float64, error) { return b.precision1(t, set, truth), ctx.Err() }
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
	for _, p := range slices.Concat(b.networks.Params(), b.networks.State()) {
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
		out = append(out, []byte{byte(math.Float32bits(v)), byte(math.Float32bits(v) >> 8),
			byte(math.Float32bits(v) >> 16), byte(math.Float32bits(v) >> 24)}...)
	}
	return out
}

// same reports whether two runs ended with the same parameters and files.
func same(a, b [][]byte) bool { return slices.EqualFunc(a, b, slices.Equal[[]byte]) }

// A run that is stopped after any step and resumed ends with the same bits as an uninterrupted run: the weights of
// both networks, the estimate, the metrics and the checkpoint.
func TestResumedRunIsTheSame(t *testing.T) {
	for name, cfg := range resumable() {
		dir := t.TempDir()
		b, tr := resumeBed(t, cfg, dir)
		if _, err := tr.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := ending(t, b, tr, dir)
		// the estimate is made between steps 11 and 12
		for _, cut := range []int{1, 5, 8, 10, 11, 12, 13, 17, 22, b.cfg.Steps - 1} {
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(context.Background())
			b, _ := resumeBed(t, cfg, dir)
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
				t.Fatalf("%s: cut after step %d: %v", name, cut, err)
			}
			again, tr := resumeBed(t, cfg, dir)
			if found, err := tr.Resume(); err != nil || !found {
				t.Fatalf("%s: cut after step %d: found %v, %v", name, cut, found, err)
			}
			if tr.Done() != cut {
				t.Fatalf("%s: resumed after step %d, expected %d", name, tr.Done(), cut)
			}
			if cut == 17 { // one changed number in the last parameter must make the runs differ
				p := slices.Concat(again.networks.Params(), again.networks.State())
				p[len(p)-1].Data[0] += 1e-3
			}
			if _, err := tr.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := same(want, ending(t, again, tr, dir)); got != (cut != 17) {
				t.Errorf("%s: cut after step %d: the same as the whole run: %v", name, cut, got)
			}
		}
	}
}

// A run of another method does not accept the checkpoint.
func TestResumeRefusesOtherNetworks(t *testing.T) {
	dir := t.TempDir()
	_, tr := resumeBed(t, resumable()["f-correction"], dir)
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, other := resumeBed(t, resumable()["co-teaching-plus"], dir)
	var broken *train.CheckpointError
	if _, err := other.Resume(); !errors.As(err, &broken) {
		t.Errorf("Resume returned %v, expected an error", err)
	}
}
