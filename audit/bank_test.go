package audit

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/audit/suspects"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
)

// mislabelled draws one cluster for each class and gives a share of the rows a wrong label; truth holds the clusters.
func mislabelled(seed uint64, classes, each, d int, rate float64) (z features.Set, truth []int) {
	rng := rand.New(rand.NewPCG(seed, 11))
	centres := make([][]float64, classes)
	for k := range centres {
		for range d {
			centres[k] = append(centres[k], rng.NormFloat64())
		}
	}
	z = features.NewSet(classes*each, d)
	for i := range z.Len() {
		k := i % classes
		truth = append(truth, k)
		z.Labels[i], z.IDs[i] = k, i
		if rng.Float64() < rate {
			z.Labels[i] = (k + 1 + rng.IntN(classes-1)) % classes
		}
		for j := range d {
			z.Row(i)[j] = float32(centres[k][j] + rng.NormFloat64())
		}
	}
	if err := features.Normalize(z.X); err != nil {
		panic(err)
	}
	return z, truth
}

func TestAuditFindsWrongLabels(t *testing.T) {
	for _, scorer := range []filters.Scorer{&filters.VMF{Kappa: filters.KappaBanerjee}, &filters.AvgSim{},
		filters.MemoryPositive{}} {
		for seed := range uint64(3) {
			z, truth := mislabelled(seed, 12, 30, 24, 0.4)
			list, err := audited(scorer, z, 12, 4*360*7)
			if err != nil {
				t.Fatal(err)
			}
			checkAudit(t, z, list)
			order, wrong, right, suggested := make([]float64, 0), make([]bool, 0), 0, 0
			for _, s := range list {
				bad := z.Labels[s.Row] != truth[s.Row]
				order, wrong = append(order, s.Order), append(wrong, bad)
				if bad {
					suggested++
					if s.SuggestedClass == truth[s.Row] {
						right++
					}
				}
			}
			kept, ranked := make([]bool, len(order)), features.AllRows(len(order))
			slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
			for _, i := range ranked[suggested:] {
				kept[i] = true
			}
			d, err := eval.Detect(order, wrong, kept)
			if err != nil {
				t.Fatal(err)
			}
			if d.AUROC < 0.97 || d.Precision < 0.9 {
				t.Errorf("%T, seed %d: AUROC %.3f, precision %.3f", scorer, seed, d.AUROC, d.Precision)
			}
			if share := float64(right) / float64(suggested); share < 0.8 {
				t.Errorf("%T, seed %d: the true label is suggested for only %.2f of the wrong", scorer, seed, share)
			}
		}
	}
}

// audited scores z with z itself as the memory bank, and ranks the suspects.
func audited(scorer filters.Scorer, z features.Set, classes int, maxMem int64) ([]suspects.Suspect, error) {
	ctx := context.Background()
	o, err := byBank(ctx, scorer, z, nil, classes, maxMem)
	if err != nil {
		return nil, err
	}
	said := judgement{Opinion: o}
	if said.forGiven, said.forSuggested, err = findSupport(ctx, z, o.Suggested, nil, maxMem); err != nil {
		return nil, err
	}
	r := Result{labels: z.Labels}
	r.listSuspects(features.AllRows(z.Len()), said, job{})
	return r.Suspects, nil
}

// checkAudit checks the invariants of every audit.
func checkAudit(t *testing.T, z features.Set, list []suspects.Suspect) {
	t.Helper()
	seen := make([]bool, z.Len())
	for at, s := range list {
		if at > 0 && s.Order < list[at-1].Order || math.IsNaN(s.Order) {
			t.Fatalf("place %d: order %v follows %v", at, s.Order, list[at-1].Order)
		}
		if seen[s.Row] {
			t.Fatalf("row %d is listed twice", s.Row)
		}
		seen[s.Row] = true
		if len(s.SupportGiven) > 3 || (s.SuggestedClass == z.Labels[s.Row]) != (len(s.SupportSuggested) == 0) {
			t.Fatalf("row %d: support %v and %v for %d, suggested %d", s.Row, s.SupportGiven, s.SupportSuggested,
				z.Labels[s.Row], s.SuggestedClass)
		}
		for _, n := range s.SupportGiven {
			if z.Labels[n.Row] != z.Labels[s.Row] || n.Row == s.Row {
				t.Fatalf("row %d is supported by row %d of class %d", s.Row, n.Row, z.Labels[n.Row])
			}
		}
		for _, n := range s.SupportSuggested {
			if z.Labels[n.Row] != s.SuggestedClass {
				t.Fatalf("row %d: suggestion %d is supported by row %d of class %d", s.Row, s.SuggestedClass, n.Row,
					z.Labels[n.Row])
			}
		}
	}
	if len(list) != z.Len() {
		t.Fatalf("%d of %d rows scored", len(list), z.Len())
	}
}

func TestAuditSmall(t *testing.T) {
	for classes, each := range map[int]int{1: 4, 4: 1, 2: 2} { // one class; single images; two classes of two
		z, _ := mislabelled(1, max(classes, 2), each, 5, 0)
		if classes == 1 {
			clear(z.Labels)
		}
		list, err := audited(&filters.VMF{Kappa: filters.KappaBanerjee}, z, max(classes, 2), 0)
		if err != nil {
			t.Fatal(err)
		}
		checkAudit(t, z, list)
	}
}

// The probability that a row belongs to another class is computed without the row in its given class: in small classes
// of many dimensions, the row's own vector would otherwise hide every other class. The probabilities equal those of an
// oracle, which builds a memory bank without the row for each row.
func TestAuditSuggestsWithoutTheRow(t *testing.T) {
	for _, scorer := range []filters.Scorer{&filters.VMF{Kappa: filters.KappaBanerjee}, &filters.AvgSim{}} {
		z, truth := mislabelled(3, 6, 9, 60, 0.2)
		list, err := audited(scorer, z, 6, 0)
		if err != nil {
			t.Fatal(err)
		}
		wrong, right := 0, 0
		for _, s := range list {
			if z.Labels[s.Row] != truth[s.Row] {
				wrong++
				if s.SuggestedClass == truth[s.Row] {
					right++
				}
			}
			if s.SuggestedClass == z.Labels[s.Row] {
				continue
			}
			rest, row := features.NewSet(z.Len()-1, z.Dim()), features.NewSet(1, z.Dim())
			at := 0
			for i := range z.Len() {
				if i == s.Row {
					continue
				}
				copy(rest.Row(at), z.Row(i))
				rest.Labels[at] = z.Labels[i]
				at++
			}
			copy(row.Row(0), z.Row(s.Row))
			row.Labels[0] = s.SuggestedClass
			want := scorer.Score(nil, row, features.BankOf(rest, 6), false)[0]
			if math.Abs(*s.SuggestedScore-want) > 1e-6*(want+1e-3) {
				t.Errorf("%T: row %d: suggested score %v, by a bank without it %v", scorer, s.Row, *s.SuggestedScore,
					want)
			}
		}
		if wrong < 5 || 10*right < 9*wrong {
			t.Errorf("%T: %d wrong labels, of which %d have the true label suggested", scorer, wrong, right)
		}
	}
}
