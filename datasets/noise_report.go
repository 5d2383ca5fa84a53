package datasets

import (
	"math"
	"slices"
)

// NoiseReport says how noisy the given labels of a split are.
type NoiseReport struct {
	Samples   int     `json:"samples"`   // with both labels known
	Corrupted int     `json:"corrupted"` // given ≠ true
	Rate      float64 `json:"rate"`
	Classes   int     `json:"classes"`   // true classes
	Labels    int     `json:"labels"`    // given classes; fewer if whole classes were dissolved
	ClassMin  float64 `json:"class_min"` // smallest and largest rate of a true class
	ClassMax  float64 `json:"class_max"`
	// Standard deviation of the true classes' rates, and the value expected for independent flips.
	ClassDeviation    float64 `json:"class_deviation"`
	BinomialDeviation float64 `json:"binomial_deviation"`
	// Shares of wrong pairs: q₊ of the pairs labelled alike, q₋ of those labelled different, and the values
	// expected for symmetric noise of this rate (Le & Odobez eq. 7–8, corrected).
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
	r.Classes, r.Labels = len(size), len(given)
	r.perClass(size, bad)
	r.BinomialDeviation = binomialDeviation(r.Rate, r.Samples, r.Classes)
	alike, same, right := countPairsWithin(given), countPairsWithin(size), countPairsWithin(both)
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

// perClass fills in how the rates of the true classes vary.
func (r *NoiseReport) perClass(size, bad map[int]int) {
	var rates []float64
	for class, n := range size {
		rates = append(rates, float64(bad[class])/float64(n))
	}
	slices.Sort(rates) // sum in a fixed order
	r.ClassMin, r.ClassMax = rates[0], rates[len(rates)-1]
	mean := 0.0
	for _, v := range rates {
		mean += v
	}
	mean /= float64(len(rates))
	for _, v := range rates {
		r.ClassDeviation += (v - mean) * (v - mean) / float64(len(rates))
	}
	r.ClassDeviation = math.Sqrt(r.ClassDeviation)
}

// binomialDeviation returns the standard deviation of the rate within a class of mean size if samples are flipped
// independently: √(p(1-p)·classes/samples).
func binomialDeviation(rate float64, samples, classes int) float64 {
	return math.Sqrt(rate * (1 - rate) * float64(classes) / float64(samples))
}

// countPairsWithin counts the unordered pairs within groups of the given sizes.
func countPairsWithin[K comparable](sizes map[K]int) float64 {
	sum := 0.0
	for _, n := range sizes {
		sum += float64(n) * float64(n-1) / 2
	}
	return sum
}
