// Package skew measures on batches of embeddings what the bounds of package theory ask for: how unevenly mining takes
// the pairs of a batch. It imports features, losses (whose own code chooses the pairs) and theory.
//
// Symbols: d = ‖z_i - z_j‖ of unit rows, pairs are ordered. Negative pairs (a, n), of anchors that have a
// positive, are parted into [Bins] bins of equally many by their distance, positive pairs (a, p) likewise. For the
// pairs that mining takes, r_b is the share of them in bin b over the share of all pairs there: 1 throughout where
// mining does not look at distances.
//
//	η  = max(max_b r_b, 1/min_{r_b>0} r_b)   of the negatives that random or fixed semi-hard mining takes
//	η₊ = max_b r⁺_b, η₋ = min_{r⁻_b>0} r⁻_b, γ = η₋/η₊   of the pairs that cost the marginal loss something
//
// Of a bin that mining nearly never looks into r_b is small and uncertain, and the more batches there are the smaller
// one it finds: [Taken] says on how many pairs the smallest rests, and the largest by itself.
//
// Source: 000 = Le & Odobez, "Theoretical guarantees of deep embedding losses under label noise", sections 4.2 and
// 5.3, which say that η cannot be computed; the estimate is METHODS 11.4, the marginal loss's pairs are 000-12.
package skew

import (
	"fmt"
	"math/rand/v2"

	"winnow/features"
	"winnow/losses"
)

// Bins is how many bins pairs are parted into; equal distances are not parted, so that there may be fewer.
const Bins = 20

// Settings of the losses that are looked at.
type Settings struct {
	Margin  float64 // α of triplet and marginal loss, 0 ≤ α ≤ 2
	Beta    float64 // β of the marginal loss, 0 ≤ β ≤ 4
	Classes int     // K of the whole training set, for the bounds at K classes; ≥ 2
}

// Default has the paper's α and β (section 6.1).
func Default(classes int) Settings { return Settings{Margin: 0.2, Beta: 1.4, Classes: classes} }

// Meter counts the pairs of batches by their distance: memory does not grow with them.
type Meter struct {
	settings             Settings
	batches, rows        int
	positives, negatives histogram // all
	random, fixed        histogram // negatives taken
	pulled, pushed       histogram // positives and negatives that cost the marginal loss something
	unpaired             [2]int    // positive pairs for which random, fixed found no negative
}

// NewMeter checks the settings.
func NewMeter(s Settings) (*Meter, error) {
	switch {
	case !(s.Margin >= 0 && s.Margin <= 2):
		return nil, fmt.Errorf("skew: margin α is %v, expected 0 to 2", s.Margin)
	case !(s.Beta >= 0 && s.Beta <= 4):
		return nil, fmt.Errorf("skew: threshold β is %v, expected 0 to 4", s.Beta)
	case s.Classes < 2:
		return nil, fmt.Errorf("skew: %d classes, expected 2 or more", s.Classes)
	}
	return &Meter{settings: s}, nil
}

// Add takes in a batch of labelled unit rows; draw is the source of its random choices.
//
// Triplet loss: with every positive pair (a, p) one negative of a, drawn from d_an < d_ap + α (random semi-hard) or
// the nearest with d_an > d_ap (fixed). Marginal loss: every positive pair and the negative drawn with it; a positive
// costs something where d_ap > β - α, a negative where d_an < β + α.
func (m *Meter) Add(z features.Set, draw *rand.Rand) {
	m.batches++
	m.rows += z.Len()
	pairs := losses.NewMining(z)
	m.addAll(pairs)
	near, far := m.settings.Beta-m.settings.Margin, m.settings.Beta+m.settings.Margin
	for t := range pairs.Triplets("random_semihard", m.settings.Margin, draw) {
		if ap := pairs.Distance(t[0], t[1]); ap > near {
			m.pulled.add(ap)
		}
		if t[2] < 0 {
			m.unpaired[0]++
			continue
		}
		an := pairs.Distance(t[0], t[2])
		m.random.add(an)
		if an < far {
			m.pushed.add(an)
		}
	}
	for t := range pairs.Triplets("fixed_semihard", 0, nil) {
		if t[2] < 0 {
			m.unpaired[1]++
			continue
		}
		m.fixed.add(pairs.Distance(t[0], t[2]))
	}
}

// addAll counts all pairs of a batch.
func (m *Meter) addAll(pairs *losses.Mining) {
	n := pairs.Len()
	for a := range n {
		before := m.positives.total
		for p := range n {
			if pairs.Positive(a, p) {
				m.positives.add(pairs.Distance(a, p))
			}
		}
		if m.positives.total == before {
			continue
		}
		for k := range n {
			if pairs.Negative(a, k) {
				m.negatives.add(pairs.Distance(a, k))
			}
		}
	}
}
