package theory

import (
	"fmt"
	"math"

	"winnow/features"
	"winnow/losses"
)

// Judge is a named loss whose slopes |∂L/∂s| a [Meter] sums.
type Judge struct {
	Name string
	Loss losses.Loss
}

// Meter sums the numbers and slopes of right and wrong pairs over batches, in constant memory.
type Meter struct {
	judges        []Judge
	batches, rows int
	count         [kinds]int
	slopes        [][kinds]float64 // Σ |∂L/∂s| for each judge
}

// newMeter returns a meter. Every loss must be a function of the pairs of a batch.
func newMeter(judges []Judge) (*Meter, error) {
	for _, j := range judges {
		if _, ok := losses.Slopes(j.Loss, features.Set{}); !ok {
			return nil, fmt.Errorf("theory: loss %s is not a function of the pairs of a batch", j.Name)
		}
	}
	return &Meter{judges: judges, slopes: make([][kinds]float64, len(judges))}, nil
}

// Add adds a batch of unit rows with its labels. Pairs are ordered, because every row is an anchor. Two rows of one
// image form no pair.
func (m *Meter) Add(z features.Set, l Labels) {
	m.batches++
	m.rows += z.Len()
	for i := range z.Len() {
		for j := range z.Len() {
			if i != j && (z.IDs == nil || z.IDs[i] != z.IDs[j]) {
				m.count[l.Kind(i, j)]++
			}
		}
	}
	for k, judge := range m.judges {
		slopes, _ := losses.Slopes(judge.Loss, z)
		for i := range z.Len() {
			for j, d := range features.Row(slopes, i) {
				if d != 0 {
					m.slopes[k][l.Kind(i, j)] += math.Abs(float64(d))
				}
			}
		}
	}
}

// Signals is the result of a meter. Shares are 0 if there are no pairs.
type Signals struct {
	Batches int
	Rows    int // number of rows in all batches
	Pairs   map[Kind]int

	PFP float64 // share of false pairs among the positives
	PFN float64 // share of false pairs among the negatives

	OfRates float64 // P_FP/(P_FP + P_FN)
	OfPairs float64 // FP/(FP + FN)
	Losses  []lossSignal
}

// lossSignal holds the weights that a loss gives to each kind of pairs. The weight of a pair is |∂L/∂s|.
type lossSignal struct {
	Name    string
	Shares  map[Kind]float64 // shares of Σ |∂L/∂s|
	OfWrong float64          // FP/(FP + FN) of these shares
	// Weight is the mean weight of a false positive divided by the mean weight of a true positive.
	Weight float64
}

// sumSignals returns the signals of all batches added so far.
func (m *Meter) sumSignals() Signals {
	s := Signals{Batches: m.batches, Rows: m.rows, Pairs: map[Kind]int{}, Losses: []lossSignal{}}
	n := [kinds]float64{}
	for _, kind := range Kinds() {
		s.Pairs[kind], n[kind] = m.count[kind], float64(m.count[kind])
	}
	s.PFP = computeShare(n[FalsePositive], n[TruePositive])
	s.PFN = computeShare(n[FalseNegative], n[TrueNegative])
	s.OfRates, s.OfPairs = computeShare(s.PFP, s.PFN), computeShare(n[FalsePositive], n[FalseNegative])
	for k, judge := range m.judges {
		l, w, total := lossSignal{Name: judge.Name, Shares: map[Kind]float64{}}, m.slopes[k], 0.0
		for _, v := range w {
			total += v
		}
		for _, kind := range Kinds() {
			l.Shares[kind] = computeShare(w[kind], total-w[kind])
		}
		l.OfWrong = computeShare(w[FalsePositive], w[FalseNegative])
		if w[TruePositive] > 0 && n[FalsePositive] > 0 {
			l.Weight = w[FalsePositive] / n[FalsePositive] / (w[TruePositive] / n[TruePositive])
		}
		s.Losses = append(s.Losses, l)
	}
	return s
}

// computeShare returns a/(a + b), or 0 if both are 0.
func computeShare(a, b float64) float64 {
	if a+b == 0 {
		return 0
	}
	return a / (a + b)
}
