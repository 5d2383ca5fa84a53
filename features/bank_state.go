package features

import (
	"fmt"
	"math"
	"slices"
)

// BankState is the complete state of a [Bank] as plain data for a checkpoint. A bank restored from it continues exactly
// like the original.
type BankState struct {
	Capacity, Dim, Classes int
	Next                   int       // ring position of the next vector
	Labels, IDs            []int     // labels and IDs of the members, in ring order
	X                      []float32 // members×Dim, in ring order
	Sums                   []float64 // Classes×Dim; stored because incremental sums have their own rounding errors
	Changes                []int     // Classes: changes since the last recomputation
}

// State returns a copy of the bank's state.
func (b *Bank) State() BankState {
	return BankState{
		Capacity: b.Cap(), Dim: b.Dim(), Classes: b.Classes(),
		Next:    b.next,
		Labels:  slices.Clone(b.set.Labels[:b.filled]),
		IDs:     slices.Clone(b.set.IDs[:b.filled]),
		X:       slices.Clone(b.set.X.Data[:b.filled*b.Dim()]),
		Sums:    slices.Clone(b.sums),
		Changes: slices.Clone(b.changes),
	}
}

// SetState replaces the content of the bank. If the state has another shape or is inconsistent, SetState returns an
// error and leaves the bank unchanged.
func (b *Bank) SetState(s BankState) error {
	counts, err := b.validateBank(s)
	if err != nil {
		return err
	}
	b.next, b.filled, b.counts = s.Next, len(s.Labels), counts
	b.images, b.copies = make([]int, len(counts)), map[shown]int{}
	for i, k := range s.Labels {
		b.images[k] += b.countMember(shown{k, s.IDs[i]}, 1)
	}
	copy(b.set.Labels, s.Labels)
	copy(b.set.IDs, s.IDs)
	copy(b.set.X.Data, s.X)
	copy(b.sums, s.Sums)
	copy(b.changes, s.Changes)
	for k := range b.counts {
		b.versions[k]++
		scaleInto(Row(b.centres, k), b.Sum(k), b.counts[k])
	}
	return nil
}

// validateBank checks a state against the bank and for consistency, and counts its members per class.
func (b *Bank) validateBank(s BankState) ([]int, error) {
	n, counts := len(s.Labels), make([]int, b.Classes())
	if s.Capacity != b.Cap() || s.Dim != b.Dim() || s.Classes != b.Classes() {
		return nil, fmt.Errorf("features: bank state of %d vectors of dimension %d in %d classes, expected %d, %d, %d",
			s.Capacity, s.Dim, s.Classes, b.Cap(), b.Dim(), b.Classes())
	}
	if n > s.Capacity || s.Next < 0 || s.Next >= s.Capacity || n < s.Capacity && s.Next != n || len(s.IDs) != n ||
		len(s.X) != n*s.Dim || len(s.Sums) != s.Classes*s.Dim || len(s.Changes) != s.Classes {
		return nil, fmt.Errorf("features: bank state of %d members, next at %d: the lists have inconsistent lengths", n,
			s.Next)
	}
	sums := make([]float64, len(s.Sums))
	for i, k := range s.Labels {
		if k < 0 || k >= s.Classes {
			return nil, fmt.Errorf("features: bank state: member %d: label is %d, expected 0 to %d", i, k, s.Classes-1)
		}
		counts[k]++
		addTo(sums[k*s.Dim:(k+1)*s.Dim], s.X[i*s.Dim:(i+1)*s.Dim], 1)
	}
	for j, want := range sums {
		if !(math.Abs(s.Sums[j]-want) <= 1e-6*(1+math.Abs(want))) {
			return nil, fmt.Errorf("features: bank state: the sum of class %d is not the sum of its members", j/s.Dim)
		}
	}
	return counts, nil
}
