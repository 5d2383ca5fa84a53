package learn

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Rule says when a review may end. The zero value never does.
type Rule struct {
	// Share ends it when at most this share of the images has a wrong label that is not found; 0: not asked for.
	Share float64
	// PerHour ends it when fewer wrong labels than this are expected to be found in the next hour; 0: not asked for.
	PerHour float64
}

// ParseRule reads a rule: "1%", or "50 per hour".
func ParseRule(text string) (Rule, error) {
	words := strings.ToLower(strings.TrimSpace(text))
	number := func(s string) (float64, bool) {
		v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		return v, err == nil && v > 0 && !math.IsInf(v, 0)
	}
	if s, ok := strings.CutSuffix(words, "%"); ok {
		if v, ok := number(s); ok && v < 100 {
			return Rule{Share: v / 100}, nil
		}
	}
	for _, unit := range []string{"per hour", "/hour", "/h"} {
		if s, ok := strings.CutSuffix(words, unit); ok {
			if v, ok := number(s); ok {
				return Rule{PerHour: v}, nil
			}
		}
	}
	return Rule{}, fmt.Errorf("found %q, expected a share of the images that may be left wrong, such as 1%%, or a "+
		"number of wrong labels found, such as 50 per hour", text)
}

// Met reports whether the review may end. pace is the number of decisions an hour; 0: unknown, so that a rule of hours
// is not met.
//
// A rule of a share promises: of many reviews that end when it is met, 95 % leave at most that share. It goes by the
// interval that holds at all times, so that asking after every decision costs nothing.
func (s *State) Met(r Rule, pace float64) bool {
	if r.Share > 0 && s.Count().Always.High <= r.Share*float64(len(s.Wrong)) {
		return true
	}
	if undecided := len(s.Wrong) - s.found - s.right; undecided == 0 {
		return true
	}
	return r.PerHour > 0 && pace > 0 && s.Outlook(int(math.Ceil(pace))).Estimate < r.PerHour
}

// Text says in a sentence what the next n images and all others are expected to hold.
func (s *State) Text(n int) string {
	c := s.Count()
	undecided := c.Images - c.Settled
	if undecided == 0 {
		return fmt.Sprintf("all %d images are decided: %d labels are wrong", c.Images, c.Found)
	}
	next := s.Outlook(n)
	text := fmt.Sprintf("of the next %d about %.0f (%.0f to %.0f) are wrong", min(n, undecided), next.Estimate,
		next.Low, next.High)
	if !c.Known {
		return text + "; how many are left is not known before images are drawn at random"
	}
	return text + fmt.Sprintf("; about %.0f (%.0f to %.0f) are left in all: %.1f %% of the images", c.Left.Estimate,
		c.Left.Low, c.Left.High, 100*c.Left.Estimate/float64(c.Images))
}
