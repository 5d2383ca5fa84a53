package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"winnow/internal/spread"
	"winnow/internal/text"
	"winnow/papers/studies"
)

// describeNumbers returns the numbers of a verdict: "2 of 2 comparisons run, holds in 1, higher in 2".
func describeNumbers(v studies.Verdict) string {
	numbers := v.CountStates()
	switch higher, needs := countHigher(v.Comparisons); {
	case len(v.Comparisons) == 0:
		return text.Plural(v.Of, "comparison")
	case v.Of == 1:
		return v.Comparisons[0].Format()
	default:
		numbers += fmt.Sprintf(", higher in %d", higher)
		if needs > 0 {
			numbers += fmt.Sprintf("; half of the undecided comparisons need about %d seeds or fewer", needs)
		}
	}
	return numbers
}

// countHigher returns the number of comparisons with the claim's sign, and the number of seeds that would decide half
// of the undecided comparisons. needs is 0 if more than half of them need too many seeds.
func countHigher(list []studies.Comparison) (n, needs int) {
	var undecided []int
	for _, c := range list {
		if c.Mean > spread.Rounding {
			n++
		}
		if c.State == studies.CannotSay {
			undecided = append(undecided, cmp.Or(c.Seeds, math.MaxInt))
		}
	}
	if len(undecided) == 0 {
		return n, 0
	}
	slices.Sort(undecided)
	if needs = undecided[(len(undecided)-1)/2]; needs == math.MaxInt {
		needs = 0
	}
	return n, needs
}
