package learn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/suspects"
	"winnow/features"
)

// makeAlbum returns an audit's list of n images of three classes. In one cluster of each class nearly all labels are
// wrong, but their scores are ordinary.
func makeAlbum(seed uint64, n int) (list []suspects.Suspect, x blas32.General) {
	rng := rand.New(rand.NewPCG(seed, 3))
	names := []string{"ant", "bee", "cow"}
	x = features.NewMatrix(n, 8)
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = rng.Float64()
	}
	slices.Sort(scores)
	for i := range n {
		k, cluster := rng.IntN(3), rng.IntN(4)
		row := features.Row(x, i)
		for j := range row {
			row[j] = 0.2 * float32(rng.NormFloat64())
		}
		row[k]++
		row[3+cluster] += 2
		s := suspects.Suspect{Rank: i + 1, Path: fmt.Sprintf("%04d.png", i), True: names[k], Given: names[k],
			Score: scores[i]}
		if cluster == 0 && rng.Float64() < 0.9 || rng.Float64() < 0.02 {
			s.Given = names[(k+1)%3]
		}
		s.Suggested = s.Given
		s.GivenProbability = &scores[i]
		list = append(list, s)
	}
	return list, x
}

// TestReviewLearns: a review that learns finds half of systematic errors, and most of them, with at most two thirds of
// the list's decisions.
func TestReviewLearns(t *testing.T) {
	list, x := makeAlbum(1, 400)
	number := map[string]int{"ant": 0, "bee": 1, "cow": 2}
	l, err := New(context.Background(), EvidenceOf(list, number, x))
	if err != nil {
		t.Fatal(err)
	}
	var byList, learning []bool // whether each decision finds a label error
	for _, e := range list {
		byList = append(byList, e.Given != e.True)
	}
	for r := NewReview(l); len(learning) < len(list); {
		order := r.Order()
		for _, i := range order[:min(Batch, len(order))] {
			d := Decision{Image: i, Verdict: Right, Label: None}
			if byList[i] {
				d.Verdict, d.Label = Wrong, number[list[i].True]
			}
			learning = append(learning, byList[i])
			r.Add(d)
		}
	}
	until := func(found []bool, share float64) (decisions int) {
		wrong := 0
		for _, is := range byList {
			if is {
				wrong++
			}
		}
		for sum := 0; float64(sum) < share*float64(wrong); decisions++ {
			if found[decisions] {
				sum++
			}
		}
		return decisions
	}
	for _, share := range []float64{0.5, 0.8, 0.95} {
		if n, plain := until(learning, share), until(byList, share); n > plain*2/3 {
			t.Errorf("%.0f %% of the errors after %d decisions, by the list %d", 100*share, n, plain)
		}
	}
}

// TestReviewInAnyPieces: the order depends on the decisions, not on how many are added at once.
func TestReviewInAnyPieces(t *testing.T) {
	list, x := makeAlbum(2, 200)
	number := map[string]int{"ant": 0, "bee": 1, "cow": 2}
	begin := func() *Review {
		l, err := New(context.Background(), EvidenceOf(list, number, x))
		if err != nil {
			t.Fatal(err)
		}
		return NewReview(l)
	}
	var made []Decision
	for i := range 50 {
		d := Decision{Image: 3 * i, Verdict: Right, Label: None}
		if e := list[3*i]; e.Given != e.True {
			d.Verdict, d.Label = Wrong, number[e.True]
		}
		made = append(made, d)
	}
	one, all := begin(), begin()
	for i, d := range made {
		if learned := one.Add(d); learned != ((i+1)%Batch == 0) {
			t.Errorf("decision %d: learned is %t", i, learned)
		}
	}
	all.Add(made...)
	if diff := cmp.Diff(one.Order(), all.Order()); diff != "" {
		t.Errorf("order differs if decisions are added one by one:\n%s", diff)
	}
	if order := all.Order(); len(order) != 160 || slices.Contains(order, 0) {
		t.Errorf("%d open images, expected 160 without the settled images", len(order))
	}
}
