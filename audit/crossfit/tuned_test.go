package crossfit

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/features"
	"winnow/head"
)

// pupil is a network that learns the true class of every image, unless it is blind.
type pupil struct {
	truth []int
	blind bool
}

func (p pupil) Encoder(_ context.Context, h *head.Head, set features.Set, batch int,
	_ func(int) *rand.Rand) (Encoder, error) {
	return head.NewEncoder(h, p.seen(set), batch)
}

func (p pupil) Now(_ context.Context, set features.Set) (features.Set, error) {
	return p.seen(set), nil
}

func (p pupil) Close() error { return nil }

func (p pupil) seen(set features.Set) features.Set {
	seen := set.Rows(features.AllRows(set.Len()))
	for i, id := range set.IDs {
		if !p.blind {
			seen.Row(i)[p.truth[id]] += 6
		}
	}
	return seen
}

// If stored features do not separate the classes, a network that learns still does. A network that learns nothing
// leaves all scores bit-identical. Margins are lower for wrong labels.
func TestNetworksJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	var truth []int
	z := features.NewSet(8*100, 8) // vectors unrelated to their classes
	for i := range z.Len() {
		truth, z.Labels[i], z.IDs[i] = append(truth, i%8), i%8, i
		if rng.Float64() < 0.2 {
			z.Labels[i] = (i + 1 + rng.IntN(7)) % 8
		}
		for j := range z.Dim() {
			z.Row(i)[j] = float32(rng.NormFloat64())
		}
	}
	alone := judged(t, z, 8, Options{Seed: 1, Folds: TunedFolds})
	if a := auroc(t, alone.Order, z, truth); a > 0.65 {
		t.Fatalf("stored features only: AUROC %.3f, expected about 0.5", a)
	}
	for _, c := range []struct {
		blind bool
		least float64
	}{{false, 0.8}, {true, 0}} {
		seen, names := new(Seen), map[string]bool{}
		v := judged(t, z, 8, Options{Seed: 1, Seen: seen,
			Tune: func(ctx context.Context, l *Lesson) (Tuned, error) {
				names[l.Name()] = true
				return l.Fit(ctx, func() (Network, error) { return pupil{truth, c.blind}, nil })
			}})
		if a := auroc(t, v.Order, z, truth); a < c.least || len(names) != TunedFolds || seen.Folds != TunedFolds {
			t.Errorf("blind %v: AUROC %.3f, expected %.2f; lessons %v", c.blind, a, c.least, names)
		}
		if !c.blind && seen.Taken != TunedFolds || c.blind && seen.Taken == 0 && !slices.Equal(v.Order, alone.Order) {
			t.Errorf("blind %v: networks used in %d of %d folds", c.blind, seen.Taken, TunedFolds)
		}
		for what, margins := range map[string][]float64{"unseen": seen.Unseen, "learned": seen.Learned} {
			if a := auroc(t, margins, z, truth); !c.blind && (math.IsNaN(a) || a < 0.8) {
				t.Errorf("%s margins: AUROC %.3f", what, a)
			}
		}
	}
}
