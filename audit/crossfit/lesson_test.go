package crossfit

import (
	"context"
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/features"
	"winnow/head"
)

// blurred draws vectors unrelated to their classes, with a share of wrong labels.
func blurred(classes, each int, rate float64) (z features.Set, truth []int) {
	rng := rand.New(rand.NewPCG(5, 3))
	z = features.NewSet(classes*each, 8)
	for i := range z.Len() {
		truth, z.Labels[i], z.IDs[i] = append(truth, i%classes), i%classes, i
		if rng.Float64() < rate {
			z.Labels[i] = (i + 1 + rng.IntN(classes-1)) % classes
		}
		for j := range z.Dim() {
			z.Row(i)[j] = float32(rng.NormFloat64())
		}
	}
	return z, truth
}

// pupil recognises the class of an image if it sees anything.
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

func (p pupil) seen(set features.Set) features.Set {
	seen := set.Rows(features.AllRows(set.Len()))
	for i, id := range set.IDs {
		if !p.blind {
			seen.Row(i)[p.truth[id]] += 6
		}
	}
	return seen
}

// If stored features tell classes apart no better than chance, a network that learns still does. A network that
// learns nothing changes nothing, to the bit, however often it runs.
func TestNetworksJudge(t *testing.T) {
	z, truth := blurred(8, 100, 0.2)
	alone := judged(t, z, 8, Options{Seed: 1, Rounds: 2, Folds: TunedFolds})
	if a := auroc(t, alone.Order, z, truth); a > 0.65 {
		t.Fatalf("stored features alone: AUROC %.3f, expected chance", a)
	}
	for _, c := range []struct {
		blind bool
		least float64
	}{{false, 0.8}, {true, 0}} {
		names, chosen := map[string]bool{}, 0
		v := judged(t, z, 8, Options{Seed: 1, Rounds: 2,
			Tune: func(ctx context.Context, l *Lesson) (Tuned, error) {
				names[l.Name()] = true
				return l.Fit(ctx, pupil{truth, c.blind})
			},
			Chose: func(with, without float64) {
				if with > without {
					chosen++
				}
			},
		})
		if a := auroc(t, v.Order, z, truth); a < c.least || len(names) != 2*TunedFolds {
			t.Errorf("blind %v: AUROC %.3f, expected %.2f; lessons %v, expected %d", c.blind, a, c.least, names,
				2*TunedFolds)
		}
		if !c.blind && chosen != 2*TunedFolds || c.blind && chosen == 0 && !slices.Equal(v.Order, alone.Order) {
			t.Errorf("blind %v: chosen in %d folds of %d", c.blind, chosen, 2*TunedFolds)
		}
	}
}

// Sums of lessons differ by labels, vectors and seed, and by nothing else.
func TestLessonSum(t *testing.T) {
	z, _ := blurred(4, 10, 0)
	sums := func(z features.Set, seed uint64) (list []string) {
		judged(t, z, 4, Options{Seed: seed, Folds: 2, Tune: func(_ context.Context, l *Lesson) (Tuned, error) {
			h := sha256.New()
			l.Sum(h)
			list = append(list, string(h.Sum(nil)))
			blank := l.Blank()
			if blank.Z.Rows != l.Judged.Len() || blank.Directions.Rows != 4 || blank.Z.Cols != blank.Directions.Cols {
				t.Errorf("blank of %d×%d and %d×%d", blank.Z.Rows, blank.Z.Cols, blank.Directions.Rows,
					blank.Directions.Cols)
			}
			return blank, nil
		}})
		return list
	}
	first := sums(z, 1)
	if again := sums(z, 1); !slices.Equal(first, again) || first[0] == first[1] {
		t.Errorf("%x and %x", first, again)
	}
	moved := z.Rows(features.AllRows(z.Len()))
	moved.Row(3)[0]++
	for what, other := range map[string][]string{"another seed": sums(z, 2), "another vector": sums(moved, 1)} {
		if other[0] == first[0] || other[1] == first[1] {
			t.Errorf("%s: the same lesson", what)
		}
	}
}

// Joined vectors of two backbones are judged by separate heads: one backbone that sees nothing does not hide what the
// other sees, and the same backbone twice gives the result of one, with the same folds.
func TestParts(t *testing.T) {
	z, truth := fine(2, 0.3)
	noise, _ := blurred(32, 20, 0)
	both := features.Set{X: features.NewMatrix(z.Len(), z.Dim()+noise.Dim()), Labels: z.Labels}
	twice := features.Set{X: features.NewMatrix(z.Len(), 2*z.Dim()), Labels: z.Labels}
	for i := range z.Len() {
		copy(both.Row(i), z.Row(i))
		copy(both.Row(i)[z.Dim():], noise.Row(i))
		copy(twice.Row(i), z.Row(i))
		copy(twice.Row(i)[z.Dim():], z.Row(i))
	}
	one := judged(t, z, 32, Options{Seed: 1})
	same := judged(t, twice, 32, Options{Seed: 1, Parts: []int{z.Dim(), z.Dim()}})
	for i, v := range one.Order {
		if d := v - same.Order[i]; d > 0.01*max(1, v, -v) || d < -0.01*max(1, v, -v) {
			t.Fatalf("row %d: %v alone, %v twice", i, v, same.Order[i])
		}
	}
	mixed := judged(t, both, 32, Options{Seed: 1, Parts: []int{z.Dim(), noise.Dim()}})
	if a, b := auroc(t, one.Order, z, truth), auroc(t, mixed.Order, z, truth); b < a-0.06 {
		t.Errorf("AUROC %.3f alone, %.3f beside noise", a, b)
	}
}

func TestStopsBetweenLessons(t *testing.T) {
	z, truth := blurred(4, 10, 0)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Judge(ctx, z, 4, Options{Tune: func(ctx context.Context, l *Lesson) (Tuned, error) {
		defer cancel()
		return l.Fit(ctx, pupil{truth, false})
	}})
	if err == nil || !strings.Contains(err.Error(), "fold") {
		t.Errorf("found %v", err)
	}
}
