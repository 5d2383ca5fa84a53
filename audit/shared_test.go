package audit

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"
)

// Sharing results does not change the judgements of scorers.
func TestSharedChangesNothing(t *testing.T) {
	set, _ := mislabelled(5, 12, 20, 32, 0.2)
	shared := new(Shared)
	for _, scorer := range []string{"combined", "crossfit", "self-confidence", "confident", "crossfit"} {
		var got [2]Result
		o := Options{Scorer: scorer, Whiten: true, Seed: 3, JustRank: true, Rate: new(float64)}
		for i, by := range []*Shared{nil, shared} {
			var err error
			if got[i], err = (Auditor{Shared: by}).Run(context.Background(), set, o); err != nil {
				t.Fatal(err)
			}
		}
		if !cmp.Equal(got[0].Suspects, got[1].Suspects, cmpopts.EquateNaNs()) {
			t.Errorf("%s: what it says depends on what it shares", scorer)
		}
	}
}

// Audits may share concurrently.
func TestSharedAtOnce(t *testing.T) {
	set, _ := mislabelled(6, 6, 12, 16, 0.2)
	shared := new(Shared)
	var jobs errgroup.Group
	for _, scorer := range []string{"combined", "crossfit", "confident", "self-confidence"} {
		jobs.Go(func() error {
			o := Options{Scorer: scorer, Whiten: true, Seed: 3, JustRank: true, Rate: new(float64)}
			_, err := Auditor{Shared: shared}.Run(context.Background(), set, o)
			return err
		})
	}
	if err := jobs.Wait(); err != nil {
		t.Fatal(err)
	}
}
