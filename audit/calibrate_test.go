package audit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/audit/judges"
	"winnow/features"
)

// After calibration of a judge whose scores saturate, the expected number of wrong labels equals the estimate, the
// judge's order is kept, and unknown probabilities stay unchanged.
func TestCalibrate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var said judges.Opinion
	var labels []int
	var estimate []float64
	truly, expected := 0.0, 0.0
	for range 2000 {
		bad := rng.Float64() < 0.2
		order := 60*rng.NormFloat64() + 40
		v := 0.05
		if bad {
			truly++
			order -= 160
			v = 0.8
		}
		estimate = append(estimate, v)
		labels, said.Order, said.Score = append(labels, 1), append(said.Order, order),
			append(said.Score, 1/(1+math.Exp(-order)))
		said.Suggested, said.SuggestedScore = append(said.Suggested, 2),
			append(said.SuggestedScore, 1/(1+math.Exp(order)))
	}
	estimate[7], said.Order[7], said.Score[7] = math.NaN(), math.Inf(1), 1
	said.Order[9] = said.Order[8]
	raw := 0.0
	for _, score := range said.Score {
		raw += 1 - score
	}
	calibrateScores(said, labels, estimate)
	for i, score := range said.Score {
		expected += 1 - score
		suggested, better := said.Suggested[i], said.SuggestedScore[i]
		if i != 7 && (suggested == 2 && (score >= 0.5 || math.Abs(score+better-1) > 1e-9) || suggested == 1 &&
			better != score) {
			t.Fatalf("row %d: %v, %d with %v", i, score, suggested, better)
		}
	}
	if s := said.Score; s[7] != 1 || s[8] != s[9] {
		t.Errorf("unknown probability: %v; equal order: %v, %v", s[7], s[8], s[9])
	}
	if math.Abs(expected-truly) > 0.12*truly || math.Abs(raw-truly) < 0.3*truly {
		t.Errorf("%.0f labels expected to be wrong, %.0f before calibration, %.0f truly wrong", expected, raw, truly)
	}
	first := said.Score[slices.Index(said.Order, slices.Min(said.Order))]
	if slices.Min(said.Score) < first-1e-12 || first < 0.1 || first > 0.3 {
		t.Errorf("most suspect label: score %v, expected 0.1 to 0.3", first)
	}
}

// The scores of a run's filter are calibrated with the noise-rate estimate from the stored features.
func TestFilterScoresAreCalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const classes, each, dim = 12, 30, 64
	stored, learned := features.NewSet(classes*each, dim), features.NewSet(classes*each, dim)
	wrong := make([]bool, stored.Len())
	for i := range wrong {
		k := i % classes
		stored.Labels[i] = k
		if rng.Float64() < 0.2 {
			wrong[i] = true
			stored.Labels[i] = (k + 1 + rng.IntN(classes-1)) % classes
		}
		learned.Labels[i] = stored.Labels[i]
		for j := range dim {
			noise := 0.8 * rng.NormFloat64()
			// the network has contracted the classes
			stored.Row(i)[j], learned.Row(i)[j] = float32(noise), float32(0.1*noise)
		}
		stored.Row(i)[k] += 5
		learned.Row(i)[k] += 5
	}
	r, err := Auditor{Findings: stored}.Run(t.Context(), learned, Options{Scorer: "vmf"})
	if err != nil {
		t.Fatal(err)
	}
	expected, truly, surely := 0.0, 0.0, 0
	for _, s := range r.Suspects {
		expected += 1 - s.Score
		if wrong[s.Row] {
			truly++
		} else if s.Score < 0.01 {
			surely++
		}
	}
	if math.Abs(expected-truly) > 0.15*truly || surely > 3 {
		t.Errorf("%.1f labels expected to be wrong, %.0f truly wrong; %d correct labels scored below 0.01", expected,
			truly, surely)
	}
}

// If each class is confused with one other class, an estimate that assumes uniform noise is too low, but the estimate
// of a judge that learns the confusions is close.
func TestExpectedRateOfConfusions(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const classes, each, dim = 20, 60, 24
	centres := features.NewSet(classes, dim)
	for i := range centres.X.Data {
		centres.X.Data[i] = float32(rng.NormFloat64())
	}
	z, wrong := features.NewSet(classes*each, dim), 0.0
	for i := range z.Len() {
		k := i % classes
		if z.Labels[i] = k; rng.Float64() < 0.3 {
			z.Labels[i] = (k + 1) % classes
			wrong++
		}
		for j := range dim {
			z.Row(i)[j] = centres.Row(k)[j] + 0.8*float32(rng.NormFloat64())
		}
	}
	wrong /= float64(z.Len())
	far := map[string]float64{}
	for _, scorer := range []string{"fitted", "centres"} {
		r, err := Run(t.Context(), z, Options{Scorer: scorer})
		if err != nil {
			t.Fatal(err)
		}
		far[scorer] = math.Abs(r.Noise.Rate - wrong)
		if scorer == "fitted" && (r.Noise.Low > wrong || r.Noise.High < wrong || r.Noise.Method != "fitted" ||
			r.Alike || r.Asked) {
			t.Errorf("%s %.3f [%.3f %.3f], %.3f are wrong", r.Noise.Method, r.Noise.Rate, r.Noise.Low, r.Noise.High,
				wrong)
		}
		for _, k := range r.Classes {
			if !(0 <= k.Low && k.Low <= k.Purity && k.Purity <= k.High && k.High <= 1) {
				t.Errorf("class %d: %v in %v to %v", k.Class.Class, k.Purity, k.Low, k.High)
			}
		}
	}
	// With seeds 4, 5, 6 and 7, fitted is off by 0.040, 0.052, 0.050 and 0.028, and centres by 0.238 to 0.300.
	if far["fitted"] > 0.045 || far["fitted"] > far["centres"]*0.7 {
		t.Errorf("noise rate %.3f: fitted is off by %.3f, centres by %.3f", wrong, far["fitted"],
			far["centres"])
	}
}

// One extreme estimate, for the first or the last label in the order, does not outweigh hundreds of labels next to it.
func TestCalibrateFewBesideMany(t *testing.T) {
	var said judges.Opinion
	var labels []int
	var estimate []float64
	for i := range 600 {
		v := 0.98
		if i >= 300 {
			v = 0.01
		}
		estimate = append(estimate, v)
		labels, said.Order, said.Score = append(labels, 1), append(said.Order, float64(i)), append(said.Score, 0.5)
		said.Suggested, said.SuggestedScore = append(said.Suggested, 2), append(said.SuggestedScore, 0.5)
	}
	estimate[0], estimate[599] = 0.999, 0.0001
	calibrateScores(said, labels, estimate)
	if first, last := said.Score[0], said.Score[599]; math.Abs(first-0.02) > 0.005 || math.Abs(last-0.99) > 0.005 {
		t.Errorf("first score %v, last score %v; expected .02 and .99", first, last)
	}
}
