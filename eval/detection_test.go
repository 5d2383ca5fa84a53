package eval

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/features"
)

func TestKeepShare(t *testing.T) {
	kept := keepShare([]float64{0.5, 0.1, 0.1, 0.9}, 0.5)
	for i, want := range []bool{true, false, false, true} {
		if kept[i] != want {
			t.Fatalf("kept %v", kept)
		}
	}
}

// Recall at a budget of n samples is the recall of the first n, averaged over the orders of tied samples, with n ≥ 1.
func TestRecallAtBudget(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	scores, wrong, kept := make([]float64, 240), make([]bool, 240), make([]bool, 240)
	total := 0
	for i := range scores {
		if wrong[i] = rng.IntN(4) == 0; wrong[i] {
			total++
		}
		scores[i] = float64(rng.IntN(9))
		if wrong[i] {
			scores[i] -= 2
		}
	}
	d, err := Detect(scores, wrong, kept)
	if err != nil {
		t.Fatal(err)
	}
	for n, got := range map[int]float64{2: d.Found1, 12: d.Found5, total: d.FoundAll} {
		mean := 0.0
		const orders = 4000
		for range orders {
			order := rng.Perm(len(scores))
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
			for _, i := range order[:n] {
				if wrong[i] {
					mean += 1 / float64(total) / orders
				}
			}
		}
		if math.Abs(got-mean) > 0.004 {
			t.Errorf("among the first %d: %.4f, mean over orders %.4f", n, got, mean)
		}
	}
	one, err := Detect([]float64{0.9, 0.1, 0.8}, []bool{false, true, false}, []bool{true, true, true})
	if err != nil || one.Found1 != 1 || one.FoundAll != 1 {
		t.Errorf("%+v, %v", one, err)
	}
}

// Undefined values are null in JSON, and null is read back as NaN or 0.
func TestDetectionJSON(t *testing.T) {
	for _, c := range []struct {
		wrong []bool
		want  string
	}{
		{[]bool{false, false},
			`"auroc":null,"ap":null,"recall":null,"recall_at_1_percent":null,"recall_at_5_percent":null,"recall_at_wrong":null`},
		{[]bool{true, true}, `"auroc":null,"ap":1,"recall":0,`},
		{[]bool{true, false}, `"auroc":1,"ap":1,"recall":0,`},
	} {
		d, err := Detect([]float64{0.1, 0.9}, c.wrong, []bool{true, true})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(&d)
		if err != nil || !strings.Contains(string(b), c.want) {
			t.Errorf("%v: %s %v, expected %s in it", c.wrong, b, err, c.want)
		}
		var back Detection
		if err := json.Unmarshal(b, &back); err != nil || back.Samples != 2 || back.Wrong != d.Wrong {
			t.Errorf("%v: read back as %+v %v", c.wrong, back, err)
		}
	}
}

// keepShare marks the ⌊rate·n⌋ lowest scores as dropped (ties: lower position first) and the rest as kept.
func keepShare(scores []float64, rate float64) []bool {
	order, kept := features.AllRows(len(scores)), slices.Repeat([]bool{true}, len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	for _, i := range order[:int(rate*float64(len(scores)))] {
		kept[i] = false
	}
	return kept
}
