package pairs

import "winnow/papers/theory"

// Report is the result of a meter.
type Report struct {
	Batches   int     `json:"batches"`
	Rows      int     `json:"rows"` // of all batches together
	Classes   int     `json:"classes"`
	Margin    float64 `json:"margin"`
	Beta      float64 `json:"beta"`
	Positives int     `json:"positive_pairs"`
	Negatives int     `json:"negative_pairs"`

	Random   Mined    `json:"random_semihard"`
	Fixed    Mined    `json:"fixed_semihard"`
	Marginal Marginal `json:"marginal"`

	NegativeBins []Bin         `json:"negative_bins"`
	PositiveBins []PositiveBin `json:"positive_bins"`
}

// Taken measures how unevenly pairs of one kind are selected. All fields are 0 if none is.
type Taken struct {
	Pairs int     `json:"pairs"` // selected
	Most  float64 `json:"most"`  // max_b r_b
	Least float64 `json:"least"` // min_b r_b above 0
	Rests int     `json:"rests"` // selected pairs in the bin of Least; Least is uncertain if they are few
}

// Mined is the skew of a mining; Eta and Limit are nil if it selected no pair.
type Mined struct {
	Taken
	Unpaired int                  `json:"unpaired"` // positive pairs that found no negative
	Eta      *float64             `json:"eta"`
	Limit    *theory.TripletLimit `json:"limit,omitempty"`
}

// Marginal is the skew of the marginal loss; Gamma and Limit are nil if the loss is 0 for either kind of pair. The
// paper assumes γ ≤ 1; above 1, the limit is that of γ = 1.
type Marginal struct {
	Positive Taken               `json:"positive"` // Most is η₊
	Negative Taken               `json:"negative"` // Least is η₋
	Gamma    *float64            `json:"gamma"`
	Limit    *theory.MarginLimit `json:"limit,omitempty"`
}

// Bin holds the negative pairs with From ≤ d < To, and r_b of the selected ones.
type Bin struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Pairs    int     `json:"pairs"`
	Random   float64 `json:"random_semihard"`
	Fixed    float64 `json:"fixed_semihard"`
	Marginal float64 `json:"marginal"`
}

// PositiveBin holds the positive pairs with From ≤ d < To, and r_b of those with a marginal loss above 0.
type PositiveBin struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Pairs    int     `json:"pairs"`
	Marginal float64 `json:"marginal"`
}

// Report sums up the batches so far.
func (m *MiningMeter) Report() Report {
	r := Report{
		Batches: m.batches, Rows: m.rows, Classes: m.settings.Classes, Margin: m.settings.Margin, Beta: m.settings.Beta,
		Positives: m.positives.total, Negatives: m.negatives.total, NegativeBins: []Bin{},
		PositiveBins: []PositiveBin{},
	}
	edges := m.negatives.findQuantileEdges(SkewBins)
	r.Random, r.Fixed = Mined{Unpaired: m.unpaired[0]}, Mined{Unpaired: m.unpaired[1]}
	var random, fixed, pushed []float64
	r.Random.Taken, random = computeTakenRates(&m.random, &m.negatives, edges)
	r.Fixed.Taken, fixed = computeTakenRates(&m.fixed, &m.negatives, edges)
	r.Marginal.Negative, pushed = computeTakenRates(&m.pushed, &m.negatives, edges)
	for b := range pushed {
		r.NegativeBins = append(r.NegativeBins, Bin{
			From: distanceAt(
				edges[b],
			), To: distanceAt(edges[b+1]), Pairs: m.negatives.countBetween(edges[b], edges[b+1]),
			Random: random[b], Fixed: fixed[b], Marginal: pushed[b],
		})
	}
	edges = m.positives.findQuantileEdges(SkewBins)
	var pulled []float64
	r.Marginal.Positive, pulled = computeTakenRates(&m.pulled, &m.positives, edges)
	for b := range pulled {
		r.PositiveBins = append(r.PositiveBins, PositiveBin{
			From: distanceAt(
				edges[b],
			), To: distanceAt(edges[b+1]), Pairs: m.positives.countBetween(edges[b], edges[b+1]),
			Marginal: pulled[b],
		})
	}
	r.Random.limitMined(r.Classes)
	r.Fixed.limitMined(r.Classes)
	r.Marginal.limitMarginal(r.Classes)
	return r
}

// computeTakenRates returns r_b of every bin, and its extremes.
func computeTakenRates(some, all *histogram, edges []int) (Taken, []float64) {
	t, rates := Taken{Pairs: some.total}, make([]float64, len(edges)-1)
	if some.total == 0 {
		return t, rates
	}
	for b := range rates {
		n := some.countBetween(edges[b], edges[b+1])
		if n == 0 {
			continue
		}
		rates[b] = float64(
			n,
		) / float64(
			some.total,
		) / (float64(all.countBetween(edges[b], edges[b+1])) / float64(all.total))
		t.Most = max(t.Most, rates[b])
		if t.Least == 0 || rates[b] < t.Least {
			t.Least, t.Rests = rates[b], n
		}
	}
	return t, rates
}

// limitMined sets η and the bounds that follow from it.
func (m *Mined) limitMined(classes int) {
	if m.Pairs == 0 {
		return
	}
	m.Eta = new(max(1, m.Most, 1/m.Least))
	m.Limit = new(theory.TripletLimitOf(classes, *m.Eta))
}

// limitMarginal sets γ and the bounds that follow from it.
func (m *Marginal) limitMarginal(classes int) {
	if m.Positive.Pairs == 0 || m.Negative.Pairs == 0 {
		return
	}
	m.Gamma = new(m.Negative.Least / m.Positive.Most)
	m.Limit = new(theory.MarginLimitOf(classes, min(*m.Gamma, 1)))
}
