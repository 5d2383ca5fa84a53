package audit

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit/findings"
	"winnow/audit/suspects"
	"winnow/features"
)

// With every scorer, a duplicate with a wrong label is flagged and the right label of its original is kept. A duplicate
// with the same label changes no score. If no label is clearly likelier, a person must decide.
func TestCopiesDoNotTestify(t *testing.T) {
	z, truth := mislabelled(9, 10, 24, 80, 0)
	n := z.Len()
	// rows 0 to 9 have duplicates with the next label, 10 to 19 with the same label; both labels of 20 are wrong
	rows := append(features.AllRows(n), features.AllRows(21)...)
	whole, rng := z.Rows(rows), rand.New(rand.NewPCG(2, 2))
	for i := range 21 {
		for j := range whole.Row(n + i) {
			whole.Row(n + i)[j] += float32(0.002 * rng.NormFloat64())
		}
		if i < 10 {
			whole.Labels[n+i] = (truth[i] + 1) % 10
		}
	}
	whole.Labels[20], whole.Labels[n+20] = (truth[20]+1)%10, (truth[20]+2)%10
	for _, scorer := range Names() {
		if scorer == Crossfit {
			continue // combined covers the heads
		}
		r, err := Run(context.Background(), whole, Options{Scorer: scorer, Whiten: true})
		if err != nil {
			t.Fatalf("%s: %v", scorer, err)
		}
		if len(r.Groups) != 21 {
			t.Errorf("%s: %d groups, expected 21", scorer, len(r.Groups))
		}
		of := map[int]suspects.Suspect{}
		for i, s := range r.Suspects {
			if of[s.Row] = s; s.Rank != i+1 || i > 0 && s.Order < r.Suspects[i-1].Order {
				t.Fatalf("%s: place %d: rank %d, order %v", scorer, i, s.Rank, s.Order)
			}
		}
		settled := 0
		for i := range 10 {
			right, wrong := of[i], of[n+i]
			if right.Flagged || right.SuggestedClass != truth[i] {
				t.Errorf("%s: row %d, right label: %+v", scorer, i, right)
			}
			if wrong.CopyVerdict == suspects.Wrong && wrong.Flagged && wrong.SuggestedClass == truth[i] {
				settled++
			} else if wrong.CopyVerdict != suspects.Look || wrong.Flagged {
				t.Errorf("%s: duplicate of row %d, wrong label: %+v", scorer, i, wrong)
			}
		}
		if Named(scorer).Probability && Named(scorer).Kind == BySet && settled < 9 {
			t.Errorf("%s: %d of 10 contradictions settled, expected at least 9", scorer, settled)
		}
		for i := 10; i < 20; i++ {
			if a, b := of[i], of[n+i]; a.Score != b.Score || a.CopyVerdict != "" || a.CopyGroup != b.CopyGroup {
				t.Errorf("%s: duplicates %d: %+v, %+v", scorer, i, a, b)
			}
		}
		for _, i := range []int{20, n + 20} {
			if s := of[i]; s.CopyVerdict != suspects.Look || s.Flagged || s.SuggestedClass != s.GivenClass {
				t.Errorf("%s: both labels are wrong, expected no decision: %+v", scorer, s)
			}
		}
	}
}

// Images with distant vectors but similar hashes are compared, and form a group if they are the same image.
func TestCopiesByHash(t *testing.T) {
	z, _ := mislabelled(9, 10, 24, 80, 0)
	rng := rand.New(rand.NewPCG(2, 2))
	hashes := make([][2]findings.Hash, z.Len())
	for i := range hashes {
		a, b := rng.Uint64(), rng.Uint64()
		hashes[i] = [2]findings.Hash{{a, b}, {^a, ^b}}
	}
	same := [2]int{3, 200} // rows of two classes
	hashes[200] = [2]findings.Hash{hashes[3][1], hashes[3][0]}
	hashes[201] = hashes[4] // a similar hash, but another image
	asked := map[Pair]bool{}
	a := Auditor{Hashes: hashes, Same: func(_ context.Context, pairs []Pair) ([]bool, error) {
		said := make([]bool, len(pairs))
		for i, p := range pairs {
			asked[p] = true
			said[i] = p == Pair{same[0], same[1]}
		}
		return said, nil
	}}
	r, err := a.Run(t.Context(), z, Options{Whiten: true, Scorer: "centres"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int{same[:]}, r.Groups); diff != "" || !asked[Pair{4, 201}] {
		t.Errorf("pair 4, 201 compared: %v; groups (-want +got):\n%s", asked[Pair{4, 201}], diff)
	}
}

// Duplicates whose true labels contradict each other are not measured; other duplicates are.
func TestMeasureLeavesOutContradictions(t *testing.T) {
	z, truth := mislabelled(9, 10, 24, 80, 0)
	n := z.Len()
	whole := z.Rows(append(features.AllRows(n), 0, 1, 2))
	truth = append(truth, (truth[0]+1)%10, truth[1], truth[2])
	whole.Labels[n], whole.Labels[n+1] = truth[n], (truth[1]+1)%10
	r, err := Run(t.Context(), whole, Options{Whiten: true, Scorer: "fitted"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Measure(whole.Labels, truth)
	if err != nil || d.LeftOut != 2 || d.Samples != n+1 || d.Wrong != 1 || d.Recall != 1 || d.Precision != 1 {
		t.Errorf("%+v, %v, expected the two images of row 0 to be left out and the wrong duplicate of row 1 found", d, err)
	}
}
