package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Noise changes given labels. Flip returns the new label of a sample whose label is class (0 ≤ class <
// classes), or class itself.
type Noise interface {
	Flip(class, classes int, rng *rand.Rand) int
}

// Symmetric flips each label independently with probability Rate to one drawn uniformly from the other
// classes, the own one excluded (Le & Odobez eq. 6; PRISM, symmetric noise).
type Symmetric struct{ Rate float64 }

// Flip implements Noise.
func (s Symmetric) Flip(class, classes int, rng *rand.Rand) int {
	if rng.Float64() >= s.Rate {
		return class
	}
	other := rng.IntN(classes - 1)
	if other >= class {
		other++
	}
	return other
}

// Pair flips each label independently with probability Rate to the next class, the last to the first
// (Co-teaching's pair noise).
type Pair struct{ Rate float64 }

// Flip implements Noise.
func (p Pair) Flip(class, classes int, rng *rand.Rand) int {
	if rng.Float64() >= p.Rate {
		return class
	}
	return (class + 1) % classes
}

// NewNoise makes a noise model by name: symmetric or pair.
func NewNoise(name string, rate float64) (Noise, error) {
	if !(rate >= 0 && rate < 1) {
		return nil, fmt.Errorf("datasets: noise rate is %v, expected 0 ≤ rate < 1", rate)
	}
	switch name {
	case "symmetric":
		return Symmetric{rate}, nil
	case "pair":
		return Pair{rate}, nil
	}
	return nil, fmt.Errorf("datasets: noise %q is unknown, expected symmetric or pair", name)
}

// Corrupt returns a copy of d whose given labels of one split are changed by noise; the classes noise draws
// from are those of that split. The truth is kept in True: what was known, or else the label as given.
func (d *Dataset) Corrupt(split string, noise Noise, rng *rand.Rand) (*Dataset, error) {
	out := &Dataset{Classes: d.Classes, Columns: d.Columns, Samples: append([]Sample(nil), d.Samples...)}
	rows := out.Select(split)
	var classes []int // ids of the split's classes, rising
	at := make([]int, len(d.Classes))
	for _, i := range rows {
		if label := out.Samples[i].Label; label != Unlabelled {
			at[label] = 1
		}
	}
	for id, seen := range at {
		if seen == 1 {
			at[id] = len(classes)
			classes = append(classes, id)
		}
	}
	if len(classes) < 2 {
		return nil, fmt.Errorf("datasets: split %s has %d class(es), expected at least 2 to change labels between", split, len(classes))
	}
	for _, i := range rows {
		s := &out.Samples[i]
		if s.Label == Unlabelled {
			continue
		}
		if s.True == Unlabelled {
			s.True = s.Label
		}
		s.Label = classes[noise.Flip(at[s.Label], len(classes), rng)]
	}
	return out, nil
}

// NoiseReport says how noisy the given labels of a split are.
type NoiseReport struct {
	Samples   int     `json:"samples"`   // with both labels known
	Corrupted int     `json:"corrupted"` // given ≠ true
	Rate      float64 `json:"rate"`
	ClassMin  float64 `json:"class_min"` // smallest and largest rate of a true class
	ClassMax  float64 `json:"class_max"`
	// Shares of wrong pairs: q₊ of the pairs said to be alike, q₋ of those said to differ, beside what
	// symmetric noise of this rate leads one to expect (Le & Odobez eq. 7–8, corrected).
	WrongPositive         float64 `json:"wrong_positive_pairs"`
	WrongNegative         float64 `json:"wrong_negative_pairs"`
	ExpectedWrongPositive float64 `json:"expected_wrong_positive_pairs"`
	ExpectedWrongNegative float64 `json:"expected_wrong_negative_pairs"`
}

// Noise measures the corruption of a split.
func (d *Dataset) Noise(split string) NoiseReport {
	var r NoiseReport
	size, bad := make(map[int]int), make(map[int]int)
	given, both := make(map[int]int), make(map[[2]int]int)
	for _, i := range d.Select(split) {
		s := &d.Samples[i]
		if s.Label == Unlabelled || s.True == Unlabelled {
			continue
		}
		r.Samples++
		size[s.True]++
		given[s.Label]++
		both[[2]int{s.Label, s.True}]++
		if s.Label != s.True {
			r.Corrupted++
			bad[s.True]++
		}
	}
	if r.Samples == 0 {
		return r
	}
	r.Rate = float64(r.Corrupted) / float64(r.Samples)
	r.ClassMin = math.Inf(1)
	for class, n := range size {
		rate := float64(bad[class]) / float64(n)
		r.ClassMin, r.ClassMax = min(r.ClassMin, rate), max(r.ClassMax, rate)
	}
	alike, same, right := pairs(given), pairs(size), pairs(both)
	all := float64(r.Samples) * float64(r.Samples-1) / 2
	if alike > 0 {
		r.WrongPositive = 1 - right/alike
	}
	if all > alike {
		r.WrongNegative = (same - right) / (all - alike)
	}
	if k := float64(len(size)); k > 1 {
		p := r.Rate
		r.ExpectedWrongPositive = 2*p*(1-p) + p*p*(k-2)/(k-1)
		r.ExpectedWrongNegative = 2*p*(1-p)/(k-1) + p*p*(k-2)/((k-1)*(k-1))
	}
	return r
}

// pairs counts the unordered pairs within groups of the given sizes.
func pairs[K comparable](sizes map[K]int) float64 {
	sum := 0.0
	for _, n := range sizes {
		sum += float64(n) * float64(n-1) / 2
	}
	return sum
}
