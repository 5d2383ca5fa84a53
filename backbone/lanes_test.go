package backbone

import (
	"context"
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// several is a set of networks that share the batches.
type several []*sums

func (s several) Dim() int { return s[0].Dim() }

func (s several) Lanes() (list []Network) {
	for _, net := range s {
		list = append(list, net)
	}
	return list
}

// Infer makes several a Network. An extraction uses the lanes instead.
func (s several) Infer(dst blas32.General, pixels []float32, n int) error {
	return s[0].Infer(dst, pixels, n)
}

// extractBy is like extractTo, with any network.
func extractBy(t *testing.T, ctx context.Context, dir string, net Network, files fs.FS, paths []string) (rows int,
	err error) {
	t.Helper()
	w, err := features.Create(dir, plan(paths, 4), false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := Extract(ctx, ExtractConfig{Preprocessing: tiny, Batch: 4, Workers: 3}, net, files, paths, flushing{w},
		nil); err != nil {
		return w.Rows(), err
	}
	_, err = w.Finish(t.Context())
	return w.Rows(), err
}

// TestLanes checks that several networks compute at the same time, in turns, and produce the same store as one
// network, to the byte. They may even resume a store that one network has started.
func TestLanes(t *testing.T) {
	files, paths := album(t, 61)
	one := t.TempDir()
	if _, err := extractBy(t, t.Context(), one, newSums(), files, paths); err != nil {
		t.Fatal(err)
	}
	nets := several{newSums(), newSums(), newSums()}
	begun := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
	for i, net := range nets {
		net.before = func(run int64) error {
			if run == 1 { // no run ends before all networks have started
				close(begun[i])
				for _, c := range begun {
					<-c
				}
			}
			return nil
		}
	}
	dir := t.TempDir()
	if _, err := extractBy(t, t.Context(), dir, nets, files, paths); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(storeBytes(t, one), storeBytes(t, dir)); diff != "" {
		t.Errorf("three networks (-one +three):\n%s", diff)
	}
	for i, net := range nets {
		if runs := net.runs.Load(); runs < 5 || runs > 6 {
			t.Errorf("network %d ran %d of 16 batches", i, runs)
		}
	}

	dir = t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	nets = several{newSums(), newSums()}
	nets[1].before = func(run int64) error {
		if run == 3 {
			stop()
		}
		return nil
	}
	rows, err := extractBy(t, ctx, dir, nets, files, paths)
	if !errors.Is(err, context.Canceled) || rows < 24 || rows%4 != 0 {
		t.Errorf("stopped at batch 6: %d rows, %v", rows, err)
	}
	if _, err := extractBy(t, t.Context(), dir, several{newSums(), newSums()}, files, paths); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(storeBytes(t, one), storeBytes(t, dir)); diff != "" {
		t.Errorf("two networks, stopped (-one +two):\n%s", diff)
	}

	broken := errors.New("this device is gone")
	nets = several{newSums(), newSums()}
	nets[1].before = func(run int64) error {
		if run == 2 {
			return broken
		}
		return nil
	}
	if rows, err := extractBy(t, t.Context(), t.TempDir(), nets, files, paths); !errors.Is(err, broken) || rows != 12 {
		t.Errorf("one of two networks fails at batch 4: %d rows, %v", rows, err)
	}
}
