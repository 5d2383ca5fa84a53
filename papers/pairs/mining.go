package pairs

import (
	"fmt"
	"math/rand/v2"

	"winnow/features"
	"winnow/losses"
)

// SkewBins is the number of bins. Equal distances share a bin, so there may be fewer.
const SkewBins = 20

// MiningSettings are the settings of the losses.
type MiningSettings struct {
	Margin  float64 // α of triplet and marginal loss, 0 ≤ α ≤ 2
	Beta    float64 // β of the marginal loss, 0 ≤ β ≤ 4
	Classes int     // K of the whole training set, for the bounds at K classes; ≥ 2
}

// DefaultMining returns the paper's α and β (section 6.1).
func DefaultMining(classes int) MiningSettings {
	return MiningSettings{Margin: 0.2, Beta: 1.4, Classes: classes}
}

// MiningMeter counts the pairs of batches by their distance, in constant memory, for the skew that the bounds of
// package theory need: how unevenly mining selects the pairs of a batch. The code of losses selects the pairs.
//
// Symbols: d = ‖z_i - z_j‖ of unit rows, pairs are ordered. Negative pairs (a, n), of anchors that have a
// positive, are divided by their distance into [SkewBins] bins with equal counts, and so are positive pairs (a, p). r_b
// is the share of the selected pairs in bin b, divided by the share of all pairs in it: 1 everywhere if mining
// ignores distances.
//
//	η  = max(max_b r_b, 1/min_{r_b>0} r_b)   of the negatives that random or fixed semi-hard mining selects
//	η₊ = max_b r⁺_b, η₋ = min_{r⁻_b>0} r⁻_b, γ = η₋/η₊   of the pairs with a marginal loss above 0
//
// If mining hardly ever selects from a bin, its r_b is small and uncertain, and gets smaller with more batches. So
// [Taken] tells the number of pairs of the smallest r_b.
//
// Source: 000 = Le & Odobez, "Theoretical guarantees of deep embedding losses under label noise", sections 4.2 and
// 5.3, which state that η cannot be computed; the estimate is METHODS 11.4, the marginal loss's pairs are 000-12.
type MiningMeter struct {
	settings             MiningSettings
	batches, rows        int
	positives, negatives histogram // all
	random, fixed        histogram // selected negatives
	pulled, pushed       histogram // positives and negatives with a marginal loss above 0
	unpaired             [2]int    // positive pairs for which random, fixed found no negative
}

// NewMiningMeter returns a meter, or an error if the settings are invalid.
func NewMiningMeter(s MiningSettings) (*MiningMeter, error) {
	switch {
	case !(s.Margin >= 0 && s.Margin <= 2):
		return nil, fmt.Errorf("skew: margin α is %v, expected 0 to 2", s.Margin)
	case !(s.Beta >= 0 && s.Beta <= 4):
		return nil, fmt.Errorf("skew: threshold β is %v, expected 0 to 4", s.Beta)
	case s.Classes < 2:
		return nil, fmt.Errorf("skew: %d classes, expected 2 or more", s.Classes)
	}
	return &MiningMeter{settings: s}, nil
}

// Add counts a batch of labelled unit rows; draw is the source of its random choices.
//
// Triplet loss: with every positive pair (a, p), one negative of a, drawn from d_an < d_ap + α (random semi-hard) or
// the nearest with d_an > d_ap (fixed). Marginal loss: every positive pair and the negative drawn with it; the loss
// is above 0 for a positive with d_ap > β - α, and for a negative with d_an < β + α.
func (m *MiningMeter) Add(z features.Set, draw *rand.Rand) {
	m.batches++
	m.rows += z.Len()
	pairs := losses.NewMining(z)
	m.addAll(pairs)
	near, far := m.settings.Beta-m.settings.Margin, m.settings.Beta+m.settings.Margin
	for t := range pairs.Triplets("random_semihard", m.settings.Margin, draw) {
		if ap := pairs.Distance(t[0], t[1]); ap > near {
			m.pulled.addDistance(ap)
		}
		if t[2] < 0 {
			m.unpaired[0]++
			continue
		}
		an := pairs.Distance(t[0], t[2])
		m.random.addDistance(an)
		if an < far {
			m.pushed.addDistance(an)
		}
	}
	for t := range pairs.Triplets("fixed_semihard", 0, nil) {
		if t[2] < 0 {
			m.unpaired[1]++
			continue
		}
		m.fixed.addDistance(pairs.Distance(t[0], t[2]))
	}
}

// addAll counts all pairs of a batch.
func (m *MiningMeter) addAll(pairs *losses.Mining) {
	n := pairs.Len()
	for a := range n {
		before := m.positives.total
		for p := range n {
			if pairs.Positive(a, p) {
				m.positives.addDistance(pairs.Distance(a, p))
			}
		}
		if m.positives.total == before {
			continue
		}
		for k := range n {
			if pairs.Negative(a, k) {
				m.negatives.addDistance(pairs.Distance(a, k))
			}
		}
	}
}
