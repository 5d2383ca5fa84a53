package studies

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"winnow/internal/spread"
	"winnow/internal/text"
)

// Verdict is the result of a claim in words.
type Verdict struct {
	Claim       string       `json:"claim"`
	Says        string       `json:"state"`   // holds, does not hold, cannot say, or not run
	Numbers     string       `json:"numbers"` // "+0.0253, 3 seeds, p 0.02, corrected 0.1; about 5 seeds would tell"
	Run         int          `json:"run"`     // comparisons that were run
	Of          int          `json:"of"`      // comparisons that the claim makes
	Comparisons []Comparison `json:"comparisons"`
}

// Verdicts returns the study's verdicts.
func (r *Results) Verdicts() (list []Verdict) {
	for _, v := range r.testClaims() {
		one := Verdict{Claim: v.Claim.Say, Says: v.describeState(), Numbers: v.countStates(),
			Run: len(v.Comparisons), Of: v.Of, Comparisons: v.Comparisons}
		switch higher, needs := v.countHigher(); {
		case len(v.Comparisons) == 0:
			one.Numbers = text.Plural(v.Of, "comparison")
		case v.Of == 1:
			one.Numbers = v.Comparisons[0].formatComparison()
		default:
			one.Numbers += fmt.Sprintf(", higher in %d", higher)
			if needs > 0 {
				one.Numbers += fmt.Sprintf("; half of the undecided need about %d seeds or fewer", needs)
			}
		}
		list = append(list, one)
	}
	return list
}

// countHigher returns how many comparisons have the claim's sign, and the number of seeds that would settle half of the
// undecided ones; 0: more than half need too many.
func (v verdict) countHigher() (n, needs int) {
	var undecided []int
	for _, c := range v.Comparisons {
		if c.Mean > spread.Rounding {
			n++
		}
		if c.State == CannotSay {
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
