package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/audit/crossfit"
	"winnow/audit/judges"
	"winnow/eval"
)

// doubted draws labels of which a fifth are wrong, an opinion on them that errs, and margins of networks that err
// apart from it: skill 1 as much as the opinion, 0 they know nothing, -1 they take wrong for right.
func doubted(skill float64) (v judges.Opinion, labels []int, seen crossfit.Seen, wrong []bool) {
	rng := rand.New(rand.NewPCG(4, 9))
	for i := range 3000 {
		bad, side := rng.Float64() < 0.2, 1.0
		if bad {
			side = -1
		}
		order := 2*(1.5*side+rng.NormFloat64()) + 1
		p := applyLogistic(order)
		labels, wrong = append(labels, 0), append(wrong, bad)
		v.Order, v.Score = append(v.Order, order), append(v.Score, p)
		if v.Suggested, v.SuggestedScore = append(v.Suggested, 0), append(v.SuggestedScore, p); p < 0.45 && i%2 == 0 {
			v.Suggested[i], v.SuggestedScore[i] = 1, (1-p)*0.9
		}
		seen.Unseen = append(seen.Unseen, 0.1*(1.5*side*skill+rng.NormFloat64()))
		seen.Learned = append(seen.Learned, 0.3*(1.5*side*skill+rng.NormFloat64()))
		if i%7 == 0 {
			seen.Learned[i] = math.NaN()
		}
		seen.Rival, seen.RivalShare = append(seen.Rival, 2), append(seen.RivalShare, 0.5)
	}
	return v, labels, seen, wrong
}

// Margins of networks that know something find more wrong labels, those that know nothing or the opposite change
// hardly anything, and the expected number of wrong labels stays.
func TestNetworksAreWeighed(t *testing.T) {
	for skill, bounds := range map[float64][2]float64{1: {0.03, 1}, 0: {-0.003, 0.003}, -1: {-1e-9, 1e-9}} {
		v, labels, seen, wrong := doubted(skill)
		ap := func() float64 {
			d, err := eval.Detect(v.Order, wrong, make([]bool, len(wrong)))
			if err != nil {
				t.Fatal(err)
			}
			return d.AP
		}
		before, expected := ap(), sum(v.Score)
		why := weighWitnesses(v, labels, ofNetworks(&seen))
		if gain := ap() - before; gain < bounds[0] || gain > bounds[1] {
			t.Errorf("skill %v: AP %.4f, then %+.4f, expected %v", skill, before, gain, bounds)
		}
		if skill > 0 && math.Abs(sum(v.Score)-expected) > 0.5 {
			t.Errorf("%.0f labels are right, then %.0f", expected, sum(v.Score))
		}
		if says := strings.Contains(why, "counts"); skill != 0 && says != (skill > 0) {
			t.Errorf("skill %v: %s", skill, why)
		}
		for i, y := range labels {
			given, score := v.Suggested[i] == y, v.SuggestedScore[i]
			if given && score != v.Score[i] || !given && !(score > v.Score[i] && score <= 1-v.Score[i]) {
				t.Fatalf("row %d: %v is right, %d is with %v", i, v.Score[i], v.Suggested[i], score)
			}
		}
	}
}

func sum(list []float64) (s float64) {
	for _, v := range list {
		s += v
	}
	return s
}

// Rows that no network judged, and those of which nothing is known, keep their opinion.
func TestNetworksLeaveOthersAlone(t *testing.T) {
	v, labels, seen, _ := doubted(1)
	v.Order[3], seen.Unseen[5], seen.Learned[5] = math.Inf(1), math.NaN(), math.NaN()
	order := slices.Clone(v.Order)
	weighWitnesses(v, labels, ofNetworks(&seen))
	if v.Order[3] != order[3] || v.Order[5] != order[5] || v.Order[4] == order[4] {
		t.Errorf("orders %v, then %v", order[3:6], v.Order[3:6])
	}
	if why := weighWitnesses(v, labels, ofNetworks(new(crossfit.Seen))); why != "" {
		t.Errorf("no networks: %s", why)
	}
}
