package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Noise is a model of label noise. Corrupt returns new labels and does not modify labels. classes are the class names,
// and 0 ≤ label < len(classes).
type Noise interface {
	Corrupt(labels []int, classes []string, rng *rand.Rand) ([]int, error)
}

// Count chooses how many labels [Symmetric] noise changes.
const (
	Independent = "independent" // each with probability Rate
	Exact       = "exact"       // ⌊Rate·N⌋ of all N labels, drawn at random
	PerClass    = "per-class"   // ⌊Rate·n + 1/2⌋ in each class of n samples
)

// Symmetric changes labels to other classes drawn uniformly (Le & Odobez eq. 6; PRISM, symmetric noise). With Own, the
// new label may equal the old one, as in the code of Sel-CL and TCL; the rate of wrong labels is then Rate·(C-1)/C.
type Symmetric struct {
	Rate  float64
	Count string // Independent (also ""), Exact or PerClass
	Own   bool
}

// Corrupt implements Noise.
func (s Symmetric) Corrupt(labels []int, classes []string, rng *rand.Rand) ([]int, error) {
	out := slices.Clone(labels)
	switch s.Count {
	case Exact:
		for _, i := range rng.Perm(len(labels))[:int(s.Rate*float64(len(labels))+1e-9)] {
			out[i] = s.drawFlipped(labels[i], len(classes), rng)
		}
	case PerClass:
		for _, members := range membersOf(labels, len(classes)) {
			for _, i := range chooseItems(members, halfUp(s.Rate*float64(len(members))), rng) {
				out[i] = s.drawFlipped(labels[i], len(classes), rng)
			}
		}
	default:
		for i, label := range labels {
			if rng.Float64() < s.Rate {
				out[i] = s.drawFlipped(label, len(classes), rng)
			}
		}
	}
	return out, nil
}

func (s Symmetric) drawFlipped(label, classes int, rng *rand.Rand) int {
	if s.Own {
		return rng.IntN(classes)
	}
	return drawOtherClass(label, classes, rng)
}

// drawOtherClass draws uniformly from the classes other than label.
func drawOtherClass(label, classes int, rng *rand.Rand) int {
	other := rng.IntN(classes - 1)
	if other >= label {
		other++
	}
	return other
}

// Pair changes each label independently with probability Rate to the next class; the last class is changed to the first
// (Co-teaching's pair noise).
type Pair struct{ Rate float64 }

// Corrupt implements Noise.
func (p Pair) Corrupt(labels []int, classes []string, rng *rand.Rand) ([]int, error) {
	out := slices.Clone(labels)
	for i, label := range labels {
		if rng.Float64() < p.Rate {
			out[i] = (label + 1) % len(classes)
		}
	}
	return out, nil
}

// Stratified changes max(1, ⌊Rate·n + 1/2⌋) labels in every class of n ≥ 2 samples to other classes drawn uniformly.
// Classes of one sample stay unchanged. Every larger class thus has wrong labels (BSPML's noise, METHODS 14.3).
type Stratified struct{ Rate float64 }

// Corrupt implements Noise.
func (s Stratified) Corrupt(labels []int, classes []string, rng *rand.Rand) ([]int, error) {
	out := slices.Clone(labels)
	for class, members := range membersOf(labels, len(classes)) {
		for _, i := range chooseItems(members, s.countFlips(len(members)), rng) {
			out[i] = drawOtherClass(class, len(classes), rng)
		}
	}
	return out, nil
}

// countFlips returns how many labels of a class of n samples are changed.
func (s Stratified) countFlips(n int) int {
	if n < 2 || s.Rate == 0 {
		return 0
	}
	return max(1, halfUp(s.Rate*float64(n)))
}

// membersOf lists the samples of each class in increasing order.
func membersOf(labels []int, classes int) [][]int {
	members := make([][]int, classes)
	for i, label := range labels {
		members[label] = append(members[label], i)
	}
	return members
}

// chooseItems draws n of the items without replacement.
func chooseItems(items []int, n int, rng *rand.Rand) []int {
	chosen := make([]int, n)
	for k, at := range rng.Perm(len(items))[:n] {
		chosen[k] = items[at]
	}
	return chosen
}

// halfUp rounds to the nearest whole number, halves up.
func halfUp(v float64) int { return int(math.Floor(v + 0.5)) }

// NewNoise returns a noise model that needs only a rate, by name: symmetric, pair, bspml, cifar10 or cifar100.
func NewNoise(name string, rate float64) (Noise, error) {
	if err := CheckRate(rate); err != nil {
		return nil, err
	}
	switch name {
	case "symmetric":
		return Symmetric{Rate: rate}, nil
	case "pair":
		return Pair{rate}, nil
	case "bspml":
		return Stratified{rate}, nil
	case "cifar10":
		return Renaming{Rate: rate, To: cifaR10()}, nil
	case "cifar100":
		return Renaming{Rate: rate, To: cifaR100()}, nil
	}
	return nil, fmt.Errorf("datasets: noise %q is unknown, expected symmetric, pair, bspml, cifar10 or cifar100", name)
}

// CheckRate rejects rates outside 0 ≤ rate < 1.
func CheckRate(rate float64) error {
	if !(rate >= 0 && rate < 1) {
		return fmt.Errorf("datasets: noise rate is %v, expected 0 ≤ rate < 1", rate)
	}
	return nil
}

// Corrupt returns a copy of d in which noise has changed the given labels of one split; new labels are drawn from the
// classes of that split. True is set to the old given label where the true label is unknown. A noise model that uses
// samples receives the samples of [Dataset.Labelled] in the same order.
func (d *Dataset) Corrupt(split string, noise Noise, rng *rand.Rand) (*Dataset, error) {
	out := &Dataset{Classes: d.Classes, Columns: d.Columns, Samples: slices.Clone(d.Samples)}
	rows := d.Labelled(split)
	labels, classes := numberRowClasses(d, rows)
	if len(classes) < 2 {
		return nil, fmt.Errorf("datasets: split %s has %d class(es), expected at least 2 to change labels between",
			split, len(classes))
	}
	names := make([]string, len(classes))
	for k, id := range classes {
		names[k] = d.Classes[id]
	}
	noisy, err := noise.Corrupt(labels, names, rng)
	if err != nil {
		return nil, err
	}
	for k, i := range rows {
		s := &out.Samples[i]
		if s.True == Unlabelled {
			s.True = s.Label
		}
		s.Label = classes[noisy[k]]
	}
	return out, nil
}

// Labelled returns the positions of a split's samples that have a given label, in order.
func (d *Dataset) Labelled(split string) []int {
	return slices.DeleteFunc(d.Select(split), func(i int) bool { return d.Samples[i].Label == Unlabelled })
}

// numberRowClasses numbers the classes of the rows consecutively, in the order of their ids.
func numberRowClasses(d *Dataset, rows []int) (labels, classes []int) {
	at := make([]int, len(d.Classes))
	for _, i := range rows {
		at[d.Samples[i].Label] = 1
	}
	for id, seen := range at {
		if seen == 1 {
			at[id] = len(classes)
			classes = append(classes, id)
		}
	}
	labels = make([]int, len(rows))
	for k, i := range rows {
		labels[k] = at[d.Samples[i].Label]
	}
	return labels, classes
}

// NoiseReport measures the label noise of a split.
type NoiseReport struct {
	Samples   int     `json:"samples"`   // samples with both labels known
	Corrupted int     `json:"corrupted"` // samples whose given label differs from the true label
	Rate      float64 `json:"rate"`
	Classes   int     `json:"classes"`   // number of true classes
	Labels    int     `json:"labels"`    // number of given classes; smaller if whole classes were dissolved
	ClassMin  float64 `json:"class_min"` // smallest and largest rate of a true class
	ClassMax  float64 `json:"class_max"`
	// Standard deviation of the true classes' rates, and the value expected for independent flips.
	ClassDeviation    float64 `json:"class_deviation"`
	BinomialDeviation float64 `json:"binomial_deviation"`
	// Shares of wrong pairs: q₊ among pairs with the same given label, q₋ among pairs with different given labels, and
	// the values expected for symmetric noise of this rate (Le & Odobez eq. 7–8, corrected).
	WrongPositive         float64 `json:"wrong_positive_pairs"`
	WrongNegative         float64 `json:"wrong_negative_pairs"`
	ExpectedWrongPositive float64 `json:"expected_wrong_positive_pairs"`
	ExpectedWrongNegative float64 `json:"expected_wrong_negative_pairs"`
}

// Noise measures the label noise of a split.
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

// perClass sets the smallest, the largest and the standard deviation of the true classes' noise rates.
func (r *NoiseReport) perClass(size, bad map[int]int) {
	var rates []float64
	for class, n := range size {
		rates = append(rates, float64(bad[class])/float64(n))
	}
	slices.Sort(rates) // so that the sum has a fixed order
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

// binomialDeviation returns the standard deviation √(p(1-p)·classes/samples) of the noise rate in a class of mean size,
// for independent flips.
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
