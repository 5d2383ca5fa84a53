package review

import (
	"cmp"
	"slices"
	"time"

	"winnow/audit/learn"
)

// Numbers of a pace.
const (
	pause    = 2 * time.Minute  // who needs longer for an image did something else
	away     = 15 * time.Minute // who has not decided for so long has left
	paceLast = 60               // decisions of each reviewer that tell it
)

// measurePace returns the decisions an hour of all reviewers who are here.
func measurePace(log []learn.Decision, times []int64) float64 {
	type run struct {
		last, from int64
		n          int
		spent      int64
	}
	if len(times) == 0 {
		return 0
	}
	newest := slices.Max(times)
	by := map[string]*run{}
	for i := len(log) - 1; i >= 0; i-- {
		at := by[log[i].Reviewer]
		if at == nil {
			at = &run{last: times[i], from: times[i]}
			by[log[i].Reviewer] = at
		}
		if at.n >= paceLast {
			continue
		}
		if gap := at.from - times[i]; gap >= 0 && gap <= pause.Milliseconds() {
			at.spent += gap
			at.n++
		}
		at.from = times[i]
	}
	sum := 0.0
	for _, at := range by {
		if at.n > 5 && at.spent > 0 && newest-at.last <= away.Milliseconds() {
			sum += float64(at.n-1) / (float64(at.spent) / float64(time.Hour.Milliseconds()))
		}
	}
	return sum
}

// estimateHours returns how long it takes until a rule of a share is met, if images turn out as expected: until so many
// wrong labels are found that the estimate of those left is at most the share. nil: unknown.
func estimateHours(s *learn.State, rule learn.Rule, pace float64) *float64 {
	c := s.Count()
	if rule.Share == 0 || pace == 0 || !c.Known {
		return nil
	}
	find := c.Always.High - rule.Share*float64(c.Images)
	var rows []float64
	for i, v := range s.Settled {
		if v == learn.Unsure {
			rows = append(rows, s.Wrong[i])
		}
	}
	slices.SortFunc(rows, func(a, b float64) int { return cmp.Compare(b, a) })
	n := 0
	for ; n < len(rows) && find > 0; n++ {
		find -= rows[n]
	}
	h := float64(n) / pace
	return &h
}
