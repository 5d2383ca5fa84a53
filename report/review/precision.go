package review

import (
	"fmt"
	"math"

	"winnow/audit/learn"
	"winnow/report/review/decisions"
)

// share is the share of wrong labels among the decided labels, with Wilson's 95 % interval.
type share struct {
	Wrong    int     `json:"wrong"`
	Judged   int     `json:"judged"`
	Estimate float64 `json:"estimate"` // 0 without decisions
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// precision is the share of wrong labels among all decided suspects, and among the decided images of the lowest ranks.
type precision struct {
	share
	Recent   share   `json:"recent"`
	Expected float64 `json:"expected"` // number of wrong labels among the flagged ones by the audit's probabilities
}

// addDecision counts a decision that settles whether the label is right.
func (s *share) addDecision(a decisions.Action) {
	if settlesLabel(a) {
		s.Judged++
	}
	if isWrong(a) {
		s.Wrong++
	}
}

// estimateShare computes the estimate and the interval from the counts.
func (s *share) estimateShare() {
	i := learn.Share(s.Wrong, s.Judged)
	s.Estimate, s.Low, s.High = i.Estimate, i.Low, i.High
}

// recentMost is the number of decided images, furthest down the list, that determine whether to continue. Reviewing is
// not worthwhile below a share of wrong labels of worthwhile.
const (
	recentMost = 50
	worthwhile = 0.2
)

// measurePrecision returns the precision of the suspects decided so far. Recent covers the 50 decided images furthest
// down the list, flagged or not. It leaves out unflagged outliers, duplicates and problems, because they were decided
// for other reasons than their rank.
func (d *decided) measurePrecision() (p precision) {
	t := d.table
	for id := t.audited - 1; id >= 0; id-- {
		e, action := &t.images[id], d.outcome[id].Action
		if e.Flagged {
			p.addDecision(action)
			if e.GivenProbability != nil {
				p.Expected += 1 - *e.GivenProbability
			}
		}
		other := e.Outlier || len(e.Copies) > 0 || e.CopyGroup > 0 || len(e.Problems) > 0
		if p.Recent.Judged < recentMost && (e.Flagged || !other) {
			p.Recent.addDecision(action)
		}
	}
	p.estimateShare()
	p.Recent.estimateShare()
	return p
}

// hintWhenToStop returns a reason to stop reviewing, or "". The reason is that all suspects are decided, or that of the
// 50 decided images furthest down the list at most 4 had wrong labels: the share of wrong labels there is then below
// 20 % with 95 % confidence. For images drawn at random, it returns an estimate of the share of wrong labels.
func (d *decided) hintWhenToStop(p precision, classes []classProgress) string {
	done := 0
	for _, c := range classes {
		done += c.Decided
	}
	switch n := d.table.kinds[suspect]; {
	case d.table.drawn:
		return p.describeShare()
	case n > 0 && done == n:
		return fmt.Sprintf("All %d suspects are decided.", done)
	case p.Recent.Judged == recentMost && p.Recent.High < worthwhile:
		return fmt.Sprintf("Of the %d decided labels furthest down the list, only %d were wrong "+
			"(with 95 %% confidence fewer than %.0f %%). "+
			"Most labels further down are right: this is a good place to stop.",
			p.Recent.Judged, p.Recent.Wrong, math.Ceil(100*p.Recent.High))
	}
	return ""
}
