package crossfit

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// always is a loss of 2.
type always struct{}

func (always) Eval(*blas32.General, features.Set, *features.Set) float64 { return 2 }

// Networks that see the truth rank the wrong labels by either margin and name the right classes. Each row is learned in
// every fold but its own.
func TestNetworksSayWhatTheySee(t *testing.T) {
	z, truth := blurred(6, 60, 0.2)
	seen, lessons, learned := Seen{}, 0, make([]int, z.Len())
	judged(t, z, 6, Options{Seed: 2, Seen: &seen, Tune: func(ctx context.Context, l *Lesson) (Tuned, error) {
		lessons++
		tuned, err := l.Fit(ctx, pupil{truth, false})
		for i, m := range tuned.Margins {
			if visited := !math.IsNaN(float64(m)); visited {
				learned[l.Learned.IDs[i]]++
			}
		}
		return tuned, err
	}})
	if lessons != TunedFolds {
		t.Errorf("%d lessons, expected %d", lessons, TunedFolds)
	}
	rivals, wrong := 0, 0
	for i, v := range seen.Learned {
		if learned[i] != TunedFolds-1 || math.IsNaN(v) {
			t.Fatalf("row %d: margin %v of %d networks that learned it", i, v, learned[i])
		}
		if share := seen.RivalShare[i]; !(share > 0 && share <= 1) || seen.Rival[i] == z.Labels[i] {
			t.Fatalf("row %d, label %d: rival %d with a share of %v", i, z.Labels[i], seen.Rival[i], share)
		}
		if z.Labels[i] != truth[i] {
			if wrong++; seen.Rival[i] == truth[i] {
				rivals++
			}
		}
	}
	if a, b := auroc(t, seen.Unseen, z, truth), auroc(t, seen.Learned, z, truth); a < 0.9 || b < 0.9 {
		t.Errorf("AUROC %.3f unseen, %.3f learned, expected 0.9", a, b)
	}
	if rivals < wrong*3/4 {
		t.Errorf("%d of %d rivals of wrong labels are right", rivals, wrong)
	}
}

// Margins are of cosines: proxies may have any length.
func TestObservedMargins(t *testing.T) {
	set := features.NewSet(3, 2)
	set.IDs, set.Labels = []int{7, 8, 9}, []int{0, 1, 2}
	p := features.NewParam("proxies", 3, 2)
	copy(p.Data, []float32{2, 0, 0, 5, -1, 0})
	o := newObserving(always{}, p, set)
	for _, batch := range [][]float32{{1, 0, 0.6, 0.8}, {0, 1, -0.6, 0.8}} {
		z := features.NewSet(2, 2)
		z.IDs, z.Labels = []int{9, 7}, []int{2, 0}
		copy(z.X.Data, batch)
		if loss := o.Eval(nil, z, nil); loss != 2 {
			t.Errorf("loss %v, expected that of the loss observed", loss)
		}
	}
	// 9 is of class 2: -1 - 1, then 0 - 1; 7 of class 0: 0.6 - 0.8, then -0.6 - 0.8
	want := []float32{-0.8, float32(math.NaN()), -1.5}
	if diff := cmp.Diff(want, o.computeMeanMargins(), cmpopts.EquateApprox(0, 1e-6), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
