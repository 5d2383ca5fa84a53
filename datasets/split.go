package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Share is the part of a dataset that a split gets.
type Share struct {
	Split string
	Share float64 // of the classes, or of the images of each class
}

// splitByClass distributes whole classes over the splits in the given shares, after a shuffle by rng. This is the
// papers' task: test classes are never seen in training. Unlabelled samples go to train.
func (d *Dataset) splitByClass(shares []Share, rng *rand.Rand) error {
	shares, err := checkShares(shares)
	if err != nil {
		return err
	}
	of := make([]string, len(d.Classes))
	assignItems(rng.Perm(len(d.Classes)), shares, func(class int, split string) { of[class] = split })
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Label == Unlabelled {
			s.Split = Train
		} else {
			s.Split = of[s.Label]
		}
	}
	return nil
}

// splitByImage distributes the images of every class over the splits.
func (d *Dataset) splitByImage(shares []Share, rng *rand.Rand) error {
	shares, err := checkShares(shares)
	if err != nil {
		return err
	}
	members := make([][]int, len(d.Classes))
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Label == Unlabelled {
			s.Split = Train
		} else {
			members[s.Label] = append(members[s.Label], i)
		}
	}
	for _, rows := range members {
		rng.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
		assignItems(rows, shares, func(i int, split string) { d.Samples[i].Split = split })
	}
	return nil
}

// assignItems distributes items by cumulative shares, so that rounding never loses one.
func assignItems(items []int, shares []Share, give func(item int, split string)) {
	from, sum := 0, 0.0
	for k, share := range shares {
		sum += share.Share
		to := int(math.Round(sum * float64(len(items))))
		if k == len(shares)-1 {
			to = len(items)
		}
		for _, item := range items[from:to] {
			give(item, share.Split)
		}
		from = to
	}
}

// checkShares returns the shares with canonical split names.
func checkShares(shares []Share) ([]Share, error) {
	sum := 0.0
	shares = slices.Clone(shares)
	for i, s := range shares {
		split, err := ParseSplit(s.Split)
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		if !(s.Share > 0) {
			return nil, fmt.Errorf("datasets: share of %s is %v, expected a number above 0", split, s.Share)
		}
		shares[i].Split = split
		sum += s.Share
	}
	if math.Abs(sum-1) > 1e-6 {
		return nil, fmt.Errorf("datasets: shares sum to %v, expected 1", sum)
	}
	return shares, nil
}
